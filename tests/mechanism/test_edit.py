"""Mechanisms made from others: held joints, branches off and on, other inertia, gravity and size."""

from __future__ import annotations

import dataclasses

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

import articulus as art
import closed_zoo
import coupled_zoo
import flexible_zoo
import zoo
from articulus.errors import Finding
from articulus.model.mechanism import Body, LoopJoint, visual
from articulus.model.mechanism.edit.scale import SimilarityFactors
from zoo import ask

CLOSE = {"rtol": 1e-11, "atol": 1e-11}
"""The same sums in another order; entries are of size 1 to 100."""

MIXED = (
    "every_joint",
    "geared_tree",
    "spacecraft",
    "several_roots",
    "parameters_rpy",
    "parameters_quaternion",
)


def soft() -> art.Mechanism:
    """Return a tree with flexible bodies, joints and frames on their stations."""
    return flexible_zoo.soften(
        zoo.random_mechanism(21, 5, [art.Revolute, art.Spherical, art.Prismatic], armature=True), 22
    )


def mechanism(name: str) -> art.Mechanism:
    return soft() if name == "flexible" else zoo.get(name)


def state(mech: art.Mechanism, seed: int) -> zoo.State:
    return flexible_zoo.state(mech, seed) if mech.description.flexible else zoo.random_state(mech, seed)


def other_values(mech: art.Mechanism) -> dict[str, float]:
    """Return values of the parameters other than their own: what is only right for those shows."""
    return {name: 1.1 * value for name, value in mech.parameters.items()}


def kept(mech: art.Mechanism, held: set[str], rates: bool) -> list[int]:
    """Return the entries of v (or q) that are not those of held joints."""
    d = mech.description
    slices = d.v_slices if rates else d.q_slices
    gone = {i for name in held for i in range(slices[name].start, slices[name].stop)}
    return [i for i in range(mech.nv if rates else mech.nq) if i not in gone]


@pytest.mark.parametrize("name", [*MIXED, "flexible"])
def test_a_held_joint_leaves_the_block_of_the_others(name: str) -> None:
    """M, bias, energy and poses of the reduced model are those of the whole with the held joints at rest."""
    mech = mechanism(name)
    s, params = state(mech, 5), other_values(mech)
    held = {c.name for c in mech.description.connections[::2] if not isinstance(c.joint, art.Helical)}
    small = mech.with_locked(sorted(held), s.q)
    q, v = kept(mech, held, rates=False), kept(mech, held, rates=True)
    moving = np.zeros(mech.nv)
    moving[v] = s.v[v]
    assert (small.nq, small.nv) == (len(q), len(v))
    M = ask(mech, "mass_matrix", s.q, params=params)
    assert_allclose(ask(small, "mass_matrix", s.q[q], params=params), M[np.ix_(v, v)], **CLOSE)
    bias = ask(mech, "bias", s.q, moving, params=params)
    assert_allclose(ask(small, "bias", s.q[q], s.v[v], params=params), bias[v], **CLOSE)
    momentum = ask(mech, "momentum", s.q, moving, params=params)
    assert_allclose(ask(small, "momentum", s.q[q], s.v[v], params=params), momentum, **CLOSE)
    kinetic = ask(mech, "energy", s.q, moving, params=params)[0]
    assert_allclose(ask(small, "energy", s.q[q], s.v[v], params=params)[0], kinetic, **CLOSE)
    for frame in ("tool", "camera", "b0"):
        pose = ask(mech, "pose", s.q, frames=(frame,), params=params)
        assert_allclose(ask(small, "pose", s.q[q], frames=(frame,), params=params), pose, **CLOSE)


def test_a_screw_with_a_parameter_is_held_at_zero_only() -> None:
    mech = zoo.get("screws")
    screw = next(c.name for c in mech.description.connections if isinstance(c.joint, art.Helical))
    assert mech.with_locked({screw: 0.0}).nv == mech.nv - 1
    with pytest.raises(art.InputError, match="has a parameter in its type"):
        mech.with_locked({screw: 0.5})


@pytest.mark.parametrize(
    ("joints", "message"),
    [
        (["crank"], "no joint 'crank'.*crank_pin"),
        ({"crank_pin": [0.0, 1.0]}, "expected 1 finite"),
        ({"crank_pin": np.nan}, "expected 1 finite"),
    ],
)
def test_wrong_positions_are_named(joints: object, message: str) -> None:
    with pytest.raises(art.InputError, match=message):
        closed_zoo.four_bar().with_locked(joints)


