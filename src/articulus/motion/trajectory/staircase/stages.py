"""`Stage` and `StageSolution`: linear and quadratic programs whose unknowns come in stages that only touch their neighbors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from articulus.errors import InputError, NumericalError
from articulus.motion.trajectory.points import numbers

ANY = -1
"""Stands for any length in a shape."""


def _with_shape(name: str, given: Any, *shapes: tuple[int, ...]) -> np.ndarray:
    """Return numbers of one of some shapes; raise InputError for others."""
    found = numbers(given, f"Stage.{name}")
    for shape in shapes:
        if found.ndim == len(shape) and all(m in (k, ANY) for k, m in zip(found.shape, shape)):
            return found
    expected = " or ".join(str(shape).replace("-1", "any") for shape in shapes)
    raise InputError(f"Stage.{name}: found shape {found.shape}; expected {expected}")


@dataclass(frozen=True, eq=False)
class Stage:
    """One stage of a program: unknowns z = (x, u), x the states that the stage before leads to, u what may be chosen.

    The cost is c . z + z' H z / 2; the states of the next stage are `step` z + `shift`; lower <= rows z <= upper and low <= z <= high.

    Parameters
    ----------
    states : int
        Number of states; the other entries of z are inputs.
    c : array, (n,)
        Its length is that of z.
    step : array, (states of the next stage, n)
        None for the last stage alone.
    shift : array
        Zeros if not given.
    rows : array, (m, n)
    lower, upper : array, (m,)
        Numbers hold for all rows; equal bounds make an equation; infinite ones are none.
    low, high : array, (n,)
        Bounds of z. A given start is a first stage with equal bounds of its states.
    H : array, (n, n)
        Symmetric and positive semidefinite; None for a linear program.
    names : tuple of str
        Names of the rows, for messages.
    """

    states: int
    c: Any
    step: Any = None
    shift: Any = None
    rows: Any = None
    lower: Any = -np.inf
    upper: Any = np.inf
    low: Any = -np.inf
    high: Any = np.inf
    H: Any = None
    names: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        put("c", _with_shape("c", np.atleast_1d(numbers(self.c, "Stage.c")), (ANY,)))
        n = self.size
        put("rows", np.zeros((0, n)) if self.rows is None else _with_shape("rows", self.rows, (ANY, n)))
        for name, size in (("lower", len(self.rows)), ("upper", len(self.rows)), ("low", n), ("high", n)):
            put(name, np.broadcast_to(_with_shape(name, getattr(self, name), (size,), ()), (size,)))
        if self.step is not None:
            put("step", _with_shape("step", self.step, (ANY, n)))
            after = len(self.step)
            given = 0.0 if self.shift is None else self.shift
            put("shift", np.broadcast_to(_with_shape("shift", given, (after,), ()), (after,)))
        if self.H is not None:
            put("H", _with_shape("H", self.H, (n, n)))
        if not 0 <= self.states <= n:
            raise InputError(f"Stage: found {self.states} states; expected 0 to {n}, the length of c")

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return len(self.c)

    def name(self, row: int) -> str:
        """Return the name of a row."""
        return f"'{self.names[row]}'" if row < len(self.names) else f"row {row}"


@dataclass(frozen=True)
class RowViolation:
    """A row or a bound that is not kept: at which stage, which one, and by how much (in its own unit)."""

    stage: int
    what: str
    amount: float

    def __str__(self) -> str:
        return f"stage {self.stage}, {self.what}: off by {self.amount:.4g}"


@dataclass(frozen=True, eq=False)
class StageSolution:
    """What was found.

    Parameters
    ----------
    stages : tuple of Stage
    z : tuple of array
        Unknowns of each stage.
    status : str
        "solved", "infeasible", "unbounded" or what the solver said.
    prices : tuple of array
        Multipliers of the step out of each stage: derivative of the cost by `shift`.
    pressures : tuple of array
        Multipliers of the rows of each stage, positive at upper bounds.
    iterations : int
    residual : float
        What the conditions of optimality lack, over the sizes of their terms.
    violations : tuple of RowViolation
        Violations of the motion that keeps rows and bounds best, if not all can be kept; largest first.
    """

    stages: tuple[Stage, ...]
    z: tuple[np.ndarray, ...]
    status: str
    prices: tuple[np.ndarray, ...]
    pressures: tuple[np.ndarray, ...]
    iterations: int
    residual: float
    violations: tuple[RowViolation, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether this is a solution."""
        return self.status == "solved"

    def require(self) -> None:
        """Raise if this is no solution."""
        if self.ok:
            return
        listed = "\n  ".join(map(str, self.violations[:10]))
        kept = f"; nothing nearer to the limits exists than with\n  {listed}" if listed else ""
        raise NumericalError(f"staircase program: {self.status} after {self.iterations} iterations{kept}")

    @cached_property
    def cost(self) -> float:
        """Least cost; raises if it was not found."""
        self.require()
        return cost_of(self.stages, self.z)

    @property
    def x(self) -> list[np.ndarray]:
        """States of each stage."""
        return [z[: s.states] for s, z in zip(self.stages, self.z)]

    @property
    def u(self) -> list[np.ndarray]:
        """Inputs of each stage."""
        return [z[s.states :] for s, z in zip(self.stages, self.z)]


