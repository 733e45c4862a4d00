"""Laws of constraint rows on random closed mechanisms, for every type of joint that can close a loop."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

import articulus as art
import zoo
from articulus.dynamics.constraints import View, constraints
from articulus.dynamics.tree import Tree
from closed_zoo import LOOP_JOINTS, admissible, closed, four_bar, values

KINDS = pytest.mark.parametrize("kind", LOOP_JOINTS, ids=lambda k: k.type_name)


def rows_of(mech):
    """Return g, G, rate, gamma as a function of q, v, t."""
    tree = Tree(mech.description)
    t = ca.SX.sym("t")
    c = constraints(tree, tree.v, t)
    return ca.Function("rows", [tree.q, tree.v, t], [c.g, ca.densify(c.G), c.rate, c.gamma])


def moved(mech, q, step):
    return values(mech, "integrate_position", q, step)[0]


def check_rows(mech, q, v, t=0.3, tolerance=1e-7):
    """G v + g_t is the rate of g, and G vdot + gamma that of the rate, along a motion with constant vdot."""
    f = rows_of(mech)
    vdot = np.random.default_rng(7).normal(size=mech.nv)
    h = 1e-4

    def at(s):
        """Return the state at time t + s, exact to third order for joints whose axes do not turn with v."""
        half = v + vdot * s / 2
        return moved(mech, q, half * s), v + vdot * s, t + s

    _, G, rate, gamma = (np.array(x) for x in f(q, v, t))
    after, before = ([np.array(x).ravel() for x in f(*at(s))] for s in (h, -h))
    holonomic = mech.description.holonomic_rows
    # central differences: h^2 = 1e-8 of third derivatives of order one to ten
    g_rate = (after[0] - before[0]) / (2 * h)
    assert_allclose(g_rate[holonomic], rate.ravel()[holonomic], atol=tolerance * 10)
    assert_allclose((after[2] - before[2]) / (2 * h), (G @ vdot + gamma.ravel()), atol=tolerance * 100)


@KINDS
@pytest.mark.parametrize("seed", [0, 1])
def test_closed_where_it_was_built(kind, seed):
    """Rows vanish at the constructed position, and 6 - nv of them are independent."""
    c = closed(seed, [kind])
    (g,) = values(c.mechanism, "constraint_residual", c.q, 0.0)
    (G,) = values(c.mechanism, "constraint_jacobian", c.q, 0.0)
    assert_allclose(g, 0, atol=1e-13)
    assert len(g) == len(c.mechanism.constraint_names) == 6 - kind.nv
    assert np.linalg.matrix_rank(np.atleast_2d(G), tol=1e-8) == 6 - kind.nv


@KINDS
def test_derivatives_of_the_rows(kind):
    """Also away from the closed position, where nothing vanishes."""
    c = closed(3, [kind])
    rng = np.random.default_rng(3)
    q = moved(c.mechanism, c.q, 0.1 * rng.normal(size=c.mechanism.nv))
    check_rows(c.mechanism, q, 0.5 * rng.normal(size=c.mechanism.nv))


@pytest.mark.parametrize("kind", [art.Revolute, art.Helical, art.Universal], ids=lambda k: k.type_name)
def test_derivatives_between_two_branches(kind):
    """Both sides move: no body of the loop is at rest in the other's frame."""
    m = art.Mechanism("branches")
    maker = zoo._Maker(6, ())
    for name, parent in (("a", "ground"), ("b", "a"), ("c", "a"), ("d", "c")):
        m.body(name, **maker.body(name)).joint(
            f"j{name}", art.Revolute(maker.unit()), parent, name, maker.pose(name)
        )
    m.loop("l", maker.joint(kind, ""), "b", "d", maker.pose("at"), maker.pose("child_at"))
    s = zoo.random_state(m, 2)
    check_rows(m, s.q, 0.5 * s.v)