def test_loops_stay_when_a_joint_is_held_and_its_own_lock_goes() -> None:
    mech = closed_zoo.four_bar().constrain(art.Lock("brake", "crank_pin", (0.0,)))
    mech.constrain(art.Prescribed("drive", "coupler_pin", art.Harmonic(0.1, 1.0)))
    small = mech.with_locked("crank_pin")
    assert [c.name for c in small.description.constraints] == ["pin", "drive"]
    assert small.q_names == ("coupler_pin", "rocker_pin")
    residual = ask(mech, "constraint_residual", np.array([0.0, 0.2, 0.3]), 0.0)
    held = ask(small, "constraint_residual", np.array([0.2, 0.3]), 0.0)
    assert_allclose(held.ravel(), residual.ravel()[[0, 1, 2, 3, 4, 6]], atol=1e-14)


def with_formula() -> art.Mechanism:
    """Return a chain with constraints by functions of all q and v that use the last joint alone."""
    mech = zoo.random_mechanism(31, 3, [art.Revolute], branching=0.0)
    q, v, t = ca.SX.sym("q", 3), ca.SX.sym("v", 3), ca.SX.sym("t")
    mech.constrain(art.CustomConstraint("g", ca.Function("g", [q, t], [q[2] - 0.5 * q[0] - t])))
    return mech.constrain(
        art.CustomVelocityConstraint("h", ca.Function("h", [q, v, t], [v[2] - q[0] * v[0]]))
    )


def test_formulas_follow_their_coordinates() -> None:
    mech = with_formula()
    values = np.array([0.7, -0.2, 0.4])
    g = ask(mech, "constraint_residual", values, 0.3)
    rate = ask(mech, "constraint_rate", values, [0.2, 0.0, 0.6], 0.3)
    held = mech.with_locked("j1", values)
    assert_allclose(ask(held, "constraint_residual", values[[0, 2]], 0.3), g, atol=1e-15)
    assert_allclose(ask(held, "constraint_rate", values[[0, 2]], [0.2, 0.6], 0.3), rate, atol=1e-15)
    with pytest.raises(art.InputError, match="'g' is a function of coordinates that go"):
        mech.without("b2")
    base = zoo.random_mechanism(32, 2, [art.Prismatic])
    both = base.with_attached(mech, "tool", prefix="x_")
    found = ask(both, "constraint_rate", [0.1, 0.2, *values], [1.0, 2.0, 0.2, 0.0, 0.6], 0.3)
    assert_allclose(found, rate, atol=1e-15)


# branches


def same(a: art.Mechanism, b: art.Mechanism) -> bool:
    return a.description == b.description and a.description.visuals == b.description.visuals


@pytest.mark.parametrize("name", [*MIXED, "flexible"])
def test_attaching_and_removing_changes_nothing(name: str) -> None:
    mech = mechanism(name)
    other = zoo.random_mechanism(41, 3, [art.Revolute, art.Spherical])
    other.constrain(LoopJoint("loop", art.Spherical(), "ground", "b2"))
    for joint in (None, art.Universal()):
        both = mech.with_attached(other, "tool", joint, prefix="new_")
        assert both.nv == mech.nv + other.nv + (joint.nv if joint else 0)
        assert both.constraint_names == tuple(f"new_loop.{axis}" for axis in "xyz")
        assert same(both.without("new_base"), mech)


def test_removing_a_body_removes_its_branch_and_what_names_it() -> None:
    mech = closed_zoo.four_bar().frame("eye", "coupler")
    mech.constrain(art.Prescribed("drive", "coupler_pin", art.Harmonic(0.1, 1.0)))
    rest = mech.without("coupler")
    assert rest.body_names == ("crank", "rocker")
    assert (rest.frame_names, rest.description.constraints) == ((), ())
    with pytest.raises(art.InputError, match=r"no body 'couple'.*coupler"):
        mech.without("couple")
    with pytest.raises(art.ModelError, match="at least one body"):
        mech.without("crank", "rocker")


