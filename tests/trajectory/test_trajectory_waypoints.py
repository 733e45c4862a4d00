"""Through points without stopping: the closed form of one way, points that cost nothing, splines, units, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from articulus.errors import InputError
from articulus.motion.trajectory import point_to_point, waypoints

LIMITS = {"velocity_limit": 2.0, "acceleration_limit": 3.0, "jerk_limit": 10.0}
POINTS = np.array([[0.0, 0.0], [1.0, 0.5], [1.2, -0.4], [0.3, -1.0]])


@pytest.mark.parametrize("points", [[[0.0], [3.0]], [[0.0], [1.2], [3.0]]])
def test_a_point_on_the_way_costs_no_time(points: list) -> None:
    """From 0 to 3 with all limits met T = d / V + V / A + A / J, whether the motion is known to pass 1.2 or not."""
    run = waypoints(points, **LIMITS)
    assert run.duration == pytest.approx(3.0 / 2 + 2.0 / 3 + 3.0 / 10, rel=1e-6)


def test_points_are_passed_within_limits_faster_than_with_stops() -> None:
    run = waypoints(POINTS, **LIMITS, v0=[0.5, 0.0])
    q, v, a, _ = run.at(run.t[run.visits])
    assert q == pytest.approx(POINTS, abs=1e-7)  # the solver's tolerance
    assert v[[0, -1]] == pytest.approx(np.array([[0.5, 0.0], [0.0, 0.0]]), abs=1e-7)
    assert a[[0, -1]] == pytest.approx(np.zeros((2, 2)), abs=1e-7)
    assert run.overload() < 1e-7
    fine = np.array(run.at(np.linspace(0, run.duration, 2001))[:3])
    for x, limit in zip(fine, LIMITS.values()):
        assert np.abs(x).max() <= limit * (1 + 1e-6)
    assert run.duration < 0.9 * point_to_point(POINTS[:-1], POINTS[1:], **LIMITS).duration.sum()
    assert waypoints(POINTS, **LIMITS, intervals=12).duration == pytest.approx(
        waypoints(POINTS, **LIMITS).duration, rel=5e-3
    )


def test_one_interval_is_the_fastest_spline() -> None:
    """Between the points the motion is the cubic spline with its knots; more intervals are faster, equal lengths are slower."""
    run = waypoints(POINTS, **LIMITS, intervals=1)
    spline = CubicSpline(run.t, run.q, bc_type="clamped")
    t = np.linspace(0, run.duration, 200)
    assert run.at(t)[0] == pytest.approx(spline(t), abs=1e-6)
    assert run.overload() < 1e-7
    assert waypoints(POINTS, **LIMITS).duration < run.duration


def test_units_do_not_matter() -> None:
    plain = waypoints(POINTS, **LIMITS, intervals=4).duration
    for unit in (1e-4, 1e4):
        scaled = {name: unit * value for name, value in LIMITS.items()}
        assert waypoints(unit * POINTS, **scaled, intervals=4).duration == pytest.approx(plain, rel=1e-6)


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match=r"shape \(2,\); expected \(k, n\)"):
        waypoints([0.0, 1.0], **LIMITS)
    with pytest.raises(InputError, match=r"two equal points in a row"):
        waypoints([[0.0], [0.0], [1.0]], **LIMITS)
    with pytest.raises(InputError, match=r"speeds at the ends .* exceed"):
        waypoints([[0.0], [1.0]], v0=3.0, **LIMITS)
    with pytest.raises(InputError, match=r"jerk_limit = .*above zero"):
        waypoints([[0.0], [1.0]], velocity_limit=1.0, acceleration_limit=1.0, jerk_limit=-1.0)
    with pytest.raises(
        InputError, match=r"velocity_limit = .*; expected a finite number, or one per joint, 1"
    ):
        waypoints([[0.0], [1.0]], velocity_limit=[1.0, 1.0], acceleration_limit=1.0, jerk_limit=1.0)
    with pytest.raises(InputError, match=r"goal_velocity = nan"):
        waypoints([[0.0], [1.0]], goal_velocity=np.nan, **LIMITS)
    with pytest.raises(InputError, match=r"intervals = 2\.0; expected a whole number"):
        waypoints([[0.0], [1.0]], intervals=2.0, **LIMITS)
    with pytest.raises(InputError, match=r"shape \(3, 0\)"):
        waypoints(np.zeros((3, 0)), **LIMITS)
