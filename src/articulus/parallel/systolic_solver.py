"""Feed-forward systolic solver of A x = b, cycle by cycle: elimination without back substitution.

[A' I] is brought to upper triangular form row by row; each row is at once used to eliminate -b' from a last row [-b' 0], in which
x' then stands: y' = b' U^-1 ..., x' = y' L^-1 .... The array has a cell for every pair of rows, and each cell knows its neighbors alone.

Source: Wong 1991, section 4.5, after Jainandunsing and Deprettere. "lu" eliminates, "qr" rotates: no pivot is divided by, so that
matrices that are not definite are solved too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from articulus.errors import InputError, NumericalError
from articulus.parallel.animation import CellWork, animate

Value = float | None


@dataclass(frozen=True, eq=False)
class SolverRun:
    """What the array computed, and when.

    Attributes
    ----------
    x : ndarray (n,)
        Solution.
    cycles : tuple of int
        Cycle at whose beginning each component leaves the array, from 1.
    residue : float
        Largest number that leaves the array where zeros should: a check that it carries with it.
    cells : int
        Cells that compute; those that pass on the pivot row are besides n.
    work : tuple of CellWork
        What each cell does when: level and row of the matrix, from 0.
    """

    x: np.ndarray
    cycles: tuple[int, ...]
    residue: float
    cells: int
    work: tuple[CellWork, ...] = ()

    def animation(self, cycle_duration: float = 1.0) -> str:
        """Return an animated SVG picture: which cell does what, one cycle after the other.

        Rows of the picture are levels, a pivot each; columns are the rows of the array's input, the last of which holds the solution.

        Parameters
        ----------
        cycle_duration : float [s]
            Time for which a cycle is shown.
        """
        places = sorted({(each.row, each.column) for each in self.work})
        heads = [f"row {k + 1}" for k in range(len(self.x))] + ["solution"]
        return animate(places, self.work, max(each.end for each in self.work), cycle_duration, heads)


class _Cell:
    """A cell: pivot stream from the west, row stream from the north, one number of each in a cycle."""

    def __init__(self, pivot: int, rotate: bool):
        self.pivot, self.rotate = pivot, rotate
        self.seen = 0
        self.c, self.s = 1.0, 0.0

    def step(self, x: float, y: float) -> tuple[float, float]:
        """Return what goes east and what goes south."""
        self.seen += 1
        if self.seen < self.pivot:
            return x, 0.0 * y
        if self.seen == self.pivot:
            self._angle(x, y)
        if self.rotate:
            return self.c * x + self.s * y, self.c * y - self.s * x
        return x, y + self.s * x

    def doing(self) -> str:
        """Return in a word what the last step was."""
        if self.seen < self.pivot:
            return "zero"
        if self.seen == self.pivot:
            return "angle" if self.rotate else "ratio"
        return "rotates" if self.rotate else "adds"

    def _angle(self, x: float, y: float) -> None:
        if self.rotate:
            r = math.hypot(x, y)
            self.c, self.s = (x / r, y / r) if r else (1.0, 0.0)
        elif x == 0.0:
            raise NumericalError(
                "systolic solver: a pivot is zero; expected a definite matrix, or variant 'qr'"
            )
        else:
            self.s = -y / x


def solve_systolic(A: Any, b: Any, variant: Literal["lu", "qr"] = "lu") -> SolverRun:
    """Return the solution of A x = b as the array computes it, cycle by cycle.

    Parameters
    ----------
    A : array_like (n, n)
    b : array_like (n,)
    variant : {"lu", "qr"}

    Returns
    -------
    SolverRun
        With "lu" the solution leaves at cycles 3 n + 1 to 4 n. With "qr" the last row is scaled; its scale leaves one cycle later, at
        4 n + 1, and divides the others.
    """
    A, b = np.asarray(A, dtype=float), np.asarray(b, dtype=float)
    n = len(b)
    if n < 1 or A.shape != (n, n) or b.shape != (n,) or not (np.isfinite(A).all() and np.isfinite(b).all()):
        raise InputError(f"A {A.shape}, b {b.shape}; expected finite numbers, (n, n) and (n,)")
    if variant not in ("lu", "qr"):
        raise InputError(f"variant {variant!r}; expected 'lu' or 'qr'")
    rotate = variant == "qr"
    rows = np.block([[A.T, np.eye(n), np.zeros((n, 1))], [-b[None], np.zeros((1, n)), np.ones((1, 1))]])
    width = 2 * n + rotate
    out, work = _run(rows[:, :width], n, rotate)
    found = np.array([value for _, value in out[n : 2 * n]])
    scale = out[2 * n][1] if rotate else 1.0
    if rotate and abs(scale) < 1e-14 * np.abs(found).max(initial=0.0):
        raise NumericalError("systolic solver: the matrix is singular to rounding")
    residue = max((abs(value) for _, value in out[:n]), default=0.0)
    cycles = tuple(cycle for cycle, _ in out[n : 2 * n])
    return SolverRun(found / scale, cycles, residue, n * (n + 1) // 2, tuple(work))


def _run(rows: np.ndarray, n: int, rotate: bool) -> tuple[list[tuple[int, float]], list[CellWork]]:
    """Return what leaves at the bottom of the last level, with the cycle at whose beginning it does, and what the cells do.

    Registers between cells are read at the beginning of a cycle and written at its end.
    """
    cells = {(j, k): _Cell(j + 1, rotate) for j in range(n) for k in range(j + 1, n + 1)}
    east: dict[tuple[int, int], Value] = {}
    south: dict[tuple[int, int], Value] = {}
    out: list[tuple[int, float]] = []
    work: list[CellWork] = []
    cycle = 0
    while len(out) < rows.shape[1]:
        cycle += 1
        new_east, new_south = dict[tuple[int, int], Value](), dict[tuple[int, int], Value]()
        for j in range(n):
            for k in range(j, n + 1):
                i = cycle - 1 - k
                entering = float(rows[k, i]) if 0 <= i < rows.shape[1] else None
                y = entering if j == 0 else south.get((j - 1, k))
                if y is None:
                    continue
                if k == j:
                    new_east[j, k] = y  # the row that has come this far is the pivot of its level
                    work.append(CellWork(j, k, cycle, cycle, f"passes {i - j + 1}"))
                    continue
                x = east.get((j, k - 1))
                assert x is not None
                cell = cells[j, k]
                new_east[j, k], new_south[j, k] = cell.step(x, y)
                work.append(CellWork(j, k, cycle, cycle, cell.doing()))
        east, south = new_east, new_south
        last = south.get((n - 1, n))
        if last is not None:
            out.append((cycle + 1, last))
    return out, work
