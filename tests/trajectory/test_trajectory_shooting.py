"""Multiple shooting: the motions of collocation, steps of scipy's integrator, refinement, loops, equations that are not linear in the rates."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import SX
from scipy.integrate import solve_ivp

import articulus as art
from articulus.motion.trajectory import Phase, plan, solve_problem

START, GOAL = np.array([-0.2, 0.3]), np.array([0.4, -0.1])


@pytest.fixture(scope="module")
def arm() -> art.Mechanism:
    return art.load("two_link")


@pytest.fixture(scope="module")
def shot(arm: art.Mechanism):
    return plan(
        arm, START, GOAL, duration=1.0, torque_limit=2e3, intervals=20, scheme="shooting", tolerance=1e-8
    )


def test_collocation_finds_the_same_motion(arm: art.Mechanism, shot) -> None:
    """Two meshes of order 4: costs agree to their errors; inputs of both are compared at the nodes, where linear ones are of order 2."""
    other = plan(arm, START, GOAL, duration=1.0, torque_limit=2e3, intervals=20, tolerance=1e-8)
    assert shot.cost == pytest.approx(other.cost, rel=2e-5)
    assert shot.q == pytest.approx(other.q[::2], abs=2e-4)
    assert shot.u[1:-1] == pytest.approx(other.u[2:-2:2], abs=2e-3 * np.abs(other.u).max())


def test_a_tight_integrator_arrives(arm: art.Mechanism, shot) -> None:
    """Forces that are linear between the nodes, from the planned start: only the steps' error of order 4 is left."""
    dynamics = arm.forward_dynamics

    def rates(t: float, x: np.ndarray) -> np.ndarray:
        u = np.array([np.interp(t, shot.t, each) for each in shot.u.T])
        return np.concatenate([x[2:], dynamics(x[:2], x[2:], u)])

    x = np.concatenate([shot.q[0], shot.v[0]])
    for a, b in zip(shot.t, shot.t[1:]):
        x = solve_ivp(rates, (a, b), x, method="DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
    assert x == pytest.approx(np.concatenate([shot.q[-1], shot.v[-1]]), abs=1e-4)
    assert shot.end_error == pytest.approx(np.abs(x[:2] - shot.q[-1]).max(), abs=1e-8)
    finer = plan(
        arm, START, GOAL, duration=1.0, torque_limit=2e3, intervals=40, scheme="shooting", tolerance=1e-8
    )
    assert np.log2(shot.end_error / finer.end_error) > 3.3


def test_refinement_reaches_the_error(arm: art.Mechanism) -> None:
    finer = plan(
        arm, START, GOAL, duration=1.0, torque_limit=2e3, intervals=10, scheme="shooting", error=1e-6
    )
    assert len(finer.t) > 11
    assert finer.error <= 1e-6
    assert finer.end_error < 1e-5


@pytest.mark.filterwarnings("ignore:plan. between the points of the mesh limits")  # the mesh is the subject
def test_least_time_and_speed_limits(arm: art.Mechanism) -> None:
    given = {
        "duration": (0.1, 9.0),
        "cost": "time",
        "torque_limit": 2e3,
        "velocity_limit": 1.2,
        "intervals": 40,
    }
    shot, other = (plan(arm, START, GOAL, scheme=s, **given) for s in ("shooting", "hermite_simpson"))
    assert "u.joint1 swings from point to point" in str(
        shot
    )  # the limit of the speed is kept at the nodes only
    assert not other.chatter
    assert np.abs(shot.v).max() <= 1.2 + 1e-6
    # inputs that cannot jump take longer, by about the square of an interval
    assert other.duration < shot.duration < 1.01 * other.duration


def test_closed_loops_stay_closed() -> None:
    row = art.load("n_four_bar", n=2)
    start = art.assemble(row).q
    goal = start.copy()
    goal[0] += 0.4
    goal = art.assemble(row, goal, fixed=["hinge0"]).q
    moved = plan(row, start, goal, duration=1.0, actuators=["hinge0"], intervals=16, scheme="shooting")
    assert np.abs(row.constraint_residual(moved.q, 0.0)).max() < 1e-4  # the integrator's own drift
    assert moved.end_error < 1e-3


def test_equations_that_are_not_linear_in_the_rates() -> None:
    """r + r^3 = u, least u^2 from 0 to 1 in unit time: x, u and costates are constant, u = 2 and the cost 4."""
    z, none = SX.sym("z", 3), np.full(3, np.inf)
    ends = [(np.array([x, -np.inf, -np.inf]), np.array([x, np.inf, np.inf])) for x in (0.0, 1.0)]
    phase = Phase(
        "cubic",
        ("x", "r", "u"),
        {0: 1},
        (2,),
        ca.Function("equations", [z], [z[1] + z[1] ** 3 - z[2]]),
        (1.0, 1.0),
        -none,
        none,
        np.ones(3),
        ends[0],
        ends[1],
        running=ca.Function("running", [z], [z[2] ** 2]),
        guess=lambda s, T: np.column_stack([s**2, 2 * s, 1 + s]),
    )
    found = solve_problem(phase, scheme="shooting", intervals=6)
    assert found.cost == pytest.approx(4, abs=1e-8)
    assert found["u"] == pytest.approx(np.full(7, 2.0), abs=1e-6)
