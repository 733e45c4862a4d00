"""`solve_stages`: staircase linear and quadratic programs, by the method of choice; infeasible ones are told by stage and row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from articulus.errors import InputError, did_you_mean
from articulus.motion.trajectory.points import numbers
from articulus.motion.trajectory.staircase.active_set import solve_active_set
from articulus.motion.trajectory.staircase.conic import solve_hpipm
from articulus.motion.trajectory.staircase.interior import solve_interior
from articulus.motion.trajectory.staircase.stages import (
    RowViolation,
    Stage,
    StageSolution,
    check_stages,
    entry,
    row_matrix,
    starts,
    step_matrix,
)

KEPT = 1e-7
"""Violation of a row over the size of its bound, above which a program counts as infeasible."""
GIVEN = 1e3
"""Weight of violations of unknowns with equal bounds, when the least violation is looked for."""
METHODS = ("interior_point", "hpipm", "active_set")


def solve_stages(
    stages: Sequence[Stage], method: str = "interior_point", *, guess: Sequence[Any] | None = None
) -> StageSolution:
    """Return the solution of a staircase program.

    Parameters
    ----------
    stages : sequence of Stage
    method : str
        "interior_point" (banded, any program; the time grows with the number of stages), "hpipm" (through CasADi; the fastest to about
        30 stages, beyond that CasADi's preparation, which grows with their square, takes longer) or "active_set" (the L1 method of
        Psiaki 1989, linear programs: exact vertices, a start from any guess).
    guess : sequence of array
        For "active_set": unknowns of each stage.

    Returns
    -------
    StageSolution
        Asking for the cost of one that is not solved raises, and says which rows of which stages cannot be kept, and by how much.
    """
    every = check_stages(stages)
    if method not in METHODS:
        raise InputError(f"solve_stages: found method '{method}'; {did_you_mean(method, METHODS)}")
    if guess is not None:
        if method != "active_set":
            raise InputError(
                f'solve_stages: found a guess for method "{method}"; expected one for "active_set" alone'
            )
        arrays = [numbers(g, "solve_stages: guess") for g in guess]
        if [a.shape for a in arrays] != [(s.size,) for s in every] or not all(
            np.isfinite(a).all() for a in arrays
        ):
            raise InputError(
                "solve_stages: found a guess of other sizes than the stages, or not finite; expected an array of numbers per stage"
            )
    if method == "active_set":
        return solve_active_set(every, guess)
    found = solve_interior(every) if method == "interior_point" else solve_hpipm(every)
    return found if found.ok else _diagnose(found)


def _diagnose(found: StageSolution) -> StageSolution:
    """Return why there is no solution: rows that cannot be kept together, a cost without a bound, or neither."""
    stages = found.stages
    z, violations = _least_violation(stages)
    if violations:
        return replace(found, status="infeasible", z=z, violations=violations)
    if not any(s.H is not None and np.any(s.H) for s in stages) and _is_unbounded(stages):
        return replace(found, status="unbounded: the cost falls without end")
    return found


def _least_violation(stages: tuple[Stage, ...]) -> tuple[tuple[np.ndarray, ...], tuple[RowViolation, ...]]:
    """Return the unknowns that keep all steps, and rows and bounds best in the sum of violations over the sizes of rows."""
    n = int(starts(stages)[-1])
    every = sp.vstack([row_matrix(stages), sp.identity(n)], format="csr")
    lower, upper = _bounds(stages)
    size = np.maximum(1.0, np.maximum(*(np.where(np.isfinite(b), np.abs(b), 0.0) for b in (lower, upper))))
    m = every.shape[0]
    # what is given, such as the start, is kept as long as anything else can give way
    fixed = np.concatenate([np.zeros(m - n, dtype=bool), (lower == upper)[m - n :]])
    slack = sp.identity(m, format="csr")
    low, high = np.isfinite(lower), np.isfinite(upper)
    steps = step_matrix(stages)
    answer = linprog(
        np.concatenate([np.zeros(n), np.where(fixed, GIVEN, 1.0) / size]),
        A_ub=sp.vstack([sp.hstack([every, -slack])[high], sp.hstack([-every, -slack])[low]], format="csr"),
        b_ub=np.concatenate([upper[high], -lower[low]]),
        A_eq=sp.hstack([steps, sp.csr_matrix((steps.shape[0], m))], format="csr"),
        b_eq=-np.concatenate([s.shift for s in stages[:-1]]),
        bounds=np.column_stack([np.repeat([-np.inf, 0.0], [n, m]), np.full(n + m, np.inf)]),
        method="highs",
    )
    z, off = answer.x[:n], answer.x[n:]
    at = starts(stages)
    parts = tuple(z[a:b] for a, b in pairwise(at))
    violations = [
        RowViolation(*_where(stages, int(i)), float(off[i])) for i in np.flatnonzero(off > KEPT * size)
    ]
    return parts, tuple(sorted(violations, key=lambda v: -v.amount))


def _bounds(stages: tuple[Stage, ...]) -> tuple[np.ndarray, np.ndarray]:
    return (
        np.concatenate([*(s.lower for s in stages), *(s.low for s in stages)]),
        np.concatenate([*(s.upper for s in stages), *(s.high for s in stages)]),
    )


def _where(stages: tuple[Stage, ...], i: int) -> tuple[int, str]:
    """Return the stage and the name of a row, or of a bound after all rows."""
    for counts, name in (
        ([len(s.rows) for s in stages], lambda s, j: s.name(j)),
        ([s.size for s in stages], entry),
    ):
        at = np.cumsum([0, *counts])
        if i < at[-1]:
            k = int(np.searchsorted(at, i, side="right")) - 1
            return k, name(stages[k], i - int(at[k]))
        i -= int(at[-1])
    raise AssertionError("no such row")


def _is_unbounded(stages: tuple[Stage, ...]) -> bool:
    rows, steps = row_matrix(stages), step_matrix(stages)
    lower, upper = (np.concatenate([getattr(s, side) for s in stages]) for side in ("lower", "upper"))
    low, high = np.isfinite(lower), np.isfinite(upper)
    answer = linprog(
        np.concatenate([s.c for s in stages]),
        A_ub=sp.vstack([rows[high], -rows[low]], format="csr"),
        b_ub=np.concatenate([upper[high], -lower[low]]),
        A_eq=steps,
        b_eq=-np.concatenate([s.shift for s in stages[:-1]]),
        bounds=np.column_stack(
            [np.concatenate([getattr(s, side) for s in stages]) for side in ("low", "high")]
        ),
        method="highs",
    )
    return bool(answer.status == 3)
