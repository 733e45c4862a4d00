"""Rows of staircase linear programs: six states, three inputs, 100 to 3000 stages."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort
from articulus.bench.timing import Contender, race
from articulus.motion.trajectory.staircase import Stage, solve_stages
from articulus.motion.trajectory.staircase.stages import row_matrix, step_matrix

STATES, INPUTS = 6, 3


def program(count: int) -> list[Stage]:
    """Return a random linear program with bounds of all unknowns and two rows per stage."""
    random = np.random.default_rng(0)
    F = random.normal(size=(STATES, STATES))
    step = np.hstack([F * 1.02 / np.abs(np.linalg.eigvals(F)).max(), random.normal(size=(STATES, INPUTS))])
    out = []
    for k in range(count + 1):
        last = k == count
        n = STATES if last else STATES + INPUTS
        high = np.repeat([3.0, 1.0], [STATES, n - STATES])
        low = -high
        if k == 0:
            low[:STATES] = high[:STATES] = random.uniform(-1, 1, STATES)
        shift = 0.1 * random.normal(size=STATES)
        costs, rows = random.normal(size=n), random.normal(size=(2, n))
        out.append(
            Stage(STATES, costs, None if last else step, None if last else shift, rows, -2.0, 2.0, low, high)
        )
    return out


def highs(stages: list[Stage]) -> float:
    """Return the least cost by HiGHS."""
    rows = row_matrix(stages)
    lower, upper, low, high = (
        np.concatenate([getattr(s, a) for s in stages]) for a in ("lower", "upper", "low", "high")
    )
    answer = linprog(
        np.concatenate([s.c for s in stages]),
        A_ub=sp.vstack([rows, -rows]),
        b_ub=np.concatenate([upper, -lower]),
        A_eq=step_matrix(stages),
        b_eq=-np.concatenate([s.shift for s in stages[:-1]]),
        bounds=np.column_stack([low, high]),
        method="highs",
    )
    return float(answer.fun)


def programs(effort: Effort) -> Iterator[Measurement]:
    """Yield the whole solution by the banded interior point beside HiGHS and HPIPM, and how its time grows with the number of stages."""
    counts = (20, 60) if effort.quick else (100, 3000)
    times = []
    for count in counts:
        stages = program(count)
        ours = solve_stages(stages).cost
        other = highs(stages)
        ways = [
            Contender("articulus", partial(solve_stages, stages)),
            Contender("HiGHS", partial(highs, stages)),
        ]
        if count <= 300:
            ways.append(Contender("HPIPM", partial(solve_stages, stages, "hpipm")))
        found = race(ways, effort.seconds, min(effort.rounds, 3))
        times.append(found[0])
        hpipm = f"; HPIPM through CasADi {1e-3 * found[2]:.0f} ms" if count <= 300 else ""
        yield Measurement(
            f"staircase linear program, {count} stages",
            STATES,
            found[0],
            peer="HiGHS",
            peer_us=found[1],
            value=found[1] / found[0],
            failed=abs(ours - other) > 1e-7 * (1 + abs(other)),
            note=f"six states, three inputs{hpipm}",
        )
    yield Measurement(
        f"staircase linear program, growth from {counts[0]} to {counts[1]} stages",
        STATES,
        value=float(np.log(times[1] / times[0]) / np.log(counts[1] / counts[0])),
        unit="",
        bar=None if effort.quick else FigureLimit(1.1, at_least=False, unit=""),
        note="exponent of the number of stages",
    )