@KINDS
def test_a_loop_joint_allows_what_the_tree_joint_does(kind):
    """Through any motion of a joint in the tree, a loop joint of the same type at the same place stays closed."""
    maker = zoo._Maker(4, ())
    joint = maker.joint(kind, "")
    at, child_at = maker.pose("a"), maker.pose("b")
    m = art.Mechanism("pair").body("b", 1.0, inertia=(1, 1, 1))
    m.joint("j", joint, "ground", "b", at=at, child_at=child_at).loop("l", joint, "ground", "b", at, child_at)
    for seed in range(5):
        s = zoo.random_state(m, seed)
        q = s.q * np.where(np.abs(s.q) > 0, 3.0, 1.0) if kind.nq == kind.nv else s.q  # several turns
        g, rate = values(m, "constraint_residual", q, 0.0)[0], values(m, "constraint_rate", q, s.v, 0.0)[0]
        assert_allclose(g, 0, atol=1e-13)
        assert_allclose(rate, 0, atol=1e-13)


@KINDS
def test_half_a_turn_is_not_closed(kind):
    """Rows grow with the error up to half a turn: an axis that points backwards does not pass."""
    if sum(kind.rotational) > 1:
        pytest.skip("any direction is allowed")
    joint = zoo._Maker(5, ()).joint(kind, "")
    across = np.linalg.svd(np.array([getattr(joint, "axis", (0.0, 0.0, 1.0))]))[2][1]
    sizes = []
    for angle in (0.5, 1.5, 2.5, 3.0):
        turn = art.Pose(quaternion=(np.cos(angle / 2), *(np.sin(angle / 2) * across)))
        m = art.Mechanism("m").body("b", 1.0, inertia=(1, 1, 1)).joint("j", art.Free(), "ground", "b")
        m.loop("l", joint, "ground", "b", child_at=turn)
        sizes.append(np.linalg.norm(values(m, "constraint_residual", m.neutral, 0.0)[0]))
    assert np.all(np.diff(sizes) > 0)
    assert sizes[0] > 0.4


def others():
    """Return constraints of the other types on a mechanism with every kind of joint."""
    m = zoo.random_mechanism(
        2, 6, [art.Revolute, art.Free, art.Cylindrical, art.Spherical, art.Universal, art.Planar]
    )
    q, v, t = ca.SX.sym("q", m.nq), ca.SX.sym("v", m.nv), ca.SX.sym("t")
    spherical, cylindrical = (
        next(c.name for c in m.description.connections if isinstance(c.joint, kind))
        for kind in (art.Spherical, art.Cylindrical)
    )
    return m, {
        "point": art.PointOnPoint("c", "tool", "camera"),
        "distance": art.Distance("c", "tool", "bench", art.Parameter("rod", 0.7)),
        "lock": art.Lock("c", spherical, (0.5, 0.5, -0.5, 0.5)),
        "harmonic": art.Prescribed("c", cylindrical, art.Harmonic(0.3, 2.0, 0.1, 0.2), "displacement"),
        "polynomial": art.PrescribedPoint("c", "tool", x=art.Polynomial((1, 2, 3)), z=0.4),
        "point_in_base": art.PrescribedPoint("c", "tool", x=art.Harmonic(0.3, 2.0), y=0.1, base="camera"),
        "time": art.Prescribed("c", cylindrical, ca.Function("f", [t], [ca.exp(-t)]), "angle"),
        "touching": art.Touching("c", "tool", 0.3),
        "no_slip": art.NoSlip("c", "tool", 0.3),
        "sliding": art.SlidingContact("c", "bench", "tool", 0.1, edge=(0.6, 0.0, 0.8)),
        "sliding_point": art.SlidingContact("c", "tool", "camera"),
        "rolling": art.RollingContact("c", "camera", "tool", 0.2),
        "soft_finger": art.RollingContact("c", "ground", "tool", 0.2, spin=True),
        "custom": art.CustomConstraint(
            "c", ca.Function("g", [q, t], [ca.vertcat(q[0] * q[8] - t, ca.sin(q[3]))])
        ),
        "velocity": art.CustomVelocityConstraint(
            "c", ca.Function("h", [q, v, t], [q[2] * v[1] + ca.cos(t) * v[4] - t])
        ),
    }


@pytest.mark.parametrize("name", others()[1])
def test_derivatives_of_other_constraints(name):
    mech, constraint = others()[0], others()[1][name]
    mech.constrain(constraint)
    description = zoo.with_numbers(mech.description)
    mech = art.Mechanism.from_description(description)
    s = zoo.random_state(mech, 5)
    assert len(mech.constraint_names) == values(mech, "constraint_residual", s.q, 0.3)[0].size
    check_rows(mech, s.q, 0.5 * s.v)


