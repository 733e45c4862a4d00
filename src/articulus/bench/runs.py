"""Rows of runs: rollouts, a machine with hydraulics, closed loops, a controller in Python, the first run of a process.

Every call is the public one, repeated: native code exists before the clock starts, everything else that a user waits for
counts.
"""

from __future__ import annotations

import math
import os
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter

import numpy as np
from scipy.integrate import solve_ivp

import articulus as art
from articulus.bench import exudyn, peers
from articulus.bench.models import Array, chain
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import AGREE, Effort, difference, differs, exponent, notes, race_row
from articulus.bench.startup import LOOPS, ONE_STATE, RUN, LibraryModel, Start, starter
from articulus.bench.timing import Contender, race
from articulus.cases.cat215b_hydraulics.machine import resolved_command
from articulus.model.library.cat215b_drives import START, actuators
from articulus.simulation.loop.components import PD, ResolvedRate
from articulus.simulation.results.run import Run

STEP = 1e-3
KP, KD = 50.0, 1.0
"""Gains of the PD controllers [N m/rad, N m s/rad]."""
PEER_RUNS = 4
"""Rollouts that MuJoCo does in one turn, and that are compared with ours before timing."""
ALLOWED = 1e-3
"""Error of the angle where the four-bar linkages end [rad]; both methods come to 9e-4 to 1e-3 with the steps below."""
OUR_STEP, EXUDYN_STEP = 0.05, 0.005
"""[s]. Twice our step and 4/3 of Exudyn's are too long."""


# rollouts


def rollouts(effort: Effort) -> Iterator[Measurement]:
    """Yield RK4 rollouts of chains with a PD controller, per step, against MuJoCo on one thread."""
    yield _rollouts(7, 256, FigureLimit(20), effort)
    if not effort.quick:
        yield _rollouts(30, 64, FigureLimit(15), effort)


def _rollouts(n: int, runs: int, bar: FigureLimit, effort: Effort) -> Measurement:
    steps = _steps(effort)
    ours, q, v = _ours(n, runs, steps)
    row = partial(Measurement, "RK4 rollouts with PD, one step", n, bar=bar)
    if not peers.mujoco():
        return row(
            ours_us=race([ours], effort.seconds, effort.rounds)[0],
            note="MuJoCo is not installed (extra `bench`)",
        )
    some = slice(PEER_RUNS)
    rivals, ends = peers.mujoco_rollouts(chain(n), q[some], v[some], kp=KP, kd=KD, step=STEP, steps=steps)
    found: Run = ours.call()
    gap = difference([np.hstack([found.q[some, -1], found.v[some, -1]])], [ends])
    if not gap <= AGREE:
        return row(failed=True, note=differs(gap))
    note = notes(
        f"{runs} runs of {steps} steps; ends agree to {gap:.0e}", _overhead(_ours(n, runs, 1)[0].call)
    )
    return race_row(row, ours, rivals, effort, note)


def two_threads(effort: Effort) -> Iterator[Measurement]:
    """Yield such rollouts on two threads against one thread of our own; short, to find moments with two quiet cores."""
    ours, *_ = _ours(7, 512, 100)

    def on(threads: int) -> None:
        with art.kernel.threads(threads):
            ours.call()

    ways = [Contender(f"{k} thread{'s' * (k > 1)}", partial(on, k), ours.count) for k in (2, 1)]
    two, one = race(ways, 4 * effort.seconds, effort.rounds, cores=2)
    row = partial(
        Measurement, "RK4 rollouts with PD, two threads", 7, ours_us=two, peer="articulus, one thread"
    )
    note = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores" if hasattr(os, "getloadavg") else ""
    yield row(peer_us=one, value=one / two, bar=FigureLimit(1.7), note=note)


def _ours(n: int, runs: int, steps: int) -> tuple[Contender, Array, Array]:
    """Return rollouts that keep start and end, and their initial states."""
    q, v, _ = chain(n).states(runs)
    q, v = 0.3 * q, 0.3 * v
    call = partial(art.rollout, chain(n).mechanism, steps * STEP, q, v, controller=PD(KP, KD), step=STEP)
    return Contender("articulus", call, runs * steps), q, v


