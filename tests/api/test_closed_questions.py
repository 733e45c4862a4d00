"""Inverse dynamics, gravity, inverse mass matrix and derivatives of closed mechanisms, and of the trees they are cut from."""

from __future__ import annotations

import copy

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import articulus as art
from closed_zoo import closed, four_bar
from oracles.pinocchio_twin import Twin


def parallelogram() -> art.Mechanism:
    """Return the rhombus four-bar with a second, parallel coupler: redundant by its lengths, not by its axes."""
    m = four_bar(closed_by=art.Spherical())
    m.body("second", 0.5, (0.5, 0, 0), (0.1, 0.1, 0.1))
    m.joint("second_pin", art.Revolute((0, -1, 0)), "crank", "second", at=(0, 0, 0.5))
    return m.loop("second_loop", art.Spherical(), "second", "rocker", at=(1, 0, 0), child_at=(0, 0, 0.5))


def state_of(m: art.Mechanism, seed: int, near: np.ndarray | None = None) -> tuple:
    """Return a state on the constraints, off equilibrium, with joint forces."""
    rng = np.random.default_rng(seed)
    q = m.integrate_position(m.neutral if near is None else near, 0.3 * rng.normal(size=m.nv))
    if m.name == "four-bar":
        turn = rng.uniform(-0.8, 0.8)
        q = turn * np.array([1.0, -1.0, 1.0, -1.0])[: m.nv]
    found = art.assemble(m, q, rng.normal(size=m.nv))
    return found.q, found.v, rng.normal(size=m.nv)


def mechanisms() -> dict[str, tuple[art.Mechanism, np.ndarray | None]]:
    """Return the linkages by name: redundant by its axes, redundant by its lengths, spatial with three degrees of freedom."""
    c = closed(3, [art.Spherical], bodies=3, joints=[art.Revolute, art.Universal, art.Spherical])
    six = closed(7, [art.Universal], bodies=4)
    return {
        "four-bar": (four_bar(), None),
        "parallelogram": (parallelogram(), None),
        "spatial": (c.mechanism, c.q),
        "universal": (six.mechanism, six.q),
    }


LINKAGES = list(mechanisms())


def kkt(m: art.Mechanism, q, v, tau) -> np.ndarray:
    """Return vdot from the dense equations by least squares, the independent way."""
    M, G = m.mass_matrix(q), m.constraint_jacobian(q)
    gamma = m.constraint_acceleration(q, v, np.zeros(m.nv))
    K = np.block([[M, G.T], [G, np.zeros((len(G), len(G)))]])
    right = np.concatenate([tau - m.bias(q, v), -gamma])
    return np.linalg.lstsq(K, right, rcond=1e-9)[0][: m.nv]


@pytest.mark.parametrize("name", LINKAGES)
def test_forward_of_inverse(name):
    m, near = mechanisms()[name]
    q, v, tau = state_of(m, 1, near)
    vdot = m.forward_dynamics(q, v, tau)
    found = m.inverse_dynamics(q, v, vdot)
    assert_allclose(m.forward_dynamics(q, v, found), vdot, rtol=0, atol=1e-8 * np.abs(vdot).max())
    assert np.linalg.norm(found) < np.linalg.norm(tau)  # the smallest of all that do
    # constraint forces do no work on what the constraints allow: the smallest forces have no part along G'
    G = m.constraint_jacobian(q)
    assert_allclose(np.linalg.lstsq(G.T, found, rcond=1e-9)[0], 0, atol=1e-8)
    assert_allclose(found, tau - np.linalg.pinv(G, rcond=1e-9) @ (G @ tau), atol=1e-8 * np.abs(tau).max())
    assert np.abs(m.tree.inverse_dynamics(q, v, vdot) - found).max() > 1e-3


def test_one_motor_drives_a_four_bar():
    """Power of the crank's motor is that of all other forces: one degree of freedom, by virtual work."""
    m = four_bar()
    q, v, tau = state_of(m, 2)
    vdot = m.forward_dynamics(q, v, tau)
    one = m.inverse_dynamics(q, v, vdot, actuators=["crank_pin"])
    assert_allclose(one[0] * v[0], tau @ v, rtol=1e-8)
    assert_allclose(one[1:], 0, atol=0)
    assert_allclose(m.forward_dynamics(q, v, one), vdot, rtol=1e-8)
    two = m.inverse_dynamics(q, v, vdot, actuators=["crank_pin", "rocker_pin"])
    assert_allclose(two[0], two[2], rtol=1e-8)  # crank and rocker turn alike: the smallest pair shares evenly
    assert_allclose(two[0] + two[2], one[0], rtol=1e-8)


