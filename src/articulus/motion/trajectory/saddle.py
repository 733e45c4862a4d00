"""Whether a search ended at a saddle of its program, and the direction that leads down from it.

At a local minimum the second derivatives of the Lagrangian, with z / gap of every bound, are positive along all changes that keep the
constraints (Nocedal & Wright 2006, chapters 12 and 19). From a symmetric guess Newton's steps stay symmetric, and end where the best
symmetric motion is, which a motion to either side of it may beat. The most negative curvature is found by Lanczos iterations with
the inverse of the shifted system: its part [K^-1]_xx has the eigenvalues 1 / (curvature + shift) along those changes, and zero else.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from scipy.sparse import bmat, csc_matrix, diags, eye
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, splu

from articulus.motion.trajectory.ipopt import Solution, cost_factor
from articulus.motion.trajectory.program import NonlinearProgram

SHIFTS = 1.0, 1e-2, 1e-4, 1e-6, 1e-7
"""Curvatures, over the largest second derivative, between which the most negative one is looked for; nearer to zero rounding and what the search left
make them."""
STIFF = 1e6
"""Stiffness of a bound, over the largest second derivative, from which on the unknown counts as held."""
LOOSE = 1e-10
"""Compliance of the constraints, so that those which follow from others do no harm."""
STEPS = 40
"""Most Lanczos vectors."""
FULL = 10
"""Entries of a column, over the usual number, from which on it is taken as full."""


def descent(program: NonlinearProgram, solution: Solution) -> np.ndarray | None:
    """Return a change of x along which the constraints hold and the cost curves down, its largest entry over the unknowns' sizes 1; None at a minimum."""
    scale = program.scale if len(program.scale) else np.ones(program.size)
    factor = cost_factor(program, solution.x)
    W, J = _derivatives(program, solution, scale, factor)
    most = float(np.abs(W.data).max(initial=0.0))
    if most == 0:
        return None
    stiffness = _bounds(program, solution, scale, factor)
    lower, upper = program.bounds
    free = np.flatnonzero((program.lower < program.upper) & (stiffness < STIFF * most))
    held = np.flatnonzero((lower == upper) | _pressing(program, solution))
    W = W[free][:, free] / most + diags(stiffness[free] / most)
    J = J[held][:, free]
    J = diags(1 / np.maximum(np.abs(J).max(1).toarray().ravel(), 1e-300)) @ J
    return _direction(W, J, free, scale)


def _direction(W: csc_matrix, J: csc_matrix, free: np.ndarray, scale: np.ndarray) -> np.ndarray | None:
    """Return the change of x with the most negative curvature: below the first shift that has any, and above the one before."""
    for before, shift in itertools.pairwise(SHIFTS):
        d = _extreme(W, J, shift, "SA")
        if d is not None and _curvature(W, J, d) < -shift:
            most = _extreme(W, J, before, "LA")
            if most is not None and _curvature(W, J, most) < -shift:
                d = most
            whole = np.zeros(len(scale))
            whole[free] = d / np.abs(d).max()
            return whole * scale
    return None


def _extreme(W: csc_matrix, J: csc_matrix, shift: float, which: str) -> np.ndarray | None:
    """Return the change of free unknowns for which 1 / (curvature + shift) is smallest ("SA") or largest ("LA")."""
    n, m = W.shape[0], J.shape[0]
    if n <= 2:
        return None
    whole = _border(bmat([[W + shift * eye(n), J.T], [J, -LOOSE * eye(m)]]).tocsc())

    def solve(x: np.ndarray) -> np.ndarray:
        return whole(np.concatenate([np.ravel(x), np.zeros(m)]))[:n]

    begin, most = np.random.default_rng(0).standard_normal(n), min(n, STEPS)
    inverse = LinearOperator((n, n), matvec=solve)
    try:
        _, found = eigsh(inverse, 1, which=which, v0=solve(begin), ncv=most, maxiter=2, tol=1e-2)
    except ArpackError:  # nothing stands out
        return None
    return solve(found[:, 0])  # once more: along the constraints to rounding


def _border(K: csc_matrix) -> Callable[[np.ndarray], np.ndarray]:
    """Return the solution of a sparse symmetric system whose few full columns, such as that of the duration, are eliminated last."""
    count = np.diff(K.indptr)
    full = np.flatnonzero(count > FULL * np.median(count))
    thin = np.setdiff1d(np.arange(len(count)), full)
    factors, border = splu(K[thin][:, thin].tocsc()), K[thin][:, full].toarray()
    behind = factors.solve(border)
    rest = K[full][:, full].toarray() - border.T @ behind

    def solve(b: np.ndarray) -> np.ndarray:
        x = np.empty(len(b))
        first = factors.solve(b[thin])
        x[full] = np.linalg.solve(rest, b[full] - border.T @ first)
        x[thin] = first - behind @ x[full]
        return x

    return solve


def _curvature(W: csc_matrix, J: csc_matrix, d: np.ndarray) -> float:
    """Return the curvature along a change; nothing if it does not keep the constraints."""
    off = float(np.abs(J @ d).max(initial=0.0))
    return float(d @ (W @ d)) / float(d @ d) if off <= 1e-6 * float(np.abs(d).max()) else 0.0


def _derivatives(
    program: NonlinearProgram, solution: Solution, scale: np.ndarray, factor: float
) -> tuple[csc_matrix, csc_matrix]:
    """Return second derivatives of the Lagrangian and first ones of the constraints, by x over its sizes."""
    n, m = program.size, int(program.first_rows[-1])
    pattern = program.jacobian_places[0]
    J = csc_matrix((program.jacobian(solution.x), pattern.row(), pattern.colind()), (m, n)) @ diags(scale)
    pattern = program.hessian_places[0]
    values = program.hessian(solution.x, factor, factor * solution.multipliers)
    U = diags(scale) @ csc_matrix((values, pattern.row(), pattern.colind()), (n, n)) @ diags(scale)
    return (U + U.T - diags(U.diagonal())).tocsc(), J.tocsr()


def _bounds(program: NonlinearProgram, solution: Solution, scale: np.ndarray, factor: float) -> np.ndarray:
    """Return the stiffness z / gap of the bounds, by x over its sizes."""
    z = np.abs(solution.bound_multipliers) * factor * scale
    gap = np.minimum(solution.x - program.lower, program.upper - solution.x) / scale
    return z / np.maximum(gap, 1e-12)


def _pressing(program: NonlinearProgram, solution: Solution) -> np.ndarray:
    """Return which inequalities hold the motion: their multipliers are larger than what is left to their bounds."""
    lower, upper = program.bounds
    rows = program.residuals(solution.x)
    gap = np.minimum(rows - lower, upper - rows)
    return np.abs(solution.multipliers) > np.maximum(gap, 0.0)
