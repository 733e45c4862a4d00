"""Staircase programs by HPIPM: an interior point method with a Riccati recursion over the stages (Frison & Diehl 2020), through CasADi."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np
import scipy.sparse as sp

from articulus.motion.trajectory.staircase.stages import Stage, StageSolution, starts

ENOUGH = 1e-7
"""Residual of the conditions of optimality, over the sizes of their terms, with which a solution counts as one."""
SETTINGS = {"iter_max": 100, "res_g_max": 1e-8, "res_b_max": 1e-9, "res_d_max": 1e-9, "res_m_max": 1e-9}


def solve_hpipm(stages: tuple[Stage, ...]) -> StageSolution:
    """Return the solution of a linear or quadratic program."""
    shortened = _without_last_inputs(stages)
    A, lower, upper = _rows(shortened)
    H = ca.diagcat(*(ca.DM.zeros(s.size, s.size) if s.H is None else ca.DM(s.H) for s in shortened))
    H = ca.project(H, ca.diagcat(*(ca.Sparsity.dense(s.size, s.size) for s in shortened)))
    pattern = ca.Sparsity(A.shape[0], A.shape[1], A.indptr.tolist(), A.indices.tolist())
    options: dict[str, Any] = {
        "N": len(shortened) - 1,
        "nx": [s.states for s in shortened],
        "nu": [s.size - s.states for s in shortened],
        "ng": [len(s.rows) for s in shortened],
        "print_time": False,
        "error_on_fail": False,
        "hpipm": SETTINGS,
    }
    solver = ca.conic("stages", "hpipm", {"h": H.sparsity(), "a": pattern}, options)
    low, high = (np.concatenate([getattr(s, side) for s in shortened]) for side in ("low", "high"))
    out = solver(
        h=H,
        g=np.concatenate([s.c for s in shortened]),
        a=ca.DM(pattern, A.data),
        lba=lower,
        uba=upper,
        lbx=low,
        ubx=high,
    )
    flat, multipliers, pull = (np.asarray(out[name]).ravel() for name in ("x", "lam_a", "lam_x"))
    value, at_rows = np.concatenate([s.c for s in shortened]), A @ flat
    curved = np.asarray(ca.mtimes(H, flat)).ravel()
    off = np.abs(curved + value + A.T @ multipliers + pull).max() / (1 + np.abs(value).max())
    size = 1 + abs(value @ flat) + abs(flat @ curved)
    rest = [off]
    for x, low_, high_, lam in ((at_rows, lower, upper, multipliers), (flat, low, high, pull)):
        rest.append(_broken(x, low_, high_))
        rest.append(_loose(x, low_, high_, lam) / size)
    return _solution(
        stages, shortened, flat, multipliers, int(solver.stats()["iter_count"]), float(max(rest))
    )


def _broken(x: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> float:
    """Return the largest violation of bounds, over their size."""
    size = 1 + np.maximum(*(np.where(np.isfinite(b), np.abs(b), 0.0) for b in (lower, upper)))
    return float((np.maximum(lower - x, x - upper) / size).max(initial=0.0))


def _loose(x: np.ndarray, lower: np.ndarray, upper: np.ndarray, multipliers: np.ndarray) -> float:
    """Return the sum of multipliers times distances from the bounds that they belong to."""
    away = np.where(multipliers > 0, upper - x, x - lower)
    with np.errstate(invalid="ignore"):
        each = np.abs(multipliers) * np.abs(away)
    return float(np.where(np.abs(multipliers) < 1e-12, 0.0, each).sum())


def _without_last_inputs(stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """Return stages whose last one has no inputs, as HPIPM wants it: they become states that inputs of the stage before set."""
    before, last = stages[-2:]
    extra = last.size - last.states
    if not extra:
        return stages
    n = before.size
    step = np.zeros((last.size, n + extra))
    step[: last.states, :n] = before.step
    step[last.states :, n:] = np.eye(extra)
    wider = Stage(
        before.states,
        np.concatenate([before.c, np.zeros(extra)]),
        step,
        np.concatenate([before.shift, np.zeros(extra)]),
        np.hstack([before.rows, np.zeros((len(before.rows), extra))]),
        before.lower,
        before.upper,
        np.concatenate([before.low, np.full(extra, -np.inf)]),
        np.concatenate([before.high, np.full(extra, np.inf)]),
        None if before.H is None else np.pad(before.H, (0, extra)),
    )
    end = Stage(
        last.size,
        last.c,
        rows=last.rows,
        lower=last.lower,
        upper=last.upper,
        low=last.low,
        high=last.high,
        H=last.H,
    )
    return (*stages[:-2], wider, end)


def _rows(stages: tuple[Stage, ...]) -> tuple[sp.csc_matrix, np.ndarray, np.ndarray]:
    """Return steps and rows of all stages, stage by stage, with all entries of their blocks; and their bounds."""
    at = starts(stages)
    i, j, values, lower, upper, first = [], [], [], [], [], 0
    for k, s in enumerate(stages):
        block = s.rows if s.step is None else np.vstack([s.step, s.rows])
        a, b = np.indices(block.shape).reshape(2, -1)
        i.append(first + a)
        j.append(at[k] + b)
        values.append(block.ravel())
        if s.step is not None:
            own = np.arange(len(s.step))
            i.append(first + own)
            j.append(at[k + 1] + own)
            values.append(-np.ones(len(own)))
            lower.append(-s.shift)
            upper.append(-s.shift)
        lower.append(s.lower)
        upper.append(s.upper)
        first += len(block)
    entries = sp.coo_matrix(
        (np.concatenate(values), (np.concatenate(i), np.concatenate(j))), shape=(first, int(at[-1]))
    )
    order = np.lexsort((entries.row, entries.col))
    A = sp.csc_matrix(entries.shape)
    A.data, A.indices = entries.data[order], entries.row[order]
    A.indptr = np.searchsorted(entries.col[order], np.arange(entries.shape[1] + 1))
    return A, np.concatenate(lower), np.concatenate(upper)


def _solution(
    stages: tuple[Stage, ...],
    held: tuple[Stage, ...],
    flat: np.ndarray,
    multipliers: np.ndarray,
    iterations: int,
    residual: float,
) -> StageSolution:
    at = starts(held)
    z = [flat[a:b] for a, b in pairwise(at)]
    z[-2] = z[-2][: stages[-2].size]
    count = [0 if s.step is None else len(s.step) for s in held]
    rows = np.split(multipliers, np.cumsum([c + len(s.rows) for c, s in zip(count, held)])[:-1])
    return StageSolution(
        stages,
        tuple(z),
        "solved" if residual < ENOUGH else "not converged",
        tuple(r[: len(s.step)] for r, s in zip(rows, stages[:-1])),
        tuple(r[c:] for r, c in zip(rows, count)),
        iterations,
        residual,
    )