def test_what_cannot_be_produced_is_named():
    m, near = mechanisms()["spatial"]
    q, v, tau = state_of(m, 3, near)
    vdot = m.forward_dynamics(q, v, tau)
    with pytest.raises(art.InputError, match=r"\['j2'\] cannot produce .* along 'j\d.*expected actuators"):
        m.inverse_dynamics(q, v, vdot, actuators=["j2"])
    both = np.stack([m.forward_dynamics(q, v, np.zeros(m.nv)), vdot])
    with pytest.raises(art.InputError, match=r"row \(1,\) of the batch"):
        m.inverse_dynamics(q, v, both, actuators=[])
    with pytest.raises(art.InputError, match=r"gravity: actuators .* cannot produce"):
        m.gravity(q, actuators=["j2"])
    with pytest.raises(art.InputError, match="no joint 'crnk_pin' to drive; did you mean 'crank_pin'"):
        four_bar().gravity(np.zeros(3), actuators=["crnk_pin"])
    with pytest.raises(art.InputError, match=r"vdot violates constraint 'pin\.\w+' by"):
        four_bar().inverse_dynamics(np.zeros(3), np.zeros(3), [1.0, 0.0, 0.0])


def test_actuators_of_a_tree():
    m = art.load("two_link")
    q, v = np.array([0.3, 0.4]), np.array([0.5, -0.2])
    free = m.forward_dynamics(q, v, [1.5, 0.0])
    assert_allclose(m.inverse_dynamics(q, v, free, actuators=m.joint_names[:1]), [1.5, 0.0], atol=1e-12)
    with pytest.raises(art.InputError, match=f"along '{m.v_names[1]}'"):
        m.inverse_dynamics(q, v, [1.0, 1.0], actuators=m.joint_names[:1])


def test_gravity_holds_a_four_bar():
    """A rhombus with its coupler level: weight times lever by hand, and at rest nothing moves."""
    m, angle = four_bar(), 0.4
    q = angle * np.array([1.0, -1.0, 1.0])
    # crank 1 kg and rocker 1.5 kg at half their length, coupler 2 kg at the end; positive turns lower them
    moment = m.gravity_vector[2] * (0.5 * 1.0 + 0.5 * 1.5 + 2.0) * np.sin(angle)
    assert_allclose(m.gravity(q, actuators=["crank_pin"]), [moment, 0, 0], atol=1e-8)
    assert_allclose(m.gravity(q), moment * np.array([1.0, -1.0, 1.0]) / 3, atol=1e-8)
    assert_allclose(m.forward_dynamics(q, np.zeros(3), m.gravity(q)), 0, atol=1e-8)


@pytest.mark.parametrize("name", LINKAGES)
def test_inverse_mass_matrix(name):
    m, near = mechanisms()[name]
    q, v, tau = state_of(m, 4, near)
    W, G = m.mass_matrix_inverse(q), m.constraint_jacobian(q)
    M_inverse = np.linalg.inv(m.mass_matrix(q))
    S = G @ M_inverse @ G.T
    dense = M_inverse - M_inverse @ G.T @ np.linalg.pinv(S, rcond=1e-9) @ G @ M_inverse
    assert_allclose(W, dense, atol=1e-8 * np.abs(M_inverse).max())
    step = kkt(m, q, v, tau) - kkt(m, q, v, np.zeros(m.nv))
    assert_allclose(W @ tau, step, atol=1e-8 * np.abs(M_inverse).max())
    assert_allclose(m.solve_mass_matrix(q, tau), W @ tau, atol=1e-12 * np.abs(M_inverse).max())
    body = m.body_names[-1]
    push = np.random.default_rng(0).normal(size=6)
    moved = [m.forward_dynamics(q, v, tau, wrenches={body: w}) for w in (push, 0 * push)]
    A = [m.acceleration(body, q, v, x) for x in moved]
    assert_allclose(m.operational_inertia(body, q) @ push, A[0] - A[1], atol=1e-7 * np.abs(A[0]).max())
    assert_allclose(m.tree.mass_matrix_inverse(q), M_inverse, atol=1e-9 * np.abs(M_inverse).max())


