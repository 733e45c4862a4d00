"""Closed loops by spatial operators, steps A to F: the mass matrix is never formed.

The loops are cut, which leaves trees on the ground with joint forces f = tau - bias. With L^-1 = I - H psi K and the
diagonal D of `operators`:

    A   vdot_free = M^-1 f                        forward dynamics of the cut trees
    B   a = G vdot_free                           what the cuts would do
    C   W = G M^-1 G' = Y' D^-1 Y,  Y = L^-1 G'   how easily the cuts move
    D   W lambda = a + gamma                      closure forces
    E   vdot_closure = -M^-1 G' lambda
    F   vdot = vdot_free + vdot_closure

A column of Y follows one row of G from its bodies to the ground, and two rows meet in W at the degrees of freedom that both pass:
those of their nearest common ancestor and inward. The appendix of the source has zero for different branches instead.

Source: Rodriguez, Jain & Kreutz 1989, equations 2.15 to 2.17 and 3.9 to 3.13. Cost: O(n) a row, and step D.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
from casadi import SX

from articulus.dynamics.constraints import Constraints
from articulus.dynamics.loops.base import ConstraintSolution, Factorization, solve, stabilized_residual
from articulus.dynamics.loops.schur import DEPENDENT
from articulus.dynamics.mass_matrix import mass_matrix
from articulus.dynamics.operators import (
    OperatorFactors,
    apply_inverse,
    apply_transposed,
    factors,
    solve_mass_matrix,
    weighted,
)
from articulus.dynamics.tree import ROOT, Tree
from articulus.errors import InputError
from articulus.model.mechanism import GROUND


def operator_form(
    tree: Tree, f: SX, constraints: Constraints, frequency: SX | float = 0.0, damping: SX | float = 1.0
) -> ConstraintSolution:
    """Return vdot and closure forces by steps A to F.

    Parameters
    ----------
    tree : Tree
        The mechanism with all loops cut.
    f : SX, (nv,) [N m or N]
        Joint forces minus bias of that tree.
    constraints : Constraints
        A row that depends on earlier ones is omitted (multiplier 0); see `mobility` and `require_full_rank`.
    frequency, damping : numbers or (m,)
        w [rad/s] and mu [-] of the stabilized constraints.
    """
    c, op = constraints, factors(tree)
    free = solve_mass_matrix(op, f)
    a = ca.mtimes(c.G, free)
    Y = half_way(op, c.G)
    W = ca.mtimes(Y.T, weighted(op, Y))
    multipliers = solve(W, a + stabilized_residual(c, frequency, damping), DEPENDENT)
    return ConstraintSolution(free + _closure(op, Y, multipliers), multipliers)


def by_secondary(tree: Tree, f: SX, constraints: Constraints, secondary: Sequence[str]) -> ConstraintSolution:
    """Return the same with the closure forces eliminated first: one solve of the size of the secondary.

    With P the primary, S the secondary and W = G_P M_P^-1 G_P', which falls into small blocks when the closures
    lie on different chains:

        [M_S + G_S' W^-1 G_S] vdot_S = f_S - G_S' W^-1 (G_P vdot_P,free + gamma)
        lambda = W^-1 (G_P vdot_P,free + G_S vdot_S + gamma)

    Parameters
    ----------
    tree, f, constraints
        As for `operator_form`; the rows must be independent on the primary alone (`mobility` with the secondary).
    secondary : sequence of str
        Bodies on the ground, each with all that is attached to it; a grasped object is one body on a free joint.

    Source: Rodriguez, Jain & Kreutz 1989, section 3, alternative of step D.
    """
    c, op = constraints, factors(tree)
    P, S = primary_dofs(tree, secondary), secondary_dofs(tree, secondary)
    on_primary = c.G[:, P]
    idle = [i for i in range(c.G.shape[0]) if not on_primary[i, :].nnz()]
    if idle:
        raise InputError(
            f"constraint rows {idle} hold none of the primary's joints; expected every row to close on the primary. "
            "Leave a mechanism with inner loops to the primary, or use operator_form"
        )
    W = Factorization(_mobility(op, c.G, P))
    free = solve_mass_matrix(op, f)
    a = ca.mtimes(on_primary, free[P]) + c.gamma
    G_S = c.G[:, S]
    M_S = mass_matrix(tree)[S, S]
    vdot_S = solve(M_S + ca.mtimes(G_S.T, W.solve(G_S)), f[S] - ca.mtimes(G_S.T, W.solve(a)))
    multipliers = W.solve(a + ca.mtimes(G_S, vdot_S))
    return ConstraintSolution(free + _closure(op, half_way(op, c.G), multipliers), multipliers)


def half_way(op: OperatorFactors, G: SX) -> SX:
    """Return Y = (I - H psi K) G', so that G M^-1 G' = Y' D^-1 Y, (nv, m). Cost: O(n) a row."""
    columns = [apply_inverse(op, G[i, :].T) for i in range(G.shape[0])]
    return ca.sparsify(ca.horzcat(SX(len(op.S), 0), *columns))


def mobility(tree: Tree, constraints: Constraints, secondary: Sequence[str] = ()) -> SX:
    """Return W = G M^-1 G' of the primary, how closure forces accelerate its cuts, (m, m).

    Singular where rows depend on each other: numbers of it go to `rank.require_full_rank`. With no secondary everything
    is primary.
    """
    return _mobility(factors(tree), constraints.G, primary_dofs(tree, secondary))


def primary_dofs(tree: Tree, secondary: Sequence[str]) -> list[int]:
    """Return the degrees of freedom that do not belong to the secondary."""
    others = set(secondary_dofs(tree, secondary))
    return [k for k in range(tree.description.nv) if k not in others]


def secondary_dofs(tree: Tree, secondary: Sequence[str]) -> list[int]:
    """Return the degrees of freedom of the branches that begin with the given bodies on the ground."""
    d = tree.description
    for body in secondary:
        d.carrier(body)
        if body == GROUND or d.inboard(body).parent != GROUND:
            parent = "" if body == GROUND else f", which hangs on '{d.inboard(body).parent}'"
            raise InputError(
                f"secondary: found '{body}'{parent}; expected a body whose joint is on '{GROUND}'. "
                "Cut there: give the body a free joint on ground and close the cut by a constraint"
            )
    nodes = [tree.frame(body)[0] for body in secondary]
    roots = {tree.path(i)[-1] for i in nodes if i != ROOT}
    return [k for i, v in enumerate(tree.dofs) if tree.path(i)[-1] in roots for k in v]


def _mobility(op: OperatorFactors, G: SX, dofs: Sequence[int]) -> SX:
    own = list(dofs)
    Y = half_way(op, G)
    return ca.mtimes(Y.T[:, own], weighted(op, Y)[own, :])


def _closure(op: OperatorFactors, Y: SX, multipliers: SX) -> SX:
    """Return -M^-1 G' lambda = -(I - H psi K)' D^-1 Y lambda (step E)."""
    return -apply_transposed(op, weighted(op, ca.mtimes(Y, multipliers)))
