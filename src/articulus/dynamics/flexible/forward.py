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
from articulus.dynamics.flexible.inverse import on_nodes
from articulus.dynamics.flexible.motion import NodeMotion, motions
from articulus.dynamics.flexible.shortening import mirrored
from articulus.dynamics.flexible.tree import FlexibleTree, Node, motion_matrix
from articulus.dynamics.loops.factor import Factored
from articulus.dynamics.tree import ROOT
from articulus.spatial import Motion


@dataclass
class _Gathered:
    """Mass matrix and bias forces of a node with everything behind it."""

    rr: SX
    rf: SX
    ff: SX
    pr: SX
    pf: SX


class _Yielding:
    """Freedoms of mass matrix D that give way to an acceleration A that arrives: D y = drive - B' A."""

    def __init__(self, D: SX, B: SX, drive: SX):
        self._D = Factored(D)
        self._B, self._drive = (self._D.forward(ca.densify(x)) for x in (B.T, drive))

    def under(self, A: SX) -> SX:
        """Return y."""
        return self._D.backward(self._drive - ca.mtimes(self._B, A))

    def relief(self) -> tuple[SX, SX]:
        """Return B D^-1 B' and B D^-1 drive."""
        scaled = self._D.scaled(self._B).T
        return mirrored(ca.mtimes(scaled, self._B)), ca.mtimes(scaled, self._drive)


def forward_dynamics(tree: FlexibleTree, v: SX, tau: SX, external: External) -> SX:
    """Return the accelerations of joints and modes, (nv,).

    Parameters
    ----------
    tree : FlexibleTree
        An inertial one.
    v : SX, (nv,)
        Velocities.
    tau : SX, (nv,)
        Joint forces, friction and springs added, and modal forces, without elastic and damping forces.
    external : dict
        Wrenches on frames.

    Cost: O(n).
    """
    felt = tree.felt(v)
    motion = motions(tree, felt)
    gathered = [_own(node, m, felt, v) for node, m in zip(tree.nodes, motion)]
    for i, wrench, work in on_nodes(tree, external):
        gathered[i].pr, gathered[i].pf = gathered[i].pr - wrench, gathered[i].pf - work
    X = [motion_matrix(node.place.X) for node in tree.nodes]
    modes: list[_Yielding] = []
    joints: list[_Yielding] = []
    for i in reversed(range(len(tree.nodes))):
        node, m, g = tree.nodes[i], motion[i], gathered[i]
        modal = _Yielding(g.ff, g.rf, tau[node.modes, :] - g.pf)
        inertia, bias = _relieved(g.rr, g.pr, modal)
        bias = bias + ca.mtimes(inertia, m.c)
        B, drive = ca.mtimes(inertia, node.S), tau[node.v, :] - ca.mtimes(node.S.T, bias)
        D = ca.mtimes(node.S.T, B) + ca.diag(node.armature)
        if not node.rotor.is_zero():
            B, drive = B + node.rotor, drive - ca.dot(node.rotor, m.carrier_c)
            bias = bias + m.turning(node.rotor, felt[node.v, :])
        joint = _Yielding(D, B, drive)
        modes.append(modal)
        joints.append(joint)
        if node.parent != ROOT:
            _pass_on(gathered[node.parent], X[i], node.place.U, *_relieved(inertia, bias, joint))
    return _towards_tips(tree, X, [m.c for m in motion], modes[::-1], joints[::-1])


def _relieved(inertia: SX, bias: SX, freedoms: _Yielding) -> tuple[SX, SX]:
    """Return the inertia and bias forces that are left when some freedoms give way."""
    less, more = freedoms.relief()
    return inertia - less, bias + more


def _own(node: Node, m: NodeMotion, felt: SX, v: SX) -> _Gathered:
    """Return what a node's own body gives."""
    if node.body is None:
        return _Gathered(SX.zeros(6, 6), SX(6, 0), SX(0, 0), SX.zeros(6), SX(0, 1))
    b, n = node.body, node.modes.stop - node.modes.start
    F, f = b.forces(m.V, felt[node.modes, :], SX.zeros(6), SX.zeros(n))
    return _Gathered(b.rr, b.rf, b.ff, F, f + b.restoring(v[node.modes, :]))


def _pass_on(up: _Gathered, X: SX, U: SX, inertia: SX, bias: SX) -> None:
    """Add to the parent what a node is to it, through the place that holds the joint."""
    IX = ca.mtimes(inertia, X)
    up.rr, up.pr = up.rr + mirrored(ca.mtimes(X.T, IX)), up.pr + ca.mtimes(X.T, bias)
    if U.shape[1]:
        up.rf = up.rf + ca.mtimes(IX.T, U)
        up.ff = up.ff + mirrored(ca.mtimes(U.T, ca.mtimes(inertia, U)))
        up.pf = up.pf + ca.mtimes(U.T, bias)


def _towards_tips(
    tree: FlexibleTree, X: list[SX], c: list[SX], modes: list[_Yielding], joints: list[_Yielding]
) -> SX:
    vdot = SX.zeros(tree.description.nv)
    A: list[SX] = []
    ground = Motion(SX.zeros(3), -tree.tree.gravity).column()
    for i, node in enumerate(tree.nodes):
        arriving = ca.mtimes(X[i], ground if node.parent == ROOT else A[node.parent])
        arriving = arriving + ca.mtimes(node.place.U, tree.modal(node.parent, vdot))
        vdot[node.v, :] = joints[i].under(arriving)
        A.append(arriving + c[i] + ca.mtimes(node.S, vdot[node.v, :]))
        vdot[node.modes, :] = modes[i].under(A[-1])
    return vdot
