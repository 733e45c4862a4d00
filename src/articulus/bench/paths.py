"""Rows of motions along given paths and from state to state."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import articulus as art
from articulus.bench import peers
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort
from articulus.bench.timing import Contender, processor_clock, race
from articulus.motion.trajectory import path_speed, point_to_point, waypoints
from articulus.motion.trajectory.path_curves import chords

PATHS, POINTS, GRID = 256, 6, 400
FINE = 6400
"""Intervals whose duration counts as the least."""
GAP, OVERLOAD = 5e-4, 1e-4
"""Distance from the least duration, and excess of a limit between points, that count."""
TORQUES = np.array([700.0, 1000.0, 200.0, 250.0, 60.0, 60.0, 25.0])
SPEED = 1.0
NO_TOPPRA, NO_RUCKIG = "toppra is not installed (extra `bench`)", "ruckig is not installed"


def path_speeds(effort: Effort) -> Iterator[Measurement]:
    """Yield the fastest run along one path and along many, beside toppra on the same points, torques and speeds."""
    arm = art.load("rrc7")
    many = np.random.default_rng(5).uniform(-1, 1, (8 if effort.quick else PATHS, POINTS, arm.nq))
    yield _path(
        arm, many[1], None if effort.quick else FigureLimit(10), effort, "time-optimal path speed, one path"
    )
    yield _path(
        arm,
        many,
        None if effort.quick else FigureLimit(50),
        effort,
        f"time-optimal path speed, {len(many)} paths",
    )


def _path(
    arm: art.Mechanism, points: np.ndarray, bar: FigureLimit | None, effort: Effort, name: str
) -> Measurement:
    limits = dict(zip(arm.joint_names, TORQUES))

    def ours(grid: int = GRID) -> Any:
        return path_speed(arm, points, torque_limit=limits, velocity_limit=SPEED, grid=grid)

    run = ours()
    one = run if points.ndim == 2 else path_speed(arm, points[1], torque_limit=limits, velocity_limit=SPEED)
    gap = abs(one.duration / one.again(FINE).duration - 1.0)
    over = run.overload()
    note = f"{GRID} intervals; {100 * gap:.2g} % from the least duration, limits between points exceeded by {max(over, 0.0):.1e}"
    count = 1 if points.ndim == 2 else len(points)
    if gap > GAP or over > OVERLOAD:
        return Measurement(name, arm.nv, failed=True, note=note)
    mine = Contender("articulus", ours, count)
    theirs = _toppra(arm, points if points.ndim == 2 else points[1])
    if theirs is None:
        (time,) = race([mine], effort.seconds, effort.rounds)
        return Measurement(name, arm.nv, ours_us=time, bar=bar, note=f"{note}; {NO_TOPPRA}")
    loss = theirs().duration / one.again(FINE).duration - 1.0
    time, other = race([mine, Contender("toppra", theirs)], effort.seconds, effort.rounds)
    note = f"{note}; toppra is {100 * loss:.2g} % from it"
    return Measurement(name, arm.nv, time, "toppra, seidel", other, other / time, bar=bar, note=note)


def _toppra(arm: art.Mechanism, points: np.ndarray) -> Callable[[], Any] | None:
    """Return toppra's run through points by the same spline, everything included; its constraints call our inverse dynamics."""
    toppra = peers.module("toppra", "SplineInterpolator")
    if toppra is None:
        return None
    from toppra import algorithm, constraint

    logging.getLogger("toppra").setLevel(logging.ERROR)
    speeds, torques = (np.stack([-x, x], 1) for x in (np.full(arm.nv, SPEED), TORQUES))
    scheme = constraint.DiscretizationType.Interpolation

    def run() -> Any:
        limits = [
            constraint.JointVelocityConstraint(speeds),
            constraint.JointTorqueConstraint(
                arm.inverse_dynamics, torques, np.zeros(arm.nv), discretization_scheme=scheme
            ),
        ]
        path = toppra.SplineInterpolator(chords(points), points)
        planner = algorithm.TOPPRA(
            limits, path, gridpoints=np.linspace(0, 1, GRID + 1), solver_wrapper="seidel"
        )
        return planner.compute_trajectory(0, 0)

    return run


def points(effort: Effort) -> Iterator[Measurement]:
    """Yield motions with limited jerk from state to state beside ruckig, and through waypoints, which the free ruckig does not compute offline."""
    rng = np.random.default_rng(0)
    count = 20 if effort.quick else 1000
    start, end = rng.normal(size=(2, count, 7))
    limits = {
        "velocity_limit": np.full(7, 2.0),
        "acceleration_limit": np.full(7, 3.0),
        "jerk_limit": np.full(7, 10.0),
    }
    speeds = rng.uniform(-0.5, 0.5, (2, count, 7)) * limits["velocity_limit"]
    for name, moving in (("rest to rest", 0.0), ("moving ends", 1.0)):
        ends = {"v0": moving * speeds[0], "goal_velocity": moving * speeds[1]}
        yield _from_state_to_state(f"point to point, {name}", start, end, ends, limits, effort)
    one = {name: x[:1] for name, x in ends.items()}
    yield _from_state_to_state(
        "point to point, moving ends, one motion",
        start[:1],
        end[:1],
        one,
        limits,
        effort,
        None if effort.quick else FigureLimit(0.5),
    )
    if effort.quick:
        return
    route = rng.uniform(-1, 1, (6, 7))
    begun = processor_clock()
    run = waypoints(route, velocity_limit=2.0, acceleration_limit=3.0, jerk_limit=10.0)
    time = processor_clock() - begun
    note = f"6 points, {run.duration:.4g} s; limits exceeded by {max(run.overload(), 0.0):.0e}; ruckig asks a server"
    yield Measurement("waypoints with limited jerk", 7, 1e6 * time, value=time, unit="s", note=note)


def _from_state_to_state(
    name: str,
    start: Any,
    end: Any,
    ends: Any,
    limits: Any,
    effort: Effort,
    bar: FigureLimit | None = None,
) -> Measurement:
    run = point_to_point(start, end, **{**ends, **limits})
    first, last, speeds = start, end, ends
    if len(start) == 1:  # as one motion is asked for
        first, last, speeds = start[0], end[0], {name: x[0] for name, x in ends.items()}

    def ours() -> Any:
        return point_to_point(first, last, **{**speeds, **limits})

    mine = Contender("articulus", ours, len(start))
    ruckig = peers.module("ruckig", "InputParameter")
    if ruckig is None:
        (time,) = race([mine], effort.seconds, effort.rounds)
        return Measurement(name, 7, ours_us=time, bar=bar, note=f"{len(start)} motions; {NO_RUCKIG}")
    asked, solver, found = ruckig.InputParameter(7), ruckig.Ruckig(7), ruckig.Trajectory(7)

    def theirs(k: int = 0) -> float:
        asked.current_position, asked.target_position = start[k], end[k]
        asked.current_velocity, asked.target_velocity = ends["v0"][k], ends["goal_velocity"][k]
        asked.max_velocity, asked.max_acceleration, asked.max_jerk = limits.values()
        solver.calculate(asked, found)
        return float(found.duration)

    apart = max(abs(theirs(k) / run.duration[k] - 1.0) for k in range(min(20, len(start))))
    if apart > 1e-6:
        return Measurement(name, 7, failed=True, note=f"durations differ by {apart:.1e}")
    time, other = race([mine, Contender("ruckig", theirs)], effort.seconds, effort.rounds)
    return Measurement(
        name,
        7,
        time,
        "ruckig",
        other,
        other / time,
        bar=bar,
        note=f"{len(start)} motions in one call; durations agree to {apart:.0e}",
    )