def _steps(effort: Effort) -> int:
    return 100 if effort.quick else 1000


# single runs against the clock


def excavator(effort: Effort) -> Iterator[Measurement]:
    """Yield the Cat 215B with hydraulics at 1 kHz, its operator in RESOLVED mode at 100 Hz, samples at 100 Hz."""
    law = ResolvedRate(
        resolved_command(),
        kp=(2.0, 3.0, 2.0, 2.0),
        kd=(1.0, 2.0, 1.0, 1.0),
        period=0.01,
        point="wrist",
        tool="bucket",
        name="operator",
    )
    parts = [law, *actuators()]
    call = partial(art.simulate, art.load("cat215b"), q0=START, components=parts, step=STEP, sample=0.01)
    yield _real_time("Cat 215B with hydraulics, 1 kHz", 4, 15.0, call, 500, effort)


def python_controller(effort: Effort) -> Iterator[Measurement]:
    """Yield 7 revolutes with a PD controller that is a Python function, called at 1 kHz."""
    n = 7
    target, kp, kd = np.zeros(n), np.full(n, KP), np.full(n, KD)

    def controller(t: float, q: Array, v: Array) -> Array:
        return kp * (target - q) - kd * v

    q0 = 0.3 * chain(n).states(1)[0][0]
    call = partial(art.simulate, chain(n).mechanism, q0=q0, controller=controller, step=STEP)
    yield _real_time("Python controller, 1 kHz", n, 10.0, call, 50, effort)


def _real_time(
    name: str, n: int, seconds: float, call: Callable[..., Run], bar: float, effort: Effort
) -> Measurement:
    """Return how many seconds one run simulates in a second of wall-clock time; the time is that of one step."""
    whole = Contender(name, partial(call, seconds), round(seconds / STEP))
    time = race([whole], effort.seconds, effort.rounds)[0]
    figure = FigureLimit(bar, unit="x real time")
    note = notes(f"{seconds:g} s, RK4", _overhead(partial(call, 0.01)))
    return Measurement(
        name, n, ours_us=time, value=1e6 * STEP / time, unit=figure.unit, bar=figure, note=note
    )


def _overhead(call: Callable[[], Run]) -> str:
    """Return in words what a call costs besides its steps, from one that takes next to none."""
    return f"{race([Contender('short', call)], 0.0)[0] / 1e3:.3g} ms of a call are not steps"


# closed loops


def closed_loops(effort: Effort) -> Iterator[Measurement]:
    """Yield 10 s of a row of four-bar linkages against Exudyn, each with a step that just reaches the same accuracy.

    The figure is the time of the steps without the set-up, which the note gives for both: ours derives and loads or
    builds native code. The bars stay parallel, so that the exact angle is that of one pendulum.
    """
    repeats = 1 if effort.quick else 3
    loops, end = (2, 1.0) if effort.quick else (40, 10.0)
    row = partial(Measurement, f"{loops} four-bar loops, {end:g} s", 2 * loops + 1, bar=FigureLimit(3))
    exact = exact_angle(loops, end)
    run, ours, first = _four_bars(loops, end, repeats)
    gap = abs(run.q[-1, 0] - exact)
    if not gap <= ALLOWED:
        yield row(failed=True, note=f"error of the angle {gap:.1e} rad, more than {ALLOWED:g}: not timed")
    elif not exudyn.is_installed():
        yield row(ours_us=1e6 * ours, note="Exudyn is not installed (extra `bench`)")
    else:
        row = partial(row, ours_us=1e6 * ours)
        try:
            theirs = [exudyn.run(loops, end, round(end / EXUDYN_STEP)) for _ in range(repeats)]
        except subprocess.CalledProcessError as error:
            yield row(note=f"Exudyn failed: {error.stderr.strip()[-200:]}")
            return
        yield _beside_exudyn(row, ours, theirs, exact, f"errors {gap:.1e}", first)


