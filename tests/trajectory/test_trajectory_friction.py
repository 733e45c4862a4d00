"""Plans of joints with dry friction, as URDF files have it, and searches from other guesses."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.errors import DoubtfulResult, InputError
from articulus.motion.trajectory import Leg, Plan, mesh_search, ode, plan, plan_legs, refine, solve_problem
from articulus.motion.trajectory.saddle import descent


def light_wrist(coulomb: float) -> art.Mechanism:
    """Return an arm whose wrist is as light as that of a Talos: 1 N m of friction stop it within microseconds."""
    m = art.Mechanism("arm", gravity=(0, 0, 0))
    Z = art.Revolute((0, 0, 1))
    m.body("a", 2.0, (0.2, 0, 0), (0.03,) * 3).joint("ja", Z, "ground", "a", coulomb=coulomb)
    m.body("b", 0.3, (0.02, 0, 0), (1e-3,) * 3).joint("jb", Z, "a", "b", at=(0.4, 0, 0), coulomb=coulomb)
    return m.body("c", 0.1, (0.01, 0, 0), (2e-4,) * 3).joint(
        "jc", Z, "b", "c", at=(0.1, 0, 0), coulomb=coulomb
    )


GIVEN = {"torque_limit": {"ja": 30.0, "jb": 6.0, "jc": 4.0}, "intervals": 20}
MOVE = [-0.3, 0.4, 0.1], [0.5, -0.6, 0.6]


@pytest.mark.filterwarnings("ignore::articulus.errors.DoubtfulResult")  # 20 intervals do not resolve it
@pytest.mark.parametrize("cost", ["effort", "time"])
def test_dry_friction_is_smoothed_and_named(cost: str) -> None:
    """A search that took all its iterations ends; friction costs what it costs along the way at least."""
    T = 1.0 if cost == "effort" else (0.1, 5.0)
    rough = plan(light_wrist(1.0), *MOVE, duration=T, cost=cost, **GIVEN)
    assert rough.converged
    assert rough.scheme.name == "radau 3"  # which damps what is stiff
    assert "dry friction is smoothed below" in str(rough)
    smooth = plan(light_wrist(0.0), *MOVE, duration=T, cost=cost, scheme="radau 3", **GIVEN)
    assert "friction" not in str(smooth)
    assert rough.cost > smooth.cost
    if cost == "effort":
        work = np.trapezoid(np.einsum("ti,ti->t", rough.u, rough.v), rough.t)
        rubbed = np.abs(np.subtract(*MOVE)).sum()  # 1 N m times the angles
        # smoothed friction is lower where the motion is slow, quadrature has 3 points per interval
        assert 0.75 * rubbed < work < 1.3 * rubbed


@pytest.mark.filterwarnings("ignore::articulus.errors.DoubtfulResult")
def test_forces_make_up_for_what_was_smoothed() -> None:
    """Inverse dynamics with the joint's own friction along the planned motion, within the limits."""
    m = light_wrist(0.5)
    given = {"friction_speed": 0.3, "torque_limit": 100.0, "intervals": 20}
    made = plan(m, *MOVE, duration=1.0, scheme="hermite_simpson", **given)  # whose points have one force each
    z, c = made.courses[0].z, made.task.columns
    expected = m.inverse_dynamics(z[:, c.q], z[:, c.v], z[:, c.a])
    assert made.tau == pytest.approx(expected, abs=1e-4)  # what equations are solved to, over 100 N m
    with pytest.raises(InputError, match="friction_speed: found 0"):
        plan(m, *MOVE, duration=1.0, friction_speed=0)


@pytest.mark.filterwarnings("ignore::articulus.errors.DoubtfulResult")
def test_errors_that_the_equations_damp_are_not_those_of_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    """x' = (u - x) / 1 us, whose x is u to 1e-6 of what u changes by in a second; by rates alone the error would be that of u times 1e6 per second."""
    import casadi as ca

    x, u = ca.SX.sym("x"), ca.SX.sym("u")
    rate = 1e6 * (u - x)
    bounds = {"start": [0.0], "end": [1.0], "u_bounds": [(-2.0, 2.0)], "duration": 1.0}
    problem = ode(x, u, rate, running=(u - ca.sin(3 * x) - 1) ** 2 + u**2, **bounds)
    found = solve_problem(problem, scheme="radau 3", intervals=10)
    monkeypatch.setattr(refine, "STIFF", np.inf)
    by_rates = solve_problem(problem, scheme="radau 3", intervals=10)
    assert by_rates.error > 100.0
    assert found.error < 1e-2 * by_rates.error


