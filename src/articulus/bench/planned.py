"""Rows of planned motions: functions of the program per iteration, whole solutions, least time, multiple shooting, the first plan."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import articulus as art
from articulus import kernel
from articulus.bench.opti import ArmMove, Opti, PeerSolution
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort
from articulus.bench.startup import ONE_STATE, LibraryModel, starter
from articulus.bench.timing import Contender, one_core, race
from articulus.errors import DoubtfulResult
from articulus.motion import trajectory

AGREE = 1e-3
"""Relative difference of the costs: the barrier of the peer's solver adds up to 2e-4 at this tolerance."""
GOAL = (0.8, -0.6, 0.7, 0.5, -0.4, 0.6, 0.3)
"""Of the 7-revolute arm [rad]; it starts at zero."""
USED = 0.9
"""Limits of the forces over the largest ones of the motion of least jerk."""
FIRST = """
from articulus.motion import trajectory
trajectory.plan(mechanism, 0 * x, 5 * x, duration=1.0, torque_limit=1e3, intervals=100)
"""
FORMS = {"map": (40.0, None), "expand": (12.0, 5.0), "loop": (None, 18.0)}
"""Ways to write the peer, and the bars of functions per iteration and of the whole solution."""


def motions(effort: Effort) -> Iterator[Measurement]:
    """Yield planned motions of a 7-revolute arm, 100 intervals, beside CasADi's Opti."""
    move = move_of("two_link", (1.0, 0.5), 10) if effort.quick else move_of("rrc7", GOAL, 100)
    ours, functions = _ours(move, effort)
    title, n, forms = f"planned motion, {move.intervals} intervals", move.arm.nv, FORMS
    yield _time_row(f"{title}, functions per iteration", n, functions, 1.5e3, "ms", effort)
    (whole,) = race([Contender("articulus", partial(_plan, move))], effort.seconds, 3)
    yield _time_row(f"{title}, least effort", n, whole, 2e5, "s", effort)
    for form, (per_iteration, total) in forms.items():
        peer = Opti(move, "collocation", form)
        theirs = peer.solve()
        name, wrong = f"casadi Opti {form}", _wrong(ours, theirs)
        note = f"{ours.solution.iterations} iterations, peer {theirs.iterations}; costs {ours.cost:.7g} and {theirs.cost:.7g}"
        row = partial(Measurement, n=n, peer=name, failed=wrong, note=note)
        for what, mine, other, limit in (
            ("functions per iteration", functions, 1e6 * theirs.functions, per_iteration),
            ("whole solution", whole, 1e6 * theirs.seconds, total),
        ):
            bar = FigureLimit(limit) if limit is not None and not effort.quick else None
            yield row(f"{title}, {what}", ours_us=mine, peer_us=other, value=other / mine, bar=bar)
    yield _fastest(move, effort)
    yield _shooting(move, effort)


def first_plan(effort: Effort) -> Iterator[Measurement]:
    """Yield the time of the first plan of a new mechanism in a new process, with an empty cache."""
    with starter(FIRST) as start:
        cold = start.cold(
            LibraryModel("rrc7", art.load("rrc7")), ONE_STATE, 1 if effort.quick else 2
        ).processor
    yield _time_row("cold first plan, 100 intervals", 7, 1e6 * cold, 4e6, "s", effort)


def move_of(name: str, goal: tuple[float, ...], intervals: int) -> ArmMove:
    """Return a motion of one second of a library arm, with limits that it has to heed."""
    arm = art.load(name)
    free = ArmMove(
        arm, np.zeros(arm.nv), np.array(goal), 1.0, np.ones(arm.nv), np.full(arm.nv, 3.0), intervals
    )
    most = np.abs(free.guess(201)[1]).max(1)
    return ArmMove(arm, free.start, free.goal, 1.0, USED * most, free.velocity, intervals)


def _plan(move: ArmMove, **more: Any) -> trajectory.Plan:
    names = move.arm.joint_names
    given: dict[str, Any] = {
        "duration": move.duration,
        "torque_limit": dict(zip(names, move.effort)),
        "velocity_limit": dict(zip(names, move.velocity)),
        "intervals": move.intervals,
    }
    with warnings.catch_warnings():  # limits are kept at the points of the mesh, as the peer keeps them
        warnings.filterwarnings("ignore", "(?s).*between the points of the mesh", DoubtfulResult)
        return trajectory.plan(move.arm, move.start, move.goal, **(given | more))


def _ours(move: ArmMove, effort: Effort) -> tuple[trajectory.Plan, float]:
    """Return our plan, and the least time of its functions per iteration of some solutions [us]."""
    with one_core(), kernel.threads(1):
        plans = [_plan(move) for _ in range(2 if effort.quick else 6)]
    each = [p.solution.function_seconds / p.solution.iterations for p in plans]
    return plans[-1], 1e6 * min(each)


def _wrong(ours: trajectory.Plan, theirs: PeerSolution) -> bool:
    return not ours.converged or abs(ours.cost / theirs.cost - 1) > AGREE


def _time_row(name: str, n: int, us: float, limit_us: float, unit: str, effort: Effort) -> Measurement:
    """Return a row whose figure is a time."""
    size = {"ms": 1e3, "s": 1e6}[unit]
    bar = None if effort.quick else FigureLimit(limit_us / size, at_least=False, unit=unit)
    return Measurement(name, n, us, value=us / size, unit=unit, bar=bar)


def _fastest(move: ArmMove, effort: Effort) -> Measurement:
    call = partial(_plan, move, duration=(0.1, 5.0), cost="time")
    found = call()
    (time,) = race([Contender("articulus", call)], effort.seconds, 2)
    bar = None if effort.quick else FigureLimit(1.0, at_least=False, unit="s")
    note = f"{found.duration:.6g} s in {found.solution.iterations} iterations, own guess"
    return Measurement(
        "planned motion, least time", move.arm.nv, time, value=1e-6 * time, unit="s", bar=bar, note=note
    )


def _shooting(move: ArmMove, effort: Effort) -> Measurement:
    call = partial(_plan, move, scheme="shooting")
    ours, theirs = call(), Opti(move, "shooting", "map").solve()
    (time,) = race([Contender("articulus", call)], effort.seconds, 2)
    other = 1e6 * theirs.seconds
    return Measurement(
        "planned motion, multiple shooting",
        move.arm.nv,
        time,
        "casadi Opti map",
        other,
        other / time,
        bar=None if effort.quick else FigureLimit(20),
        failed=_wrong(ours, theirs),
        note=f"{ours.solution.iterations} iterations, peer {theirs.iterations}; costs {ours.cost:.7g} and {theirs.cost:.7g}",
    )
