"""The registry of quantities and what stands behind it: working frames, nodes, passive forces."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

import articulus as art
import zoo
from articulus.dynamics.frames import common_normal
from articulus.dynamics.quantities import QUANTITIES, function
from articulus.dynamics.tree import Tree


@pytest.mark.parametrize("name", QUANTITIES)
@pytest.mark.parametrize("which", ["one_hinge", "free_body", "parameters_quaternion"])
def test_functions_carry_their_names_and_are_dense(which, name):
    mech = zoo.get(which)
    quantity = QUANTITIES[name]
    f = mech.function(name, ("tool", "camera")[: quantity.frames])
    inputs = quantity.inputs + (("p",) if mech.parameters else ())
    assert tuple(f.name_in()) == inputs
    assert f.name() == name
    sizes = {"q": mech.nq, "v": mech.nv, "vdot": mech.nv, "tau": mech.nv, "p": len(mech.parameters)}
    sizes |= {"q_end": mech.nq, "t": 1, "multipliers": 0}
    assert [f.size1_in(i) for i in range(f.n_in())] == [sizes[k] for k in inputs]
    assert all(f.sparsity_out(i).is_dense() for i in range(f.n_out()))


def test_wrenches_are_inputs():
    f = zoo.get("free_body").function("forward_dynamics", wrenches=["tool", "b0"])
    assert f.name_in()[-2:] == ["wrench_0", "wrench_1"]
    assert f.size1_in(4) == 6


def test_fixed_joints_merge_bodies():
    """Welded bodies cost nothing: the dynamics are those of one body, in as many operations."""
    one = (
        art.Mechanism("one")
        .body("a", 3.0, (0, 0, 0.1), (0.1, 0.2, 0.15))
        .joint("j", art.Revolute(), "ground", "a")
    )
    two = (
        art.Mechanism("two")
        .body("a", 1.0, (0, 0, 0.1), (0.05, 0.1, 0.1))
        .joint("j", art.Revolute(), "ground", "a")
    )
    two.body("b", 2.0, (0, 0, 0.1), (0.05, 0.1, 0.05)).joint("weld", art.Fixed(), "a", "b")
    assert len(Tree(two.description).nodes) == 1
    assert len(Tree(two.description, merge_fixed=False).nodes) == 2
    counts = [m.function("forward_dynamics").n_instructions() for m in (one, two)]
    assert counts[0] == counts[1]


def test_casadi_function_can_be_differentiated_and_mapped():
    mech = zoo.get("screws")
    f = mech.function("forward_dynamics")
    x = [ca.MX.sym(f.name_in(i), f.size1_in(i)) for i in range(f.n_in())]
    J = ca.Function("J", x, [ca.jacobian(f(*x), x[2])])
    s = zoo.random_state(mech, 1)
    p = list(mech.parameters.values())
    # a symmetric inverse by two roads; cond(M) is 200
    assert_allclose(
        np.array(J(s.q, s.v, s.tau, p)), zoo.ask(mech, "mass_matrix_inverse", s.q), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("seed", range(6))
def test_common_normal(seed):
    """The foot lies on the first axis, the step ends on the second, and the normal is normal to both."""
    rng = np.random.default_rng(seed)
    axis, direction = (x / np.linalg.norm(x) for x in rng.normal(size=(2, 3)))
    point = rng.normal(size=3)
    if seed == 5:
        direction = -axis
    normal = common_normal(axis, point, direction)
    foot, end = normal.foot, normal.foot @ normal.step
    assert_allclose(foot.R[:, 2], axis, atol=1e-14)
    assert_allclose(np.cross(foot.p, axis), 0, atol=1e-13)
    assert_allclose(end.R[:, 2], direction, atol=1e-13)
    assert_allclose(np.cross(end.p - point, direction), 0, atol=1e-12)
    x = foot.R[:, 0]
    assert_allclose([x @ axis, x @ direction], 0, atol=1e-13)
    for R in (foot.R, end.R):
        assert_allclose(R @ R.T, np.eye(3), atol=1e-13)


def test_dry_friction_is_smooth_and_bounded():
    m = art.Mechanism("m", gravity=(0, 0, 0)).body("b", 1.0, inertia=(0.1, 0.1, 0.1))
    m.joint("j", art.Prismatic(), "ground", "b", coulomb=2.0, coulomb_speed=0.1, damping=0.5)

    def force(v):
        return zoo.ask(m, "bias", [0.3], [v])[0]

    assert force(0.0) == 0.0
    assert force(0.1) == pytest.approx(2.0 / np.sqrt(2) + 0.05, rel=1e-14)
    assert force(-0.1) == -force(0.1)
    assert force(1e6) == pytest.approx(2.0 + 0.5e6, rel=1e-12)


def test_spring_pulls_to_its_rest():
    m = art.Mechanism("m", gravity=(0, 0, 0)).body("b", 2.0, inertia=(0.1, 0.1, 0.1))
    m.joint("j", art.Prismatic(), "ground", "b", stiffness=8.0, rest=0.25)
    assert zoo.ask(m, "forward_dynamics", [0.25], [0.0], [0.0])[0] == 0.0
    assert zoo.ask(m, "forward_dynamics", [0.5], [0.0], [0.0])[0] == pytest.approx(-1.0, rel=1e-14)
    assert zoo.ask(m, "energy", [0.5], [0.0])[1][0] == pytest.approx(0.25, rel=1e-14)


def test_rotor_of_a_fixed_motor_is_armature():
    """On the ground a rotor is nothing but its reflected inertia."""
    geared, plain = art.Mechanism("a"), art.Mechanism("b")
    for m, drive in ((geared, {"rotor": art.Rotor(1e-3, 20.0)}), (plain, {"armature": 0.4})):
        m.body("b", 2.0, (0.1, 0, 0), (0.1, 0.1, 0.1)).joint("j", art.Revolute(), "ground", "b", **drive)
    s = zoo.random_state(geared, 2)
    assert zoo.ask(geared, "forward_dynamics", s.q, s.v, s.tau) == pytest.approx(
        zoo.ask(plain, "forward_dynamics", s.q, s.v, s.tau), rel=1e-14
    )


def test_rotor_is_a_spinning_body():
    """A geared rotor equals a real axisymmetric wheel on the parent that is forced to turn `ratio` times as fast."""
    J, ratio, mass = 0.02, 7.0, 1.3
    geared, wheel = art.Mechanism("geared"), art.Mechanism("wheel")
    rod = (2.0, (0.1, 0.2, 0.3), (0.3, 0.4, 0.35, 0.01, 0.02, 0.03))
    for m in (geared, wheel):
        m.body("arm", *rod).joint("base", art.Spherical(), "ground", "arm")
        m.body("link", *rod)
    disc = (mass, (0, 0, 0), (J / 2 + 0.01, J / 2 + 0.01, J))
    axis = art.Pose((0.2, 0.1, 0.0), rpy=(0.5, -0.4, 0.0))
    e = axis.rotation()[:, 2]
    geared.body("stator", *disc).joint("weld", art.Fixed(), "arm", "stator", at=axis)
    geared.joint("drive", art.Revolute(), "arm", "link", at=(0.5, 0, 0), rotor=art.Rotor(J, ratio, tuple(e)))
    wheel.joint("drive", art.Revolute(), "arm", "link", at=(0.5, 0, 0))
    wheel.body("disc", *disc).joint("spin", art.Revolute(), "arm", "disc", at=axis)
    s = zoo.random_state(geared, 3)
    gear = np.vstack([np.eye(4), [0, 0, 0, ratio]])  # v of the wheel's mechanism from that of the geared one
    q = np.r_[s.q, 0.7]  # the angle of an axisymmetric wheel does not matter
    tau = zoo.ask(wheel, "inverse_dynamics", q, gear @ s.v, gear @ s.vdot)
    assert_allclose(
        zoo.ask(geared, "inverse_dynamics", s.q, s.v, s.vdot), gear.T @ tau, rtol=1e-11, atol=1e-11
    )
    assert_allclose(
        zoo.ask(geared, "momentum", s.q, s.v),
        zoo.ask(wheel, "momentum", q, gear @ s.v),
        rtol=1e-12,
        atol=1e-12,
    )
    assert_allclose(
        zoo.ask(geared, "energy", s.q, s.v)[0], zoo.ask(wheel, "energy", q, gear @ s.v)[0], rtol=1e-12
    )


def test_the_tree_of_a_mechanism_is_made_once(monkeypatch):
    """Whatever is asked of it; the one with inertia regrouped is made of the other."""
    made = []
    build = Tree.__init__
    monkeypatch.setattr(Tree, "__init__", lambda self, *given: (made.append(given), build(self, *given))[1])
    mech = art.Mechanism("made once")
    mech.body("link", 1.0, (0.1, 0.2, 0.3), (0.2, 0.3, 0.25))
    mech.joint("hinge", art.Revolute(), "ground", "link")
    for name in ("forward_dynamics", "energy", "mass_matrix", "momentum"):
        function(mech.description, name)
    assert len(made) == 1
