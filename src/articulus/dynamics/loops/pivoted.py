"""Independent velocities chosen anew at every evaluation: Gauss and Jordan's elimination with full pivoting, on symbols.

Each stage takes the largest entry that is left (rows scaled by their size, columns by the root of the mass they move) as
pivot. Rows and columns are never exchanged: vectors of zeros and a one select them, so that the same straight-line code
serves whatever partition is best, in every lane of a batch. After r stages, r the rank,

    T G = R,   R has one column of the identity for each dependent velocity
    v = N v + particular,   N = 1 - F R    N v rests on the independent velocities alone

with F the selectors of the dependent velocities, (nv, r). Stages beyond the rank do nothing.

Source: Wehage & Haug 1982 (generalized coordinate partitioning); Nikravesh, Gim, Arabyan & Rein 1989, equations 16-26.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.dynamics.loops.base import ConstraintProblem, ConstraintSolution
from articulus.dynamics.loops.factor import solve

RANK_TOLERANCE = 1e-9
"""Part of the first pivot below which nothing is left to eliminate."""
ROW_FLOOR = 1e-12
"""Part of all squares that every row is scaled with at least: a row of zeros (switched off) has finite derivatives."""


@dataclass(frozen=True)
class Pivoted:
    """What the elimination leaves.

    Parameters
    ----------
    F : SX, (nv, stages)
        Selectors of the dependent velocities; a column of zeros for a stage beyond the rank.
    R : SX, (stages, nv)
        Reduced rows.
    T : SX, (stages, m)
        Combinations of the rows of G that make them.
    """

    F: SX
    R: SX
    T: SX

    @property
    def basis(self) -> SX:
        """N, (nv, nv): columns of dependent velocities are zero, G N = 0."""
        return SX.eye(self.R.shape[1]) - ca.mtimes(self.F, self.R)

    def following(self, wanted: SX) -> SX:
        """Return x with G x + wanted = 0 and zero independent part, (nv,)."""
        return -ca.mtimes(self.F, ca.mtimes(self.T, wanted))


def pivoted_elimination(M: SX, G: SX) -> Pivoted:
    """Return the elimination of G, (m, nv); the diagonal of M makes velocities of different units comparable."""
    m, n = G.shape
    columns = 1 / ca.sqrt(ca.diag(M))
    A = ca.mtimes(ca.densify(G), ca.diag(columns))
    squares = ca.sum2(A**2)
    rows = 1 / ca.sqrt(squares + ROW_FLOOR * ca.sum1(squares) + 1e-100)
    A, T = ca.mtimes(ca.diag(rows), A), ca.densify(ca.diag(rows))
    kept: list[tuple[SX, SX, SX]] = []
    first = SX(0)
    for stage in range(min(m, n)):
        e, f, largest = _largest(A)
        first = largest if stage == 0 else first
        good = largest > RANK_TOLERANCE * first
        f = good * f
        pivot = ca.if_else(good, ca.dot(e, ca.mtimes(A, f)), 1.0)
        row, own = (ca.mtimes(e.T, x) * (good / pivot) for x in (A, T))
        kept = [(g, r - ca.mtimes(r, f) * row, t - ca.mtimes(r, f) * own) for g, r, t in kept]
        column = ca.mtimes(A, f)
        A, T = A - ca.mtimes(column, row), T - ca.mtimes(column, own)
        kept.append((f, row, own))
    F = ca.horzcat(SX(n, 0), *(f for f, _, _ in kept))
    R, T = (ca.vertcat(SX(0, k), *x) for k, x in ((n, [r for _, r, _ in kept]), (m, [t for _, _, t in kept])))
    # back to velocities: columns of R were divided by the scale, and v_dependent by the same
    scale = ca.mtimes(F.T, columns)
    return Pivoted(
        F, ca.mtimes(ca.diag(scale), ca.mtimes(R, ca.diag(1 / columns))), ca.mtimes(ca.diag(scale), T)
    )


def _largest(A: SX) -> tuple[SX, SX, SX]:
    """Return selectors of row and column of the largest entry, and its size."""
    size = ca.fabs(A)
    by_row = ca.vertcat(*(ca.mmax(size[i, :]) for i in range(A.shape[0])))
    largest = ca.mmax(by_row)
    e = _first(by_row, largest)
    return e, _first(ca.mtimes(e.T, size).T, largest), largest


def _first(values: SX, largest: SX) -> SX:
    """Return a one at the first of the values that is the largest, and zeros."""
    out, found = [], SX(0)
    for value in ca.vertsplit(values):
        here = (value >= largest) * (1 - found)
        found = found + here
        out.append(here)
    return ca.vertcat(*out)


def independent(problem: ConstraintProblem) -> ConstraintSolution:
    """Return vdot and multipliers from the equations of the independent accelerations.

    (N' M N + D) zdd = N' (f - M a),   vdot = N zdd + a,   G a + gamma = 0

    with D = ones on the diagonal for the dependent velocities, whose rows of N' M N are zero. Rows that depend on others
    get no multiplier, as do those of a singular position.
    """
    c, M = problem.constraints, problem.M
    p = pivoted_elimination(M, c.G)
    N, carried = p.basis, p.following(c.gamma)
    matrix = ca.mtimes(N.T, ca.mtimes(M, N)) + ca.diag(ca.sum2(p.F) * ca.diag(M))
    zdd = solve(matrix, ca.mtimes(N.T, problem.f - ca.mtimes(M, carried)))
    vdot = ca.mtimes(N, zdd) + carried
    rest = problem.f - ca.mtimes(M, vdot)
    return ConstraintSolution(vdot, ca.mtimes(p.T.T, ca.mtimes(p.F.T, rest)))


class Following:
    """Back onto the constraints with the independent coordinates held: only the dependent ones move.

    Parameters
    ----------
    M : SX, (nv, nv)
    G : SX, (m, nv)
        At the point from which the step starts.
    iterations : int
        Iterations of the residual, with the Jacobian of that point.

    Source: Nikravesh, Gim, Arabyan & Rein 1989, equation 26.
    """

    def __init__(self, M: SX, G: SX, iterations: int = 2):
        self._pivoted, self._iterations = pivoted_elimination(M, G), iterations

    def change(self, residual: Callable[[SX], SX]) -> SX:
        """Return the change dx of a position or of a velocity, (nv,); see `Projection.change`."""
        dx = SX.zeros(self._pivoted.F.shape[0])
        for _ in range(self._iterations):
            dx = dx + self._pivoted.following(residual(dx))
        return dx