@pytest.mark.parametrize("name", LINKAGES)
def test_derivatives_against_differences_on_the_constraints(name):
    m, near = mechanisms()[name]
    q, v, tau = state_of(m, 5, near)
    by_q, by_v, by_tau = m.derivatives(q, v, tau)
    rng, h = np.random.default_rng(6), 1e-4
    G = m.constraint_jacobian(q)
    allowed = np.eye(m.nv) - np.linalg.pinv(G, rcond=1e-9) @ G
    for _ in range(3):
        dq, dv, du = (allowed @ rng.normal(size=m.nv) for _ in range(3))
        # a curve on the constraints with this tangent; its velocity takes the change that keeps them
        ends = [art.assemble(m, m.integrate_position(q, s * h * dq), v + s * h * dv) for s in (1, -1)]
        moved = [m.forward_dynamics(e.q, e.v, tau + s * h * du) for e, s in zip(ends, (1, -1))]
        change = (ends[0].v - ends[1].v) / (2 * h)
        found = by_q @ dq + by_v @ change + by_tau @ du
        expected = (moved[0] - moved[1]) / (2 * h)
        # central differences: h^2 times third derivatives, which the speeds make some hundred times the first
        assert_allclose(found, expected, atol=3e-6 * max(1.0, np.abs(expected).max()))


def test_derivatives_against_pinocchio():
    """A spatial loop closed by a ball: partial derivatives, also off the tangent, and off equilibrium."""
    m, near = mechanisms()["spatial"]
    loop = m.description.constraints[0]
    plain = art.Mechanism.from_description(m.description)
    plain._constraints = ()
    plain.frame("end", loop.child, at=loop.child_at)
    twin = Twin(plain._forget_derived())
    frame = twin.model.frames[twin.frame("end")]
    contact = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_3D,
        twin.model,
        frame.parentJoint,
        frame.placement,
        0,
        pin.SE3(loop.at.matrix()),
        pin.ReferenceFrame.LOCAL,
    )
    q, v, tau = state_of(m, 8, near)
    contacts, data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    contacts.append(contact)
    data.append(contact.createData())
    settings = pin.ProximalSettings(1e-14, 1e-14, 30)
    pin.initConstraintDynamics(twin.model, twin.data, contacts, data)
    state = twin.q(q), twin.v(v), twin.v(tau)
    vdot = pin.constraintDynamics(twin.model, twin.data, *state, contacts, data, settings)
    assert_allclose(m.forward_dynamics(q, v, tau), twin.vector(vdot), rtol=0, atol=1e-8 * np.abs(vdot).max())
    theirs = pin.computeConstraintDynamicsDerivatives(twin.model, twin.data, contacts, data, settings)
    for ours, other in zip(m.derivatives(q, v, tau), theirs[:3]):
        assert_allclose(ours, twin.matrix(other), rtol=0, atol=1e-7 * np.abs(other).max())


def test_batches_and_parameters():
    m = art.Mechanism("slider-crank")
    m.body("crank", art.Parameter("mass", 1.0), (0.1, 0, 0), (0.01, 0.01, 0.01))
    m.body("rod", 0.8, (0.25, 0, 0), (0.02, 0.02, 0.02)).body("slider", 2.0, inertia=(0.1, 0.1, 0.1))
    m.joint("shaft", art.Revolute((0, -1, 0)), "ground", "crank")
    m.joint("pin", art.Revolute((0, -1, 0)), "crank", "rod", at=(0.2, 0, 0))
    m.joint("guide", art.Prismatic((1, 0, 0)), "ground", "slider")
    m.loop("wrist", art.Revolute((0, -1, 0)), "rod", "slider", at=(0.5, 0, 0))
    states = [art.assemble(m, [a, -0.5 * a, 0.6], [1.0, 0, 0], fixed=["shaft"]) for a in (0.3, 0.7, 1.1)]
    q, v = np.stack([s.q for s in states]), np.stack([s.v for s in states])
    masses = np.array([[1.0], [3.0]])
    params, tau = {"mass": masses}, np.array([2.0, 0.0, 0.0])
    vdot = m.forward_dynamics(q, v, tau, params=params)
    assert vdot.shape == (2, 3, 3)
    found = m.inverse_dynamics(q, v, vdot, actuators="shaft", params=params)
    assert_allclose(found, np.broadcast_to(tau, found.shape), atol=1e-8)
    whole = (
        m.gravity(q, actuators=["shaft"], params=params),
        m.mass_matrix_inverse(q, params=params),
        *m.derivatives(q, v, tau, params=params),
    )
    one = m.with_values({"mass": 3.0})
    alone = (
        one.gravity(q[2], actuators=["shaft"]),
        one.mass_matrix_inverse(q[2]),
        *one.derivatives(q[2], v[2], tau),
    )
    for many, single in zip(whole, alone):
        assert_allclose(many[1, 2], single, rtol=0, atol=1e-9 * np.abs(single).max())