def _beside_exudyn(
    row: Callable[..., Measurement],
    ours: float,
    theirs: list[tuple[float, float, float]],
    exact: float,
    note: str,
    first: float,
) -> Measurement:
    angle, peer, built = theirs[0][0], min(r[1] for r in theirs), min(r[2] for r in theirs)
    gap = abs(angle - exact)
    if not gap <= ALLOWED:
        note = f"error of Exudyn's angle {gap:.1e} rad, more than {ALLOWED:g}: not timed"
        return row(ours_us=None, failed=True, note=note)
    note = notes(
        f"{note} and {gap:.1e} rad with steps of {OUR_STEP:g} and {EXUDYN_STEP:g} s",
        f"set-up {first - ours:.2g} s and {built:.2g} s",
    )
    return row(peer="Exudyn generalized-alpha", peer_us=1e6 * peer, value=peer / ours, note=note)


def _four_bars(loops: int, end: float, repeats: int) -> tuple[Run, float, float]:
    """Return a run of the library's four-bar linkages, the least time of its steps, and that of the first call [s]."""
    began = perf_counter()
    linkages = art.load("n_four_bar", n=loops)
    v0 = [1.0 if name.startswith("hinge") else -1.0 for name in linkages.joint_names]
    call = partial(art.simulate, linkages, end, v0=v0, step=OUR_STEP, sample=end, outputs=())
    run = call()
    first = perf_counter() - began
    return run, min(call().statistics["wall_seconds"] for _ in range(3 * repeats)), first


def exact_angle(loops: int, end: float) -> float:
    """Return the exact angle of the bars [rad]: (bars/3 + connectors) phi'' = (bars/2 + connectors) g sin phi."""
    bars, gravity = loops + 1, 9.81
    rate = gravity * (bars / 2 + loops) / (bars / 3 + loops)
    path = solve_ivp(
        lambda _, y: [y[1], rate * math.sin(y[0])], (0.0, end), [0.0, 1.0], "DOP853", rtol=1e-12, atol=1e-12
    )
    return float(path.y[0, -1])


# the first run of a process


def first_run(effort: Effort) -> Iterator[Measurement]:
    """Yield the time to the end of a first run of 1 s of 7 revolutes with PD, from an empty and from a filled cache."""
    with starter(RUN) as start:
        if not effort.quick:
            cold = start.cold(chain(7), ONE_STATE, 3)
            yield _first("cold first run", cold.imported + cold.first, cold.imported)
        warm = start.warm(chain(7), ONE_STATE, 1 if effort.quick else 5)
        yield _first("warm first run", warm.imported + warm.first, warm.imported)


def first_loops(effort: Effort) -> Iterator[Measurement]:
    """Yield the processor time after the import to the end of a first run of 0.1 s with closed loops, cache empty and filled."""
    sizes = (5,) if effort.quick else (10, 20, 40)
    platform = LibraryModel("stewart", art.load("stewart_platform"))
    rows = [LibraryModel(f"four_bars_{n}", art.load("n_four_bar", n=n)) for n in sizes]
    with starter(LOOPS) as start:
        if not effort.quick:
            yield _first_loops(
                "cold first run, Stewart platform", platform, start.cold(platform, ONE_STATE, 3), 3.0
            )
            times = [start.cold(each, ONE_STATE, 3) for each in rows]
            growth = exponent(sizes, [each.processor for each in times])
            name = f"cold first run, {sizes[-1]} four-bar loops"
            yield _first_loops(
                name, rows[-1], times[-1], 3.0, f"grows as n^{growth:.2f} from {sizes[0]} loops"
            )
        repeats = 1 if effort.quick else 5
        for name, each in (("Stewart platform", platform), (f"{sizes[-1]} four-bar loops", rows[-1])):
            yield _first_loops(f"warm first run, {name}", each, start.warm(each, ONE_STATE, repeats), 0.6)


def _first_loops(name: str, model: LibraryModel, start: Start, limit: float, note: str = "") -> Measurement:
    bar = FigureLimit(limit, at_least=False, unit="s")
    ours = 1e6 * start.processor
    return Measurement(
        name, model.mechanism.nv, ours_us=ours, value=start.processor, unit="s", bar=bar, note=note
    )


def _first(name: str, seconds: float, imported: float) -> Measurement:
    note = f"from the start of Python's imports; {imported:.2f} s of it the import"
    return Measurement(name, 7, ours_us=1e6 * seconds, value=seconds, unit="s", note=note)