def slew(**more) -> Plan:
    """Return half a turn of a body by three torques: about one axis it takes 2 sqrt(pi) s and is a saddle, the optimum 3.2431 s (Bilimoria & Wie 1993)."""
    craft = art.Mechanism("craft", gravity=(0, 0, 0)).body("craft", 1.0, (0, 0, 0), (1, 1, 1))
    craft.joint("turn", art.Spherical(), "ground", "craft")
    given = {
        "duration": (1.0, 6.0),
        "cost": "time",
        "actuators": ["turn"],
        "torque_limit": 1.0,
        "intervals": 40,
    }
    return plan(craft, [1, 0, 0, 0], [0, 0, 0, 1], **given | more)


BEST = 3.2431 * (1 + 1e-3)  # 40 intervals, jumps inside of them


@pytest.mark.filterwarnings("ignore:plan. between the points of the mesh limits")  # the mesh is the subject
@pytest.mark.parametrize("scheme", ["hermite_simpson", "radau 3", "shooting"])
def test_searches_leave_saddles_by_themselves(scheme: str) -> None:
    """The guess is symmetric; the cost of the saddle is the time of the turn about one axis, and 1e-4 of effort."""
    found = slew(scheme=scheme)
    assert found.duration < BEST
    assert found.solution.saddles == pytest.approx([2 * np.sqrt(np.pi)], rel=1e-3)
    assert "found beside 1 saddle" in str(found)


def test_minima_are_no_saddles() -> None:
    """Searches that end at one are not begun again: from the best motion none leads down."""
    found = slew(guess=[[0.6, 0.3, -0.3, 0.6]], overload=0.3)
    assert found.duration < BEST
    assert not found.solution.saddles
    assert descent(found.program, found.solution) is None


def test_a_saddle_that_is_not_left_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mesh_search, "ASIDE", 0.0)
    with pytest.warns(
        DoubtfulResult, match=r"ended at a saddle \(cost 3\.54.*; expected restarts=3, or guess="
    ):
        assert slew(overload=0.3).duration == pytest.approx(2 * np.sqrt(np.pi), rel=1e-3)


def test_restarts_and_positions_begin_elsewhere() -> None:
    assert slew(restarts=3, overload=0.3).duration < BEST
    with pytest.raises(InputError, match="guess: found 'left'"):
        slew(guess="left")
    with pytest.raises(InputError, match="restarts: found -1"):
        slew(restarts=-1)


def test_a_way_that_is_too_long_for_a_speed_limit_is_refused_at_once() -> None:
    with pytest.raises(
        InputError,
        match=r"velocity_limit: found the limit 0.5 .* of joint1, which has 1 .* expected at least 1",
    ):
        plan(art.load("two_link"), [0, 0], [1.0, 0.1], duration=1.0, velocity_limit=0.5)


def test_a_goal_that_a_motor_cannot_hold_is_told_before_the_search() -> None:
    """The weight of the outer link by hand; one iteration would tell nothing of it."""
    m = art.Mechanism("lift", gravity=(0, 0, -9.81))
    m.body("a", 2.0, (0.5, 0, 0), (0.1,) * 3).joint("ja", art.Revolute((0, 1, 0)), "ground", "a")
    asked = {"duration": 1.0, "torque_limit": 5.0, "iterations": 1}
    needed = "holding still at the goal takes 1.96 of the limit of 'ja'"  # 2 kg * 9.81 * 0.5 m / 5 N m
    with pytest.raises(InputError, match=f"{needed}.*hold=False searches"):
        plan(m, [np.pi / 2], [0.0], **asked)
    with pytest.raises(InputError, match=needed):
        plan_legs(m, [np.pi / 2], [Leg([0.0], 1.0)], torque_limit=5.0)
    with pytest.warns(DoubtfulResult, match=needed):
        plan(m, [np.pi / 2], [0.0], hold=False, **asked)


def test_a_goal_that_a_motor_cannot_hold_can_be_reached_from_below() -> None:
    """Gravity brakes on the way up: the arm swings up with what its motor has, and is at rest for a moment."""
    m = art.Mechanism("lift", gravity=(0, 0, -9.81))
    m.body("a", 2.0, (0.5, 0, 0), (0.1,) * 3).joint("ja", art.Revolute((0, 1, 0)), "ground", "a")
    with pytest.warns(DoubtfulResult, match="holding still at the goal takes 1.23"):
        found = plan(m, [np.pi / 2], [0.0], duration=(0.5, 5.0), torque_limit=8.0, hold=False)
    assert found.ok
    assert abs(found.v[-1, 0]) < 1e-6
