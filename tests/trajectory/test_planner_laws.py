"""Laws of all planners: motions backward, faster, heavier, with more limits, and beside each other.

Masses, springs and gravity do not know the direction of time, and bounds of forces are alike in both: what a planner finds from A to B it finds from B to A,
backward. Limits of powers k, k^2, k^3 of a faster clock make the same motion k times as fast. A limit more, or a tighter one, makes nothing faster.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

import articulus as art
from articulus.motion.trajectory import path_speed, plan, plan_legs, point_to_point, waypoints
from articulus.motion.trajectory.legs import Leg

ALONE = {"velocity_limit": 2.0, "acceleration_limit": 3.0, "jerk_limit": 20.0}


def points(seed: int, count: int = 3, joints: int = 2) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, (count, joints))


def faster(k: float) -> dict[str, float]:
    """Return the limits of a clock that runs k times as fast."""
    return {name: value * k**power for power, (name, value) in enumerate(ALONE.items(), start=1)}


PLANNERS: dict[str, Callable] = {
    "point_to_point": lambda p, **more: point_to_point(p[0], p[-1], **ALONE | more),
    "waypoints": lambda p, **more: waypoints(p, **ALONE | more),
}


@pytest.fixture(params=PLANNERS)
def planner(request: pytest.FixtureRequest) -> Callable:
    return PLANNERS[request.param]


@pytest.mark.parametrize("seed", range(2))
def test_joints_move_back_as_they_came(planner: Callable, seed: int) -> None:
    there, back = planner(points(seed)), planner(points(seed)[::-1])
    T = there.duration
    assert back.duration == pytest.approx(T, rel=1e-6)
    t = np.linspace(0, T, 31)
    if (
        planner is PLANNERS["point_to_point"]
    ):  # joints that have time left may move in many ways through points
        assert back.at(t).q == pytest.approx(there.at(T - t).q, abs=1e-5)
        assert back.at(t).v == pytest.approx(-there.at(T - t).v, abs=1e-4)
    assert back.at(0.0).q == pytest.approx(there.at(T).q, abs=1e-9)


@pytest.mark.parametrize("k", [0.01, 1000.0])
def test_faster_clocks_make_faster_motions_of_the_same_shape(planner: Callable, k: float) -> None:
    slow, fast = planner(points(7)), planner(points(7), **faster(k))
    assert fast.duration == pytest.approx(slow.duration / k, rel=1e-6)
    if planner is PLANNERS["point_to_point"]:
        t = np.linspace(0, slow.duration, 31)
        assert fast.at(t / k).q == pytest.approx(slow.at(t).q, abs=1e-5)


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_other_units_of_length_are_the_same_motion(planner: Callable, size: float) -> None:
    p = points(8)
    own, other = planner(p), planner(size * p, **{name: size * value for name, value in ALONE.items()})
    assert other.duration == pytest.approx(own.duration, rel=1e-6)
    t = np.linspace(0, own.duration, 31)
    assert other.at(t).q / size == pytest.approx(own.at(t).q, abs=1e-5)


@pytest.mark.parametrize("name", ALONE)
def test_a_tighter_limit_makes_nothing_faster(planner: Callable, name: str) -> None:
    before = 0.0
    for part in (1.5, 1.0, 0.4):
        now = planner(points(9), **{name: part * ALONE[name]}).duration
        assert now >= before * (1 - 1e-7)
        before = now


def test_order_and_number_of_joints(planner: Callable) -> None:
    """Joints in another order take the same time, a joint more never less; one that stands still makes no difference."""
    p = points(10, joints=3)
    whole, turned, fewer = planner(p), planner(p[:, ::-1]), planner(p[:, :2])
    assert turned.duration == pytest.approx(whole.duration, rel=1e-6)
    assert fewer.duration <= whole.duration * (1 + 1e-7)
    still = planner(np.hstack([p, np.zeros((3, 1))]))
    assert still.duration == pytest.approx(whole.duration, rel=1e-6)


def test_limits_hold_everywhere(planner: Callable) -> None:
    for seed in range(3):
        found = planner(points(seed))
        _, v, vdot, _ = found.at(np.linspace(0, found.duration, 400))
        assert np.abs(v).max() <= ALONE["velocity_limit"] * (1 + 1e-6)
        assert np.abs(vdot).max() <= ALONE["acceleration_limit"] * (1 + 1e-6)
        jerk = np.diff(vdot, axis=0) / (found.duration / 399)
        assert np.abs(jerk).max() <= ALONE["jerk_limit"] * (1 + 1e-5)


def test_stops_on_the_way_take_longer() -> None:
    """A motion through points is at least as fast as stops at all of them, and not faster than its last point reached alone along a joint of one way."""
    for seed in range(2):
        p = np.sort(points(seed, 4, 1), axis=0)
        parts = sum(point_to_point(a, b, **ALONE).duration for a, b in pairwise(p))
        through = waypoints(p, **ALONE).duration
        assert point_to_point(p[0], p[-1], **ALONE).duration * (1 - 1e-7) <= through <= parts * (1 + 1e-7)


# mechanisms


@pytest.fixture(scope="module")
def arm() -> art.Mechanism:
    """Two links under gravity, without damping."""
    return art.load("two_link")


def heavier(factor: float) -> art.Mechanism:
    """Return two links, all of whose masses are a factor of the usual ones."""
    m = art.Mechanism("arm")
    before, at = "ground", (0.0, 0.0, 0.0)
    for k, mass in enumerate((3.0, 2.0)):
        turning = np.array([0.02, 0.03, 0.03]) * factor * mass
        m.body(f"link{k}", mass=factor * mass, com=(0.2, 0.0, 0.0), inertia=turning.tolist())
        m.joint(f"hinge{k}", art.Revolute((0, 1, 0)), before, f"link{k}", at=at)
        before, at = f"link{k}", (0.4, 0.0, 0.0)
    return m


SPEED = {"torque_limit": 2500.0, "velocity_limit": 3.0, "grid": 80}


def test_paths_are_run_back_as_fast(arm: art.Mechanism) -> None:
    """Along the same curve, with gravity; to the error of 80 intervals."""
    p = points(1)
    there, back = path_speed(arm, p, **SPEED), path_speed(arm, p[::-1], **SPEED)
    assert back.duration == pytest.approx(there.duration, rel=2e-3)
    t = np.linspace(0, 1, 21)
    assert back.at(t * back.duration).q == pytest.approx(there.at((1 - t) * there.duration).q, abs=0.02)


@pytest.mark.parametrize("name", ["torque_limit", "velocity_limit"])
def test_a_tighter_limit_makes_no_path_faster(arm: art.Mechanism, name: str) -> None:
    before = 0.0
    for part in (1.5, 1.0, 0.8):
        now = path_speed(arm, points(1), **SPEED | {name: part * SPEED[name]}).duration
        assert now >= before * (1 - 1e-6)
        before = now


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_masses_and_forces_of_another_size_are_the_same_motion(factor: float) -> None:
    given = {"velocity_limit": 3.0, "grid": 60}
    own, other = (path_speed(heavier(f), points(1), torque_limit=40.0 * f, **given) for f in (1.0, factor))
    assert other.duration == pytest.approx(own.duration, rel=1e-6)
    assert other.tau / factor == pytest.approx(own.tau, abs=1e-4)
    plans = [
        plan(heavier(f), *points(2, 2), duration=1.0, torque_limit=100.0 * f, intervals=15)
        for f in (1.0, factor)
    ]
    assert plans[1].cost == pytest.approx(plans[0].cost, rel=1e-5)
    assert plans[1].q == pytest.approx(plans[0].q, abs=1e-4)


@pytest.mark.parametrize("scheme", ["hermite_simpson", "lobatto 4", "shooting", "weak"])
def test_plans_move_back_as_they_came(arm: art.Mechanism, scheme: str) -> None:
    """Least effort against gravity."""
    ends = points(3, 2)
    given = {"duration": 1.0, "intervals": 16, "torque_limit": 5000.0, "scheme": scheme}
    there, back = plan(arm, *ends, **given), plan(arm, *ends[::-1], **given)
    close = 1e-6 if scheme != "shooting" else 1e-4  # steps of a Runge-Kutta formula know their direction
    assert back.cost == pytest.approx(there.cost, rel=close)
    assert back.q[::-1] == pytest.approx(there.q, abs=10 * close)
    assert back.v[::-1] == pytest.approx(-there.v, abs=100 * close)
    if scheme != "weak":
        assert back.u[::-1] == pytest.approx(there.u, abs=5000 * 10 * close)


def test_a_constraint_more_makes_no_plan_cheaper(arm: art.Mechanism) -> None:
    ends, given = points(4, 2), {"duration": 1.0, "intervals": 12}
    cost, limits = 0.0, {}
    for more in (
        {"torque_limit": 2500.0},
        {"acceleration_limit": 8.0},
        {"velocity_limit": 1.7},
    ):
        limits |= more
        now = plan(arm, *ends, cost={"acceleration": 1.0}, **given, **limits).cost
        assert now >= cost * (1 - 1e-6)
        cost = now
    free = plan(arm, *ends, cost={"acceleration": 1.0}, goal_velocity="free", **given, **limits).cost
    assert free <= cost * (1 + 1e-6)


def test_the_best_motion_is_as_fast_as_along_any_path(arm: art.Mechanism) -> None:
    """And with limits of acceleration alone as the slowest joint by its closed form, which `point_to_point` has too where jerks are hardly limited."""
    ends = points(5, 2)
    limits = {"torque_limit": 2500.0, "velocity_limit": 3.0}
    best = plan(arm, *ends, duration=(0.05, 5.0), cost="time", intervals=25, overload=0.01, **limits)
    for middle in (0.5, 0.3):
        bend = np.vstack([ends[0], middle * ends[0] + (1 - middle) * ends[1] + [0.1, -0.1], ends[1]])
        assert best.duration <= path_speed(arm, bend, **SPEED).duration * 1.01
    quick = {"velocity_limit": 3.0, "acceleration_limit": 4.0}
    free = plan(arm, *ends, duration=(0.05, 5.0), cost="time", torque_limit=1e6, intervals=25, **quick)
    assert free.duration == pytest.approx(point_to_point(*ends, jerk_limit=1e5, **quick).duration, rel=3e-3)


def test_legs_are_as_good_as_they_are_together(arm: art.Mechanism) -> None:
    """Legs that stop are plans of their own; passing is never dearer, and one leg is the plan."""
    p, given = points(6), {"torque_limit": 5000.0}
    alone = [plan(arm, a, b, duration=0.8, intervals=12, **given) for a, b in pairwise(p)]
    stops = plan_legs(arm, p[0], [Leg(x, 0.8) for x in p[1:]], intervals=12, **given)
    passes = plan_legs(arm, p[0], [Leg(p[1], 0.8, "free"), Leg(p[2], 0.8)], intervals=12, **given)
    assert stops.cost == pytest.approx(sum(each.cost for each in alone), rel=1e-6)
    assert passes.cost < stops.cost
    one = plan_legs(arm, p[0], [Leg(p[1], 0.8)], intervals=12, **given)
    assert one.q == pytest.approx(alone[0].q, abs=1e-6)