def test_two_machines_on_one_ground_do_not_know_of_each_other() -> None:
    first, second = zoo.get("several_roots"), zoo.random_mechanism(42, 3, floating=True)
    both = first.with_attached(second.with_gravity(first.gravity_vector), "ground", prefix="b_")
    a, b = zoo.random_state(first, 1), zoo.random_state(second, 2)
    vdot = ask(both, "forward_dynamics", np.r_[a.q, b.q], np.r_[a.v, b.v], np.r_[a.tau, b.tau])
    alone = ask(first, "forward_dynamics", a.q, a.v, a.tau)
    other = ask(second.with_gravity(first.gravity_vector), "forward_dynamics", b.q, b.v, b.tau)
    assert_allclose(vdot, np.r_[alone, other], rtol=1e-9, atol=1e-9)  # cond(M) is 1e3


def test_a_load_on_a_frame_is_a_body_there() -> None:
    """Kinetic energy grows by that of the load, whose velocity is the frame's; a floating root is welded."""
    mech = zoo.get("every_joint")
    load = art.Mechanism("load").body("box", 2.0, (0.1, 0.2, 0.3), (0.2, 0.3, 0.25))
    load.joint("float", art.Free(), "ground", "box")
    both = mech.with_attached(load, "tool", pose=(0.3, 0.0, 0.0))
    s = zoo.random_state(mech, 3)
    assert both.nv == mech.nv
    w, v = np.split(ask(both, "velocity", s.q, s.v, frames=("box",)), 2)
    R = ask(both, "pose", s.q, frames=("box",))[:3, :3]
    fast = v + np.cross(w, R @ [0.1, 0.2, 0.3])
    own = 0.5 * 2.0 * fast @ fast + 0.5 * (R.T @ w) @ np.diag([0.2, 0.3, 0.25]) @ (R.T @ w)
    total = ask(both, "energy", s.q, s.v)[0].item()
    assert total == pytest.approx(ask(mech, "energy", s.q, s.v)[0].item() + own, rel=1e-12)
    shift = ask(mech, "pose", s.q, frames=("tool",)) @ [0.3, 0.0, 0.0, 1.0]
    assert_allclose(ask(both, "pose", s.q, frames=("box",))[:, 3], shift, atol=1e-12)


def test_what_cannot_be_attached_is_refused() -> None:
    wheel = art.Mechanism("wheel").body("disc", 1.0, inertia=(0.1, 0.1, 0.1))
    wheel.joint("float", art.Free(), "ground", "disc").constrain(art.Touching("floor", "disc", 0.3))
    mech = zoo.get("one_hinge")
    with pytest.raises(art.InputError, match=r"'floor'.*is about the ground"):
        mech.with_attached(wheel, "tool")
    assert mech.with_attached(wheel, "ground").constraint_names == ("floor",)
    with pytest.raises(art.InputError, match=r"two of the name 'b0'.*prefix"):
        mech.with_attached(mech, "tool")
    with pytest.raises(art.InputError, match="no body or frame 'tol'"):
        mech.with_attached(wheel, "tol")
    with pytest.raises(art.InputError, match="expected a Mechanism"):
        mech.with_attached("wheel", "tool")


# inertia and gravity


def test_another_inertia_is_that_of_the_body() -> None:
    mech, s = zoo.get("balls"), zoo.random_state(zoo.get("balls"), 4)
    body = mech.description.bodies[1]
    heavy = mech.with_inertia("b1", mass=body.mass + 1.5)
    J = ask(mech, "jacobian", s.q, frames=("b1",))
    R = ask(mech, "pose", s.q, frames=("b1",))[:3, :3]
    x, y, z = R @ np.array(body.com)
    at_com = J[3:] - np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) @ J[:3]
    more = ask(heavy, "mass_matrix", s.q) - ask(mech, "mass_matrix", s.q)
    assert_allclose(more, 1.5 * at_com.T @ at_com, **CLOSE)
    assert same(heavy.with_inertia("b1", mass=body.mass, com=body.com, inertia=body.inertia), mech)
    with pytest.raises(art.ModelError, match="mass"):
        mech.with_inertia("b1", mass=-1.0)
    with pytest.raises(art.InputError, match="is flexible"):
        soft().with_inertia("b0", mass=1.0)


def test_a_doubtful_inertia_stays_until_another_is_given() -> None:
    """A file's inertia that no rigid body has is carried along by every edit; one that is given anew is checked."""
    m = art.Mechanism.from_description(zoo.random_mechanism(33, 3, [art.Revolute]).description)
    odd = dataclasses.replace(
        m.description.bodies[0], inertia=(1.0, 1.0, 3.0, 0, 0, 0), doubtful="from a file"
    )
    m = art.Mechanism.from_description(
        dataclasses.replace(m.description, bodies=(odd, *m.description.bodies[1:]))
    )
    assert m.with_locked("j2").without("b2").with_inertia("b0", mass=2.0).description.bodies[0].doubtful
    assert not m.with_inertia("b0", inertia=(1.0, 1.0, 1.5)).description.bodies[0].doubtful
    with pytest.raises(art.ModelError, match="triangle inequality"):
        m.with_inertia("b0", inertia=(1.0, 1.0, 3.5))