def cost_of(stages: Sequence[Stage], z: Sequence[np.ndarray]) -> float:
    """Return the cost of unknowns."""
    linear = sum(float(s.c @ each) for s, each in zip(stages, z))
    return linear + sum(0.5 * float(each @ s.H @ each) for s, each in zip(stages, z) if s.H is not None)


def check_stages(stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """Return the stages, after a look at their sizes and bounds."""
    out = tuple(stages)
    if len(out) < 2:
        raise InputError(f"staircase program: found {len(out)} stages; expected 2 or more")
    for k, (stage, after) in enumerate(zip(out, (*out[1:], None))):
        if after is None:
            if stage.step is not None:
                raise InputError(f"stage {k}: found a step after the last stage; expected None")
        elif stage.step is None or len(stage.step) != after.states or len(stage.shift) != after.states:
            problems = (
                "no step"
                if stage.step is None
                else f"a step to {len(stage.step)} states, a shift of {len(stage.shift)}"
            )
            raise InputError(
                f"stage {k}: found {problems}; expected {after.states} states, those of stage {k + 1}"
            )
    if not _in_order(out):
        for k, stage in enumerate(out):
            _look(stage, k)
    for k, stage in enumerate(out):
        if stage.H is not None:
            _convex(stage, k)
    return out


def _in_order(stages: tuple[Stage, ...]) -> bool:
    """Return whether all numbers are finite and all bounds have a number between; one look at all stages costs little."""
    given = [getattr(s, name) for s in stages for name in ("c", "step", "shift", "rows", "H")]
    finite = np.isfinite(np.concatenate([a.ravel() for a in given if a is not None])).all()
    lower, upper = (
        np.concatenate([getattr(s, name) for s in stages for name in names])
        for names in (("lower", "low"), ("upper", "high"))
    )
    return bool(finite and _between(lower, upper).all())


def _between(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return for which bounds there is a number between."""
    return (lower <= upper) & (lower < np.inf) & (upper > -np.inf)


def _look(stage: Stage, k: int) -> None:
    for name in ("c", "step", "shift", "rows", "H"):
        if not np.all(np.isfinite(0.0 if getattr(stage, name) is None else getattr(stage, name))):
            raise InputError(f"stage {k}: found entries of {name} that are not finite; expected numbers")
    named: list[tuple[np.ndarray, np.ndarray, Callable[[int], str]]] = [
        (stage.lower, stage.upper, stage.name),
        (stage.low, stage.high, lambda i: entry(stage, i)),
    ]
    for lower, upper, name_of in named:
        for i in np.flatnonzero(~_between(lower, upper)):
            raise InputError(
                f"stage {k}, {name_of(int(i))}: found bounds {lower[i]:g} and {upper[i]:g}; expected the lower one first, and a number between"
            )


def _convex(stage: Stage, k: int) -> None:
    least = np.linalg.eigvalsh((stage.H + stage.H.T) / 2)[0] if stage.size else 0.0
    size = np.abs(stage.H).max(initial=0.0)
    if np.abs(stage.H - stage.H.T).max(initial=0.0) > 1e-9 * size or least < -1e-9 * size:
        raise InputError(
            f"stage {k}: found a matrix H with the least eigenvalue {least:.3g}; expected a symmetric, positive semidefinite one. "
            "Only convex programs have one best answer"
        )


def entry(stage: Stage, i: int) -> str:
    """Return the name of an unknown."""
    return f"bounds of x[{i}]" if i < stage.states else f"bounds of u[{i - stage.states}]"


def starts(stages: Sequence[Stage]) -> np.ndarray:
    """Return the place of each stage's first unknown, and the number of all."""
    return np.cumsum([0, *(s.size for s in stages)])


def runs(first: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return first_0, first_0 + 1, ... (as many as the first length says), first_1, first_1 + 1, ..."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(first - (ends - lengths), lengths)


def block_diagonal(blocks: Sequence[np.ndarray]) -> sp.csr_matrix:
    """Return a sparse matrix of blocks on its diagonal, without their zeros."""
    heights, widths = np.array([b.shape for b in blocks]).T
    right = np.cumsum(widths)
    lengths = np.repeat(widths, heights)
    out = sp.csr_matrix(
        (
            np.concatenate([b.ravel() for b in blocks]),
            runs(np.repeat(right - widths, heights), lengths),
            np.concatenate([[0], np.cumsum(lengths)]),
        ),
        shape=(heights.sum(), right[-1]),
    )
    out.eliminate_zeros()
    return out


def row_matrix(stages: Sequence[Stage]) -> sp.csr_matrix:
    """Return all rows in one sparse matrix, without steps."""
    return block_diagonal([s.rows for s in stages])


def step_matrix(stages: Sequence[Stage]) -> sp.csr_matrix:
    """Return the matrix of all steps: step z_k - x_(k+1)."""
    ahead = block_diagonal([*(s.step for s in stages[:-1]), np.zeros((0, stages[-1].size))])
    columns = runs(starts(stages)[1:-1], np.array([s.states for s in stages[1:]]))
    reached = sp.csr_matrix((np.ones(len(columns)), columns, np.arange(len(columns) + 1)), shape=ahead.shape)
    return ahead - reached
