"""Minimal equations by coordinate partitioning, with a partition that is a constant of the expressions.

See `pivoted` for a partition that is chosen anew at every evaluation.

vdot = R zdd + a with G R = 0 and G a = -gamma turns M vdot + G' lambda = f into (R' M R) zdd = R' (f - M a).
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.constraints import Constraints
from articulus.dynamics.loops.base import ConstraintProblem, ConstraintSolution
from articulus.dynamics.loops.factor import solve
from articulus.errors import InputError

RANK_TOLERANCE = 1e-9
"""A row or column counts as dependent when less than this part of the largest is left of it."""
CLEARLY = 1e-10
"""Least eigenvalue of G G' over the largest above which the rows of G are independent beyond doubt: its root is far above
RANK_TOLERANCE, and it is far above rounding."""


@dataclass(frozen=True)
class VelocityPartition:
    """Which rows of G are kept and which columns they determine; a constant of the expressions made with it."""

    rows: tuple[int, ...]
    """Independent constraint rows."""
    dependent: tuple[int, ...]
    """Velocities that follow, as many as rows."""
    independent: tuple[int, ...]
    """Velocities that are free."""

    def condition(self, G: np.ndarray) -> float:
        """Return the condition of G_d at another position; choose a new partition when it has become large.

        Compare it with that of `partition(G)`: when both are large, the position itself is singular.
        """
        return float(np.linalg.cond(np.asarray(G)[np.ix_(self.rows, self.dependent)]))


def partition(G: np.ndarray, tolerance: float = RANK_TOLERANCE) -> VelocityPartition:
    """Return the best-conditioned split of the velocities at one position, by pivoting.

    Parameters
    ----------
    G : array, (m, nv)
    tolerance : float [-]
        See `RANK_TOLERANCE`.
    """
    rows = independent_rows(G, tolerance)
    dependent = _pivots(np.asarray(G, dtype=float)[list(rows)], tolerance)
    free = tuple(k for k in range(G.shape[1]) if k not in dependent)
    return VelocityPartition(rows, dependent, free)


def independent_rows(G: np.ndarray, tolerance: float = RANK_TOLERANCE) -> tuple[int, ...]:
    """Return the rows of G (m, nv) that `partition` keeps.

    Rows that are not zero and clearly independent are all kept: that needs no pivoting.
    """
    G = np.asarray(G, dtype=float)
    if not np.all(np.isfinite(G)):
        raise InputError("partition: the constraint Jacobian is not finite; expected that of one position")
    some = np.flatnonzero(np.any(G != 0.0, axis=1))
    if 0 < len(some) <= G.shape[1]:
        least, most = np.linalg.eigvalsh(G[some] @ G[some].T)[[0, -1]]
        if least > CLEARLY * most:
            return tuple(some.tolist())
    return _pivots(G.T, tolerance)


def _pivots(A: np.ndarray, tolerance: float) -> tuple[int, ...]:
    """Return the columns of A that span its range, best first chosen, in ascending order."""
    if not A.size:
        return ()
    from scipy.linalg import qr  # slow to import

    R, order = qr(A, mode="r", pivoting=True)
    size = np.abs(np.diag(R))
    rank = int(np.sum(size > tolerance * size[0]))
    return tuple(sorted(order[:rank].tolist()))


def partitioned_basis(G: SX, p: VelocityPartition) -> SX:
    """Return E = [I; -G_d^-1 G_i] with v = E v_i, (nv, nv - m).

    Source: Nikravesh, Gim, Arabyan & Rein 1989, equations 16, 22 and 23.
    """
    G_d, G_i = _blocks(G, p)
    return _interleave(p, SX.eye(len(p.independent)), -ca.solve(G_d, G_i))


def null_space(problem: ConstraintProblem, p: VelocityPartition) -> ConstraintSolution:
    """Return vdot and multipliers (zero in the rows that are not kept).

    Parameters
    ----------
    problem : Problem
    p : Partition
        Good near the positions at which the expression is evaluated.

    Source: Nikravesh, Gim, Arabyan & Rein 1989, equations 16-25.
    """
    c, M = problem.constraints, problem.M
    R, carried = partitioned_basis(c.G, p), particular(c, p)
    zdd = solve(ca.mtimes(R.T, ca.mtimes(M, R)), ca.mtimes(R.T, problem.f - ca.mtimes(M, carried)))
    vdot = ca.mtimes(R, zdd) + carried
    rest = (problem.f - ca.mtimes(M, vdot))[list(p.dependent)]
    multipliers = SX.zeros(c.g.shape)
    multipliers[list(p.rows)] = ca.solve(_blocks(c.G, p)[0].T, rest)
    return ConstraintSolution(vdot, multipliers)


def minimal_form(problem: ConstraintProblem, p: VelocityPartition) -> tuple[SX, SX]:
    """Return the mass matrix E' M E and the force E' (f - M a) of the independent accelerations.

    Source: Nikravesh, Gim, Arabyan & Rein 1989, equations 19-21.
    """
    E, carried = partitioned_basis(problem.constraints.G, p), particular(problem.constraints, p)
    force = problem.f - ca.mtimes(problem.M, carried)
    return ca.mtimes(E.T, ca.mtimes(problem.M, E)), ca.mtimes(E.T, force)


def particular(c: Constraints, p: VelocityPartition) -> SX:
    """Return an acceleration with G a + gamma = 0 and zero independent part, (nv,) (equations 24 and 25)."""
    G_d, _ = _blocks(c.G, p)
    return _interleave(p, SX.zeros(len(p.independent)), -ca.solve(G_d, c.gamma[list(p.rows)]))


def closing_step(c: Constraints, p: VelocityPartition) -> SX:
    """Return the Newton step of the dependent positions, G_d dq_d = -g, with the independent held, (nv,).

    Source: Nikravesh, Gim, Arabyan & Rein 1989, equation 26.
    """
    G_d, _ = _blocks(c.G, p)
    return _interleave(p, SX.zeros(len(p.independent)), -ca.solve(G_d, c.g[list(p.rows)]))


def _blocks(G: SX, p: VelocityPartition) -> tuple[SX, SX]:
    rows = list(p.rows)
    return ca.sparsify(G[rows, list(p.dependent)]), G[rows, list(p.independent)]


def _interleave(p: VelocityPartition, independent: SX, dependent: SX) -> SX:
    """Return the rows of both parts in the order of v."""
    stacked = ca.vertcat(independent, dependent)
    place = np.argsort([*p.independent, *p.dependent])
    return stacked[place.tolist(), :]