def test_gravity_is_a_field() -> None:
    mech, s = zoo.get("every_joint"), zoo.random_state(zoo.get("every_joint"), 6)
    parts = [ask(mech.with_gravity(g), "gravity", s.q) for g in ((1, 0, 0), (0, 2, 0), (0, 0, 3), (1, 2, 3))]
    assert_allclose(parts[0] + parts[1] + parts[2], parts[3], **CLOSE)
    assert not ask(mech.with_gravity((0, 0, 0)), "gravity", s.q).any()


# size

SIZE = SimilarityFactors(length=2.0, mass=3.0, time=0.7)


def factors(mech: art.Mechanism, turning: str, sliding: str, modal: str) -> np.ndarray:
    """Return the factor of each entry of v for the units of what turns, slides and bends."""
    return np.array([SIZE.of(unit) for unit in mech.description.velocity_units(turning, sliding, modal)])


def larger(mech: art.Mechanism, q: np.ndarray) -> np.ndarray:
    """Return the position of the scaled mechanism: lengths multiplied."""
    d, out = mech.description, q.copy()
    for c in d.connections:
        at = d.q_slices[c.name]
        turning = (True,) * 4 + (False,) * 3 if c.joint.nq != c.joint.nv else c.joint.rotational
        out[at] *= [1.0 if t else SIZE.length for t in turning[: c.joint.nq]]
    return out


@pytest.mark.parametrize("name", ["every_joint", "geared_tree", "spacecraft", "parameters_rpy", "flexible"])
def test_a_scaled_mechanism_moves_alike(name: str) -> None:
    """Dimensional analysis: all terms of the equations of motion have the factor of their unit."""
    mech = mechanism(name)
    smooth = [dataclasses.replace(c, coulomb=()) for c in mech.description.connections]
    mech = art.Mechanism.from_description(dataclasses.replace(mech.description, connections=tuple(smooth)))
    big = mech.with_scale(SIZE.length, mass=SIZE.mass, time=SIZE.time)
    s, params = state(mech, 7), other_values(mech)
    v = s.v * factors(mech, "rad/s", "m/s", "-/s")
    tau = s.tau * factors(mech, "N m", "N", "J")
    vdot = ask(mech, "forward_dynamics", s.q, s.v, s.tau, params=params)
    found = ask(big, "forward_dynamics", larger(mech, s.q), v, tau, params=params)
    assert_allclose(found, vdot * factors(mech, "rad/s^2", "m/s^2", "-/s^2"), rtol=1e-9, atol=1e-8)
    energies = np.ravel(ask(mech, "energy", s.q, s.v, params=params)) * SIZE.of("J")
    assert_allclose(np.ravel(ask(big, "energy", larger(mech, s.q), v, params=params)), energies, rtol=1e-11)


def test_dry_friction_limits_and_loops_scale_with_their_units() -> None:
    m = art.Mechanism("slide").body("b", 2.0, inertia=(0.1, 0.1, 0.1), visuals=[visual.Sphere(radius=0.2)])
    limits = art.Limits(lower=-1.0, upper=1.0, velocity=2.0, effort=50.0)
    m.joint("j", art.Prismatic(), "ground", "b", coulomb=3.0, coulomb_speed=0.1, rest=0.2, limits=limits)
    m.constrain(art.Distance("rod", "ground", "b", 0.5))
    m.constrain(art.Prescribed("drive", "j", art.Polynomial((0.1, 0.2, 0.3))))
    big = m.with_scale(SIZE.length, mass=SIZE.mass, time=SIZE.time)
    bias = ask(m, "bias", [0.3], [0.1]) * SIZE.of("N")
    assert_allclose(ask(big, "bias", [0.6], [0.1 * SIZE.of("m/s")]), bias, rtol=1e-13)
    for t in (0.0, 0.4):
        g = ask(m, "constraint_residual", [0.3], t).ravel() * SIZE.length
        assert_allclose(ask(big, "constraint_residual", [0.6], t * SIZE.time).ravel(), g, rtol=1e-12)
    assert_allclose(big.limits.upper, [2.0])
    assert_allclose(big.limits.effort, [50.0 * SIZE.of("N")])
    assert big.description.bodies[0].visuals == (visual.Sphere(radius=0.4),)


