"""Absolute coordinates of mechanisms of ball joints: the same motion as the tree, exact derivatives, neighbors only."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.dynamics.ball_joints import BallJoints, refusal
from articulus.dynamics.tree import tree_of

PARENTS = (-1, 0, 1, 1, 3, -1)


def hanging(parents: tuple[int, ...] = PARENTS) -> art.Mechanism:
    """Return random bodies on ball joints, with turned joint frames on both sides and a body fixed to the second."""
    rng = np.random.default_rng(5)

    def pose() -> art.Pose:
        return art.Pose(tuple(rng.uniform(-0.5, 0.5, 3)), tuple(rng.uniform(-2, 2, 3)))

    m = art.Mechanism("hanging", gravity=(0.5, -1.0, -9.0))
    for i, parent in enumerate(parents):
        m.body(
            f"body{i}",
            rng.uniform(1, 3),
            tuple(rng.uniform(-0.3, 0.3, 3)),
            (0.05, 0.06, 0.08, 0.01, 0.0, -0.01),
        )
        below = f"body{parent}" if parent >= 0 else "ground"
        m.joint(f"ball{i}", art.Spherical(), below, f"body{i}", at=pose(), child_at=pose())
        m.frame(f"hook{i}", f"body{i}", at=pose())
    m.body("weight", 0.7, (0.1, 0.0, 0.1), (0.01, 0.01, 0.01))
    return m.joint("glue", art.Fixed(), "body1", "weight", at=pose())


@pytest.fixture(scope="module")
def tree() -> art.Mechanism:
    return hanging()


@pytest.fixture(scope="module")
def balls(tree) -> BallJoints:
    return BallJoints(tree_of(tree.description))


@pytest.fixture(scope="module")
def state(tree) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    q = rng.normal(size=(tree.nv // 3, 4))
    return (q / np.linalg.norm(q, axis=1)[:, None]).ravel(), rng.normal(size=tree.nv)


def absolute(balls: BallJoints, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    tree = balls.tree
    return np.array(ca.Function("x", [tree.q, tree.v], [balls.absolute(tree.q, tree.v)])(q, v)).ravel()


def test_there_and_back(balls, state):
    found = ca.Function("joints", [balls.x], list(balls.joints))(absolute(balls, *state))
    for back, given in zip(found, state):
        np.testing.assert_allclose(np.array(back).ravel(), given, atol=1e-14)


def test_accelerations_of_the_tree_fulfil_the_equations(tree, balls, state):
    """Under joint torques and wrenches; rounding of forces of some 100 N."""
    rng, (q, v) = np.random.default_rng(2), state
    tau, wrench = rng.normal(size=tree.nv), rng.normal(size=6)
    vdot = tree.forward_dynamics(q, v, tau, wrenches={"hook3": wrench, "weight": 2 * wrench})
    symbols = ca.vertcat(balls.tree.q, balls.tree.v)
    rate = np.concatenate([np.array(tree.function("position_rate")(q, v)).ravel(), vdot])
    by_state = ca.Function("J", [symbols], [ca.jacobian(balls.absolute(balls.tree.q, balls.tree.v), symbols)])
    xdot = np.array(by_state(np.concatenate(state))) @ rate
    newton = balls.newton(ca.SX(tau), {"hook3": ca.SX(wrench), "weight": ca.SX(2 * wrench)})
    E = ca.Function("E", [balls.x, balls.xdot], [newton.E])
    assert np.abs(np.array(E(absolute(balls, q, v), xdot))).max() < 1e-12


def test_the_correction_is_that_of_the_full_jacobian(balls, state):
    """With torques and wrenches that depend on the state. Terms that are left out are products with I1, I2, I3, zero here."""
    rng, sigma = np.random.default_rng(3), 300.0
    q, v = balls.joints
    tau = -3 * v - v**3 + q[: v.numel()] ** 2
    newton = balls.newton(tau, {"hook2": ca.vertcat(v[:3], q[4:7]), "hook4": ca.vertcat(q[:3], -v[6:9])})
    x, xdot = absolute(balls, *state).reshape(-1, 11), rng.normal(size=(balls.n, 11))
    xdot[:, 3:7] = x[:, 7:]
    x, xdot = x.ravel(), xdot.ravel()
    full = ca.jacobian(newton.E, balls.x) + sigma * ca.jacobian(newton.E, balls.xdot)
    J, E = (
        np.array(each)
        for each in ca.Function("f", [balls.x, balls.xdot], [ca.densify(full), newton.E])(x, xdot)
    )
    wanted = np.linalg.solve(J, E).ravel()
    at = [balls.x, balls.xdot, balls.sigma]
    matrix, right = ca.Function("f", at, [ca.densify(newton.matrix), newton.right])(x, xdot, sigma)
    unknown = np.linalg.solve(np.array(matrix), np.array(right))
    found = np.array(ca.Function("c", [*at, balls.unknown], [newton.change])(x, xdot, sigma, unknown)).ravel()
    np.testing.assert_allclose(found, wanted, atol=1e-9 * np.abs(wanted).max())


def test_the_matrix_has_blocks_for_neighbors_only():
    """A chain: three blocks of seven columns to a body at most, its own and those before and after."""
    chain = BallJoints(tree_of(hanging(tuple(range(-1, 7))).description))
    pattern = chain.newton(ca.SX.zeros(3 * chain.n), {}).matrix.sparsity()
    rows, columns = np.array(pattern.row()), np.repeat(np.arange(7 * chain.n), np.diff(pattern.colind()))
    assert np.abs(rows // 7 - columns // 7).max() == 1


def one_ball(**more) -> art.Mechanism:
    m = art.Mechanism("one")
    m.body("bob", 1.0, (0, 0, -0.5), (0.1, 0.1, 0.1))
    return m.joint("ball", art.Spherical(), "ground", "bob", **more)


def hinged() -> art.Mechanism:
    m = one_ball()
    m.body("door", 1.0, (0.1, 0, 0), (0.1, 0.1, 0.1))
    return m.joint("hinge", art.Revolute((0, 0, 1)), "bob", "door")


def held() -> art.Mechanism:
    m = one_ball().frame("tip", "bob", at=(0, 0, -1)).frame("wall", "ground", at=(0.5, 0, 0))
    return m.constrain(art.Distance("rope", "wall", "tip", length=1.5))


def light() -> art.Mechanism:
    m = one_ball()
    m.body("yoke", massless="carries two")
    m.joint("second", art.Spherical(), "bob", "yoke")
    for side, at in (("left", (0.3, 0, 0)), ("right", (0, 0.3, 0))):
        m.body(side, 1.0, (0.1, 0, 0), (0.1, 0.1, 0.1))
        m.joint(f"to the {side}", art.Spherical(), "yoke", side, at=at)
    return m


@pytest.mark.parametrize(
    ("mechanism", "why"),
    [
        (hinged, "joint 'hinge' is of type 'revolute'; expected ball joints"),
        (held, "constraint 'rope' closes a loop"),
        (light, "body 'yoke' has no mass"),
        (lambda: one_ball(armature=(0.1, 0.0, 0.0)), "joint 'ball' has an armature"),
        (
            lambda: one_ball(at=art.Pose(rpy=(art.Parameter("tilt", 0.1), 0.0, 0.0))),
            "the axes of joint 'ball' depend on a parameter",
        ),
    ],
    ids=["hinge", "loop", "massless", "armature", "axes"],
)
def test_what_is_not_covered_is_named(mechanism, why):
    assert why in refusal(mechanism().description)
    with pytest.raises(art.InputError, match=f"absolute coordinates of .*{why}"):
        BallJoints(tree_of(mechanism().description))


def test_flexible_bodies_are_named():
    m = art.load("bayo_link")
    assert "is flexible; expected rigid bodies" in refusal(m.description)


def test_everything_else_is_covered(tree):
    assert refusal(tree.description) == ""
    assert refusal(one_ball(damping=(0.1, 0.1, 0.1)).description) == ""