def test_rows_are_local():
    """Only joints between the two sides of a loop enter its rows."""
    m = zoo.random_mechanism(1, 12, [art.Revolute], branching=0.0)
    m.loop("near", art.Revolute((0, 0, 1)), "b4", "b7", at=(0.1, 0.2, 0.3))
    tree = Tree(m.description)
    c = constraints(tree, tree.v, ca.SX.sym("t"))
    columns = {k for _, k in zip(*c.G.sparsity().get_triplet())}
    assert columns == {5, 6, 7}
    assert not ca.depends_on(c.gamma, ca.vertcat(tree.q[:5], tree.q[8:], tree.v[:5], tree.v[8:]))


def test_relative_pose():
    """By the road between the two frames, and through the ground."""
    m = zoo.get("every_joint")
    q = zoo.random_state(m, 2).q
    tree = Tree(m.description)
    X = ca.Function("X", [tree.q], [View(tree, tree.v, ca.SX(0)).relative("tool", "camera").matrix()])
    tool, camera = (zoo.ask(m, "pose", q, frames=(f,)) for f in ("tool", "camera"))
    assert_allclose(np.array(X(q)), np.linalg.inv(tool) @ camera, atol=1e-13)


# accelerations


def kkt(M, G, f, gamma):
    """Return accelerations and multipliers by a dense solution of least squares."""
    m = len(G)
    x = np.linalg.lstsq(
        np.block([[M, G.T], [G, np.zeros((m, m))]]), np.concatenate([f, -gamma]), rcond=1e-12
    )[0]
    return x[: len(M)], x[len(M) :]


@KINDS
@pytest.mark.parametrize("seed", [10])
def test_closed_dynamics_solves_the_equations(kind, seed):
    c = closed(seed, [kind])
    m = c.mechanism
    v = admissible(m, c.q, np.random.default_rng(seed).normal(size=m.nv))
    vdot, multipliers = values(m, "closed_dynamics", c.q, v, c.tau, 0.0)
    _, G, _, gamma = (np.array(x) for x in rows_of(m)(c.q, v, 0.0))
    f = c.tau - zoo.ask(m, "bias", c.q, v)
    expected = kkt(zoo.ask(m, "mass_matrix", c.q), G, f, gamma.ravel())
    # condition of these loops up to 1e4 for lstsq, whose own error is that times rounding
    assert_allclose(vdot, expected[0], atol=1e-9 * np.abs(expected[0]).max())
    assert_allclose(multipliers, expected[1], atol=1e-9 * np.abs(expected[1]).max())


def across_ground_axes(mech, parent, child, q, v, kind, axis):
    """Return rows and drift of a closed joint from the frames' Jacobians: an independent road to the same motion."""
    J, Jdot = ({f: zoo.ask(mech, name, *given, frames=(f,)) for f in (parent, child)}
               for name, given in (("jacobian", (q,)), ("jacobian_rate", (q, v))))  # fmt: skip
    G, drift = J[child] - J[parent], (Jdot[child] - Jdot[parent]) @ v
    if kind is art.Fixed:
        return G, drift
    if kind is art.Spherical:
        return G[3:], drift[3:]
    R = zoo.ask(mech, "pose", q, frames=(parent,))[:3, :3]
    across = R @ np.linalg.svd(np.array([axis]))[2][1:].T
    w_parent, w = J[parent][:3] @ v, G[:3] @ v
    turning = np.cross(w_parent, across.T)
    return (
        np.vstack([G[3:], across.T @ G[:3]]),
        np.concatenate([drift[3:], across.T @ drift[:3] + turning @ w]),
    )