def test_by_default_density_and_gravity_stay() -> None:
    """A pendulum four times as long swings half as fast, and a payload eight times as heavy is twice as wide."""
    m = art.Mechanism("p").body("rod", 1.0, (0, 0, -0.5), (0.1, 0.1, 0.01))
    m.joint("hinge", art.Revolute((0, 1, 0)), "ground", "rod")
    rates = []
    for p in (m, m.with_scale(4.0)):
        stiffness = -ask(p, "derivatives", [0.0], [0.0], [0.0])[0]
        rates.append(np.sqrt(stiffness.item()))
    assert rates[1] == pytest.approx(rates[0] / 2, rel=1e-13)
    assert_allclose(m.with_scale(4.0).gravity_vector, m.gravity_vector, rtol=1e-15)
    assert m.with_scale(2.0).description.bodies[0].mass == 8.0


def test_a_factor_is_a_positive_number() -> None:
    with pytest.raises(art.InputError, match="length = -1"):
        zoo.get("one_hinge").with_scale(-1.0)
    with pytest.raises(art.InputError, match="'g' is a function of your own"):
        with_formula().with_scale(2.0)


def test_visuals_and_bodies_stay_with_a_held_joint() -> None:
    m = art.Mechanism("m").body("b", 1.0, inertia=(0.1, 0.1, 0.1), visuals=[visual.Sphere(radius=0.2)])
    m.joint("j", art.Revolute(), "ground", "b")
    m.body("c", 1.0, inertia=(0.1, 0.1, 0.1)).joint("k", art.Revolute(), "b", "c")
    assert m.with_locked("j").description.bodies == m.description.bodies
    assert isinstance(m.with_locked("j").description.bodies[0], Body)


# couplings


def test_held_leaders_hold_their_followers():
    """Locking the leader is the tree with leader and followers at the positions that the couplings give."""
    m = coupled_zoo.four_bar()
    held = m.with_locked({"coupler": 0.3})
    assert held.q_names == ("crank", "rocker")
    assert held.description.couplings == ()
    tree = coupled_zoo.four_bar(couple=False).with_locked(
        {"coupler": 0.3, "wheel": -0.7, "rack": 0.02 * -0.7 + 0.01 * 0.49}
    )
    q = [0.1, -0.2]
    assert_allclose(held.mass_matrix(q), tree.mass_matrix(q), rtol=1e-13)


def test_a_sum_keeps_the_leaders_that_move():
    m = coupled_zoo.get("linear").coupled.with_locked({"j2": 0.7})
    (left,) = [c for c in m.description.couplings if c.joint == "j4"]
    assert left.to == ("j5",)
    assert left.ratio == (-coupled_zoo.A,)
    assert left.offset == pytest.approx(-0.1 + coupled_zoo.C * 0.7)


def test_couplings_go_with_their_joints_and_take_prefixes():
    m = coupled_zoo.four_bar()
    assert m.without("wheel").description.couplings == ()
    assert [c.joint for c in m.without("rack").description.couplings] == ["wheel"]
    both = m.with_attached(m, "ground", prefix="b_").description.couplings
    assert {c.joint: c.to[0] for c in both} == {
        "wheel": "coupler", "rack": "wheel", "b_wheel": "b_coupler", "b_rack": "b_wheel",
    }  # fmt: skip


def test_scaled_couplings_keep_angles():
    """A rack of twice the size goes twice as far for the same turn of its wheel."""
    m, large = coupled_zoo.four_bar(), coupled_zoo.four_bar().with_scale(2.0)
    q = [0.1, 0.2, -0.3]
    for body in ("wheel", "rack"):
        assert_allclose(large.pose(body, q)[:3, 3], 2 * m.pose(body, q)[:3, 3], atol=1e-14)
        assert_allclose(large.pose(body, q)[:3, :3], m.pose(body, q)[:3, :3], atol=1e-14)


def test_findings_of_both_stay_with_an_attached_mechanism() -> None:
    first, second = (Finding(f"{name}.urdf:1", "this", "that") for name in ("arm", "hand"))
    arm, hand = (
        art.Mechanism.from_description(dataclasses.replace(art.load("two_link").description, findings=(f,)))
        for f in (first, second)
    )
    assert arm.with_attached(hand, "ground", prefix="h_").findings == (first, second)
