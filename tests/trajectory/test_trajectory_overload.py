"""Limits between the points of the mesh: looked at, told, and kept if asked for."""

from __future__ import annotations

import warnings

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.errors import DoubtfulResult, InputError
from articulus.motion.trajectory import Plan, ode, plan, solve_problem

GIVEN = {
    "duration": (0.1, 5.0),
    "cost": "time",
    "torque_limit": {"joint1": 3000.0, "joint2": 900.0},
    "velocity_limit": 2.5,
}
MOVE = [-0.2, 0.3], [0.8, -0.6]


def played(made: Plan) -> tuple[float, float]:
    """Return what a simulation with the planned forces takes of the limits of forces and speeds."""
    run = made.run(track=False)
    upper = made.problem.phases[0].upper
    c = made.task.columns
    return float((np.abs(run["tau"]) / upper[c.u]).max()), float((np.abs(run.v) / upper[c.v]).max())


@pytest.mark.parametrize("scheme", ["hermite_simpson", "radau 3"])
def test_limits_are_kept_between_points_if_asked_for(scheme: str) -> None:
    """By default it is told, with what an adaptive integrator finds, too; with `overload` both keep to it."""
    arm = art.load("two_link")
    with pytest.warns(DoubtfulResult, match="between the points of the mesh limits are exceeded"):
        loose = plan(arm, *MOVE, scheme=scheme, intervals=20, **GIVEN)
    worst = {each.entry[0]: each.ratio for each in reversed(loose.overload)}
    force, speed = played(loose)
    assert max(worst["u"], worst["v"]) > 1.05
    # the simulation is looked at every millisecond: the top of an input at the start of an interval lies between two looks
    assert 1 + 0.6 * (worst["u"] - 1) <= force <= worst["u"] + 1e-3
    assert speed == pytest.approx(worst["v"], rel=0.03)  # what the mesh does not resolve
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = plan(arm, *MOVE, scheme=scheme, intervals=20, overload=0.01, **GIVEN)
    assert kept.overload[0].ratio <= 1.01
    assert max(played(kept)) < 1.02  # and what the mesh does not resolve
    assert loose.duration < kept.duration < 1.1 * loose.duration


def test_what_is_found_is_the_polynomial_of_the_scheme() -> None:
    """Hermite-Simpson's input is a parabola through three points: -1, 1, 1 gives 1.25 at three quarters of the interval."""
    x, u, T = ca.SX.sym("x", 2), ca.SX.sym("u", 1), ca.SX.sym("T")
    given = {"duration": (0.1, 10.0), "start": [0, 0], "end": [1, 0], "u_bounds": [(-1, 1)]}
    cart = solve_problem(ode(x, u, ca.vertcat(x[1], u), final=T, time=T, **given), intervals=4)
    (found,) = [each for each in cart.overload if each.entry == "u"]
    z = cart.courses[0].z[:, cart.problem.phases[0].names.index("u")]
    most = 0.0
    for k in range(0, len(z) - 2, 2):
        c = np.polyfit([0, 0.5, 1], z[k : k + 3], 2)
        most = max(most, np.abs(np.polyval(c, np.linspace(0, 1, 17))).max())
    assert found.ratio == pytest.approx(most, rel=1e-9)
    assert 0 < found.t < cart.duration


def test_a_speed_limit_of_equations_is_told() -> None:
    """Few intervals and a limit of the speed: the cubic of the speed passes it, and with `overload` it does not."""
    x, u, T = ca.SX.sym("x", 2), ca.SX.sym("u", 1), ca.SX.sym("T")
    given = {"duration": (0.1, 10.0), "start": [0, 0], "end": [1, 0], "u_bounds": [(-9, 9)]}
    given["x_bounds"] = [(-5, 5), (-0.6, 0.6)]
    phase = ode(x, u, ca.vertcat(x[1], u), final=T, time=T, **given)
    with pytest.warns(DoubtfulResult, match="x_1 takes 1"):
        solve_problem(phase, intervals=5)
    kept = solve_problem(phase, intervals=5, overload=0.005)
    assert {each.entry: each.ratio for each in kept.overload}["x_1"] <= 1.005
    with pytest.raises(InputError, match="overload: found -1"):
        solve_problem(phase, overload=-1)