@pytest.mark.parametrize("kind", [art.Fixed, art.Spherical, art.Revolute])
@pytest.mark.parametrize("seed", [20])
def test_accelerations_by_the_jacobians_of_frames(kind, seed):
    c = closed(seed, [kind])
    (loop,) = c.mechanism.description.constraints
    m = art.Mechanism.from_description(c.mechanism.description)
    m.frame("side_a", loop.parent, loop.at).frame("side_b", loop.child, loop.child_at)
    v = admissible(m, c.q, np.random.default_rng(seed).normal(size=m.nv))
    rows = across_ground_axes(m, "side_a", "side_b", c.q, v, kind, getattr(loop.joint, "axis", None))
    expected, _ = kkt(zoo.ask(m, "mass_matrix", c.q), rows[0], c.tau - zoo.ask(m, "bias", c.q, v), rows[1])
    vdot, _ = values(m, "closed_dynamics", c.q, v, c.tau, 0.0)
    assert_allclose(vdot, expected, atol=1e-9 * np.abs(expected).max())


def test_redundant_rows_share_their_force():
    """A four-bar with a hinge for its last pin has five rows of rank two; the same accelerations as with a point."""
    hinge, point = four_bar(), four_bar(closed_by=art.Spherical())
    twice = four_bar()
    twice.loop("again", art.Revolute((0.0, -1.0, 0.0)), "rocker", "coupler", (0, 0, 1), (1, 0, 0))
    q, v, tau = np.array([0.4, -0.4, 0.4]), np.array([1.0, -1.0, 1.0]), np.array([1.0, 2.0, 3.0])
    G = values(twice, "constraint_jacobian", q, 0.0)[0]
    assert (G.shape, np.linalg.matrix_rank(G)) == ((10, 3), 2)
    accelerations = [values(m, "closed_dynamics", q, v, tau, 0.0) for m in (hinge, point, twice)]
    for vdot, _ in accelerations[1:]:
        assert_allclose(vdot, accelerations[0][0], rtol=1e-10)
    forces = [values(m, "constraint_forces", q, v, tau, 0.0)[0] for m in (hinge, twice)]
    # a redundant share of force is found to the compliance 1e-9 of the rows and rounding over it
    assert_allclose(forces[1], forces[0], rtol=1e-6)


def test_singular_position_is_passed():
    """The flat parallelogram: rows lose a rank, accelerations stay finite and obey the rows that can be obeyed."""
    m = four_bar()
    q, still = np.array([-np.pi / 2, np.pi / 2, -np.pi / 2]), np.zeros(3)
    (g,) = values(m, "constraint_residual", q, 0.0)
    assert_allclose(g, 0, atol=1e-12)
    (G,) = values(m, "constraint_jacobian", q, 0.0)
    assert np.linalg.matrix_rank(G, tol=1e-8) == 1
    vdot, _ = values(m, "closed_dynamics", q, still, np.array([1.0, 0.0, 0.0]), 0.0)
    assert np.isfinite(vdot).all()
    assert_allclose(G @ vdot, 0, atol=1e-8)


# forces in the joints


@pytest.mark.parametrize("kind", [art.Fixed, art.Revolute, art.Spherical, art.Helical, art.Planar])
def test_reactions_give_back_the_joint_forces(kind):
    """Along the free directions of a joint the reaction is tau less armature: constraint forces go through the bodies."""
    c = closed(30, [kind], bodies=4, joints=[art.Revolute, art.Spherical])
    check_reactions(c.mechanism, c.q, c.tau)


def test_reactions_with_a_wheel_and_a_rod():
    m = zoo.random_mechanism(31, 4, [art.Revolute, art.Spherical], armature=True)
    m.constrain(art.NoSlip("wheel", "tool", 0.3)).constrain(art.Distance("rod", "camera", "bench", 0.6))
    s = zoo.random_state(m, 1)
    check_reactions(m, s.q, s.tau)


def check_reactions(mech, q, tau):
    v = admissible(mech, q, np.random.default_rng(0).normal(size=mech.nv))
    vdot, multipliers = values(mech, "closed_dynamics", q, v, tau, 0.0)
    found = values(mech, "closed_reactions", q, v, vdot, multipliers, 0.0)[0].reshape(-1, 6)
    for c, wrench in zip(mech.description.connections, found):
        S = np.hstack([np.array(ca.DM(s.column())) for s in c.joint.motion_subspace()])
        at = mech.description.v_slices[c.name]
        expected = tau[at] - np.array(c.per_dof("armature")) * vdot[at]
        assert_allclose(S.T @ wrench, expected, atol=1e-8 * max(1, np.abs(found).max()))
