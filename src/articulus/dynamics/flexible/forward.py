"""Forward dynamics of trees of rigid and flexible bodies in O(n): articulated bodies with modes.

From tip to base each node gathers what its children, through their places, add to its mass matrix [[rr, rf], [rf', ff]];
first its modal accelerations are eliminated, then those of its joint. Source: articulated-body recursion (Rodriguez,
Jain & Kreutz 1989, section 3) on bodies with modal coordinates (Jain & Rodriguez 1992).
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.dynamics.external import External
from articulus.dynamics.flexible.inverse import local_wrench, velocities
from articulus.dynamics.flexible.tree import FlexibleTree, motion_matrix
from articulus.dynamics.loops.factor import Factored
from articulus.dynamics.tree import ROOT
from articulus.spatial import Force, Motion


@dataclass
class _Gathered:
    """Mass matrix and bias forces of a node with everything behind it."""

    rr: SX
    rf: SX
    ff: SX
    pr: SX
    pf: SX


def forward_dynamics(tree: FlexibleTree, v: SX, tau: SX, external: External) -> SX:
    """Return the accelerations of joints and modes, (nv,); tau holds joint forces (friction and springs added) and modal ones."""
    motion = velocities(tree, v)
    gathered: list[_Gathered] = []
    for i, node in enumerate(tree.nodes):
        n = node.modes.stop - node.modes.start
        if node.body is None:
            gathered.append(_Gathered(SX.zeros(6, 6), SX(6, 0), SX(0, 0), SX.zeros(6), SX(0, 1)))
            continue
        F, f = node.body.forces(motion.V[i], v[node.modes], SX.zeros(6), SX.zeros(n))
        gathered.append(_Gathered(node.body.rr, node.body.rf, node.body.ff, F, f))
    for name, wrench in external.items():
        k, place = tree.frame(name)
        if k != ROOT:
            local = local_wrench(tree, k, place, wrench)
            gathered[k].pr = gathered[k].pr - place.X.force_to_parent(Force.of(local)).column()
            if place.U.shape[1]:
                gathered[k].pf = gathered[k].pf - ca.mtimes(place.U.T, local)
    solved = _towards_base(tree, tau, motion.c, gathered)
    return _towards_tips(tree, motion.c, solved)


@dataclass(frozen=True)
class _Solved:
    """What the way back needs: modal and joint accelerations as functions of the acceleration that arrives."""

    modal: tuple[SX, SX] | None
    """eta'' = a - B A."""
    joint: tuple[SX, SX]
    """vdot = a - B A."""
    X: SX


def _towards_base(tree: FlexibleTree, tau: SX, c: list[SX], gathered: list[_Gathered]) -> list[_Solved]:
    out: list[_Solved | None] = [None] * len(tree.nodes)
    for i in reversed(range(len(tree.nodes))):
        node, g = tree.nodes[i], gathered[i]
        inertia, bias, modal = g.rr, g.pr, None
        if node.modes.stop > node.modes.start:
            ff = Factored(g.ff)
            B, a = ff.solve(ca.densify(g.rf.T)), ff.solve(tau[node.modes] - g.pf)
            inertia, bias, modal = g.rr - ca.mtimes(g.rf, B), g.pr + ca.mtimes(g.rf, a), (a, B)
        bias = bias + ca.mtimes(inertia, c[i])
        if node.v.stop > node.v.start:
            IS = ca.mtimes(inertia, node.S)
            D = Factored(ca.mtimes(node.S.T, IS) + ca.diag(node.armature))
            a, B = D.solve(tau[node.v] - ca.mtimes(node.S.T, bias)), D.solve(ca.densify(IS.T))
            inertia, bias = inertia - ca.mtimes(IS, B), bias + ca.mtimes(IS, a)
        else:
            a, B = SX(0, 1), SX(0, 6)
        X = motion_matrix(node.place.X)
        out[i] = _Solved(modal, (a, B), X)
        if node.parent != ROOT:
            up, U = gathered[node.parent], node.place.U
            IX = ca.mtimes(inertia, X)
            up.rr, up.pr = up.rr + ca.mtimes(X.T, IX), up.pr + ca.mtimes(X.T, bias)
            if U.shape[1]:
                up.rf = up.rf + ca.mtimes(IX.T, U)
                up.ff = up.ff + ca.mtimes(U.T, ca.mtimes(inertia, U))
                up.pf = up.pf + ca.mtimes(U.T, bias)
    return out  # type: ignore[return-value]


def _towards_tips(tree: FlexibleTree, c: list[SX], solved: list[_Solved]) -> SX:
    vdot = SX.zeros(tree.description.nv)
    A: list[SX] = []
    for i, (node, s) in enumerate(zip(tree.nodes, solved)):
        base = Motion(SX.zeros(3), -tree.tree.gravity).column() if node.parent == ROOT else A[node.parent]
        arriving = ca.mtimes(s.X, base)
        if node.place.U.shape[1]:
            arriving = arriving + ca.mtimes(node.place.U, tree.modal(node.parent, vdot))
        a, B = s.joint
        if node.v.stop > node.v.start:
            vdot[node.v] = a - ca.mtimes(B, arriving)
        A.append(arriving + c[i] + ca.mtimes(node.S, vdot[node.v]))
        if s.modal is not None:
            a, B = s.modal
            vdot[node.modes] = a - ca.mtimes(B, A[-1])
    return vdot
