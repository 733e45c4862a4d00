"""Newton's method on the conditions of optimality of a `NonlinearProgram`: sparse, with exact derivatives, from a good start.

Unknowns x and multipliers are found together. Which inequalities hold as equations is told anew in every step by the signs of
multipliers and distances (primal-dual active set), so the method is Newton's on piecewise smooth equations. It needs a start near
the solution, such as one on a coarser mesh; multipliers need none, since they enter linearly. Second derivatives at the end tell minima
from other stationary points.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from articulus.motion.trajectory.ipopt import GOOD, Solution
from articulus.motion.trajectory.program import NonlinearProgram

MEMORY = 4
"""Residuals of how many steps a new one is compared with: it must be less than the largest."""
HALVINGS = 8
"""Most halvings of a step."""
TINY = 1e-12
"""Keeps the equations regular where constraints depend on each other or the cost has no curvature; the steps that follow mend it."""

STIFF, FLAT = 1e6, 1e-6
"""Weight of squared constraints, and negative second derivatives that still count as zero, over the largest of the Lagrangian."""


@dataclass(frozen=True, eq=False)
class _Scaled:
    """A program in unknowns over their sizes, bounds of unknowns among its constraints; each row over its largest derivative."""

    program: NonlinearProgram
    scale: np.ndarray
    rows: np.ndarray
    bounded: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @staticmethod
    def of(program: NonlinearProgram, start: np.ndarray) -> _Scaled:
        scale = program.scale if len(program.scale) else np.ones(program.size)
        bounded = np.flatnonzero(np.isfinite(program.lower) | np.isfinite(program.upper))
        largest = np.abs(_derivatives(program, start, scale)).max(axis=1).toarray().ravel()
        rows = 1 / np.where(largest > 0, largest, 1.0)
        sides = [
            np.concatenate([each * rows, (own / scale)[bounded]])
            for each, own in zip(program.bounds, (program.lower, program.upper))
        ]
        return _Scaled(program, scale, rows, bounded, *sides)

    def residuals(self, y: np.ndarray) -> np.ndarray:
        return np.concatenate([self.program.residuals(y * self.scale) * self.rows, y[self.bounded]])

    def gradient(self, y: np.ndarray) -> np.ndarray:
        return self.program.gradient(y * self.scale) * self.scale

    def jacobian(self, y: np.ndarray) -> sparse.csr_array:
        own = sparse.diags_array(self.rows) @ _derivatives(self.program, y * self.scale, self.scale)
        bounds = sparse.eye_array(len(y), format="csr")[self.bounded]
        return sparse.vstack([own, bounds], format="csr")

    def hessian(self, y: np.ndarray, multipliers: np.ndarray) -> sparse.csr_array:
        own = multipliers[: len(self.rows)] * self.rows
        half = _matrix(self.program.hessian_places[0], self.program.hessian(y * self.scale, 1.0, own))
        scale = sparse.diags_array(self.scale)
        whole = half + half.T - sparse.diags_array(half.diagonal())
        return scale @ whole @ scale

    def conditions(self, y: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """Return what is zero at a solution: the gradient of the Lagrangian, and constraints with their complementarity."""
        c = self.residuals(y)
        slope = self.gradient(y) + self.jacobian(y).T @ multipliers
        return np.concatenate(
            [
                slope / (1 + np.abs(multipliers).max(initial=0)),
                c - np.clip(c + multipliers, self.lower, self.upper),
            ]
        )

    def first_multipliers(self, y: np.ndarray) -> np.ndarray:
        """Return the multipliers of equations and of bounds that are met, by least squares."""
        c = self.residuals(y)
        met = np.minimum(np.abs(c - self.lower), np.abs(c - self.upper)) < 1e-6
        met |= self.lower == self.upper
        multipliers, A = np.zeros(len(c)), self.jacobian(y)[met]
        m = A.shape[0]
        K = sparse.block_array(
            [[sparse.eye_array(len(y)), A.T], [A, -TINY * sparse.eye_array(m)]], format="csc"
        )
        multipliers[met] = _solve_sparse(K, np.concatenate([-self.gradient(y), np.zeros(m)]))[len(y) :]
        wrong = (self.lower < self.upper) & np.where(
            c - self.lower < self.upper - c, multipliers > 0, multipliers < 0
        )
        return np.where(wrong, 0.0, multipliers)

    def step(self, y: np.ndarray, multipliers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the changes of unknowns and multipliers."""
        c, A = self.residuals(y), self.jacobian(y)
        aim = np.clip(c + multipliers, self.lower, self.upper)
        active = (aim != c + multipliers) | (self.lower == self.upper)
        keep, drop = (sparse.diags_array(side.astype(float)) for side in (active, ~active))
        H = self.hessian(y, multipliers) + TINY * sparse.eye_array(len(y))
        K = sparse.block_array([[H, A.T], [keep @ A, drop - TINY * keep]], format="csc")
        right = np.concatenate(
            [-(self.gradient(y) + A.T @ multipliers), np.where(active, aim - c, -multipliers)]
        )
        found = _solve_sparse(K, right)
        return found[: len(y)], found[len(y) :]

    def is_minimum(self, y: np.ndarray, multipliers: np.ndarray) -> bool:
        """Tell whether second derivatives are not negative along the constraints that hold.

        They are not if and only if those of the Lagrangian plus a large multiple of the squared constraints are not; the signs of the
        pivots of a factorization tell.
        """
        c, A, H = self.residuals(y), self.jacobian(y), self.hessian(y, multipliers)
        aim = np.clip(c + multipliers, self.lower, self.upper)
        held = A[(aim != c + multipliers) | (self.lower == self.upper)]
        size = max(float(np.abs(H.data).max(initial=0)), 1e-300)
        M = (H + size * (STIFF * (held.T @ held) + FLAT * sparse.eye_array(len(y)))).tocsc()
        factors = splu(M, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        return bool((factors.U.diagonal() > 0).all())


def _solve_sparse(K: sparse.csc_array, right: np.ndarray) -> np.ndarray:
    """Return the solution of sparse equations, not numbers if they have none."""
    try:
        return splu(K).solve(right)
    except RuntimeError:  # singular
        return np.full(len(right), np.nan)


def _derivatives(program: NonlinearProgram, x: np.ndarray, scale: np.ndarray) -> sparse.csr_array:
    return _matrix(program.jacobian_places[0], program.jacobian(x)) @ sparse.diags_array(scale)


def _matrix(shape: ca.Sparsity, values: np.ndarray) -> sparse.csr_array:
    size = shape.size1(), shape.size2()
    return sparse.csc_array((values, shape.row(), shape.colind()), shape=size).tocsr()


def newton(
    program: NonlinearProgram,
    start: np.ndarray,
    *,
    tolerance: float = 1e-8,
    iterations: int = 20,
    time_limit: float = 600.0,
    multipliers: tuple[np.ndarray, np.ndarray] | None = None,
) -> Solution:
    """Return what Newton's method makes of a program; its status shows whether it converged.

    Parameters
    ----------
    program : NonlinearProgram
    start : array, (n,)
        Near the solution.
    tolerance : float
        Tolerance of the conditions of optimality, unknowns over their sizes.
    iterations : int
        Most steps.
    time_limit : float [s]
        Wall-clock time.
    multipliers : (array, array)
        Multipliers of constraints and of bounds, to begin with; by least squares if not given.
    """
    begun = time.perf_counter()
    scaled = _Scaled.of(program, start)
    y = start / scaled.scale
    if multipliers is None:
        multipliers_now = scaled.first_multipliers(y)
    else:
        multipliers_now = np.concatenate(
            [multipliers[0] / scaled.rows, (multipliers[1] * scaled.scale)[scaled.bounded]]
        )
    sizes = [float(np.linalg.norm(scaled.conditions(y, multipliers_now)))]
    status = "Maximum_Iterations_Exceeded"
    while True:
        if np.abs(scaled.conditions(y, multipliers_now)).max(initial=0) <= tolerance:
            status = GOOD[0] if scaled.is_minimum(y, multipliers_now) else "Not_A_Minimum"
            break
        if len(sizes) > iterations:
            break
        if time.perf_counter() - begun > time_limit:
            status = "Maximum_WallTime_Exceeded"
            break
        dy, change = scaled.step(y, multipliers_now)
        taken = _length(scaled.conditions, y, multipliers_now, dy, change, max(sizes[-MEMORY:]))
        if not taken:
            status = "Search_Direction_Becomes_Too_Small"
            break
        y, multipliers_now = y + taken * dy, multipliers_now + taken * change
        sizes.append(float(np.linalg.norm(scaled.conditions(y, multipliers_now))))
    rows = len(scaled.rows)
    of_bounds = np.zeros(program.size)
    of_bounds[scaled.bounded] = multipliers_now[rows:]
    seconds = time.perf_counter() - begun
    x = y * scaled.scale
    return Solution(
        x,
        program.cost(x),
        multipliers_now[:rows] * scaled.rows,
        of_bounds / scaled.scale,
        status,
        len(sizes) - 1,
        seconds,
        np.nan,
    )


def _length(
    conditions: Callable[[np.ndarray, np.ndarray], np.ndarray],
    y: np.ndarray,
    multipliers: np.ndarray,
    dy: np.ndarray,
    change: np.ndarray,
    most: float,
) -> float:
    """Return the part of a step that makes the conditions smaller than `most`, 0 if none does."""
    if not (np.isfinite(dy).all() and np.isfinite(change).all()):
        return 0.0
    for k in range(HALVINGS + 1):
        part = 0.5**k
        with np.errstate(all="ignore"):  # a step too far may leave the functions' domain; it is halved then
            size = np.linalg.norm(conditions(y + part * dy, multipliers + part * change))
        if size < most:
            return part
    return 0.0