def test_singular_position():
    """A flat rhombus four-bar: two motions are free to first order, and both count as free."""
    m, flat = four_bar(), np.array([np.pi / 2, -np.pi / 2, np.pi / 2])
    W = m.mass_matrix_inverse(flat)
    assert np.linalg.matrix_rank(W, tol=1e-6 * np.abs(W).max()) == 2
    assert_allclose(m.constraint_jacobian(flat) @ W, 0, atol=1e-8 * np.abs(W).max())
    tau = m.gravity(flat)
    assert_allclose(m.mass_matrix_inverse(flat) @ (tau - m.tree.gravity(flat)), 0, atol=1e-7)
    assert all(np.isfinite(x).all() for x in m.derivatives(flat, np.zeros(3), tau))


def test_names_of_the_tree():
    m, tree = four_bar(), four_bar()
    tree._constraints = ()
    tree._forget_derived()
    q, v, x = np.array([0.3, -0.1, 0.2]), np.array([1.0, 0.2, -0.4]), np.array([0.5, 1.0, -1.0])
    for name in ("inverse_dynamics", "derivatives", "inverse_dynamics_derivatives"):
        mine, other = getattr(m.tree, name)(q, v, x), getattr(tree, name)(q, v, x)
        assert_allclose(np.stack(mine), np.stack(other), rtol=1e-12, atol=1e-14)
    assert_allclose(m.tree.gravity(q), tree.gravity(q), rtol=1e-12)
    assert_allclose(m.tree.solve_mass_matrix(q, x), tree.solve_mass_matrix(q, x), rtol=1e-12)
    assert_allclose(
        m.tree.operational_inertia("rocker", q), tree.operational_inertia("rocker", q), rtol=1e-12, atol=1e-14
    )
    assert tree.tree is tree
    for name in ("inverse_dynamics", "gravity", "mass_matrix_inverse", "derivatives"):
        assert m.tree.function(name).name() == name
        assert m.tree.kernel(name) is m.tree.kernel(name)
        for ask in (m.function, m.kernel):
            with pytest.raises(
                art.InputError, match=f"'{name}' of `mechanism.tree`, the mechanism with every"
            ):
                ask(name)
    with pytest.raises(
        art.InputError,
        match=r"expected 'derivatives', or 'inverse_dynamics_derivatives' of `mechanism\.tree`",
    ):
        m.inverse_dynamics_derivatives(q, v, x)


def test_the_tree_follows_the_mechanism():
    """It is made once, anew after a change; a change of the tree leaves the mechanism and its next tree alone."""
    m = four_bar()
    first = m.tree
    assert m.tree is first
    assert first.tree is first
    assert (first.constraint_names, first.nq, first.body_names) == ((), m.nq, m.body_names)
    light = first.gravity(np.zeros(3))
    m.body("pan", 1.0, (0.5, 0, 0), (1, 1, 1)).joint("weld", art.Fixed(), "rocker", "pan")
    assert m.tree is not first
    assert np.abs(m.tree.gravity(np.zeros(3)) - light).max() == pytest.approx(0.5 * 9.81, rel=1e-12)
    cut = m.tree
    cut.frame("mark", "pan")
    assert "mark" in cut.frame_names
    assert "mark" not in m.frame_names
    assert m.tree is not cut
    assert "mark" not in m.tree.frame_names
    assert copy.deepcopy(m).tree.frame_names == m.frame_names


def test_the_tree_takes_the_parameters_of_the_constraints():
    """They are given with the others and change nothing; the order of all of them stays."""
    m = art.Mechanism("pendulum").body("rod", art.Parameter("mass", 2.0), (0, 0, -0.5), (0.1, 0.1, 0.1))
    m.joint("hinge", art.Revolute((0, 1, 0)), "ground", "rod")
    m.constrain(art.Prescribed("drive", "hinge", art.Polynomial((0.3, art.Parameter("rate", 1.0)))))
    assert m.tree.parameters == m.parameters
    assert set(m.parameters) == {"mass", "rate"}
    forces = [
        m.tree.inverse_dynamics([0.3], [0.0], [1.0], params={"mass": mass, "rate": rate})
        for mass, rate in ((2.0, 1.0), (2.0, 5.0), (4.0, 5.0))
    ]
    assert_allclose(forces[0], forces[1], rtol=0)
    assert forces[2][0] - forces[1][0] == pytest.approx(2 * 0.25 + 2 * 9.81 * 0.5 * np.sin(0.3), rel=1e-12)
    assert m.tree.parameter_derivatives([0.3], [0.0], [1.0]).shape == (1, 2)
