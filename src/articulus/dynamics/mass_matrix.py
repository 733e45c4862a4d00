"""The joint-space mass matrix by composite rigid bodies (CRBA): in the frames of the nodes, or in ground axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
from casadi import SX

from articulus.dynamics.flexible.shortening import mirror_upper_half
from articulus.dynamics.pair_matrices import Pairs
from articulus.dynamics.recursion import Runner
from articulus.dynamics.tree import ROOT, Node, Tree
from articulus.spatial import Force, Motion, Product, RigidInertia, Transform


def mass_matrix(tree: Tree) -> SX:
    """Return M(q), symmetric positive definite (composite-rigid-body algorithm, CRBA).

    Returns
    -------
    SX, (nv, nv) [kg m^2, kg m, kg]
        Armature and rotors included.

    Source: Featherstone 2008, table 6.2; Walker & Orin 1982, method 3; flexible bodies as in King 1988, equations 2-62 to
    2-83, for trees. Cost: O(n d) with d the depth of the tree.
    """
    M = SX.zeros(tree.v.numel(), tree.v.numel())
    composite = [node.inertia for node in tree.nodes]
    modal = [ModalMomentum.of(node) for node in tree.nodes]
    for i in reversed(range(len(tree))):
        node, v, p = tree.nodes[i], tree.dofs[i], tree.parents[i]
        if p != ROOT:
            composite[p] += node.X.inertia_to_parent(composite[i])
        if tree.stations[i]:
            modal[p].add(node, composite[i])
            continue
        for k, F in zip(tree.modes[i], modal[i].rf):
            _carry(tree, M, k, F, i)
        if tree.modes[i]:
            M[tree.modal(i), tree.modal(i)] = modal[i].ff
        for a, (S, k, armature) in enumerate(zip(node.S, v, node.armature)):
            F = composite[i] @ S
            for S_same, l in list(zip(node.S, v))[: a + 1]:
                M[k, l] = M[l, k] = S_same.dot(F)
            M[k, k] += armature
            _carry(tree, M, k, node.X.force_to_parent(F) + node.rotor, p)
    return M


def _carry(tree: Tree, M: SX, k: int, F: Force, j: int) -> None:
    """Enter what the force F on node j, needed by unit acceleration of degree of freedom k, makes in its joint and from there inward."""
    while j != ROOT:
        for S_up, l in zip(tree.nodes[j].S, tree.dofs[j]):
            M[k, l] = M[l, k] = S_up.dot(F)
        F, j = tree.nodes[j].X.force_to_parent(F), tree.parents[j]


@dataclass
class ModalMomentum:
    """Momentum of unit modal rates and modal mass matrix of a body with everything that its stations carry."""

    rf: list[Force]
    ff: SX

    @staticmethod
    def of(node: Node) -> ModalMomentum:
        if node.body is None:
            return ModalMomentum([], SX(0, 0))
        return ModalMomentum([Force.of(x) for x in ca.horzsplit(node.body.rf)], node.body.ff)

    def add(self, station: Node, inertia: RigidInertia) -> None:
        """Add what is on a station."""
        IU = [inertia @ S for S in station.S]
        self.rf = [F + station.X.force_to_parent(G) for F, G in zip(self.rf, IU)]
        U = ca.horzcat(*(S.column() for S in station.S))
        self.ff = self.ff + mirror_upper_half(ca.mtimes(U.T, ca.horzcat(*(F.column() for F in IU))))


def mass_matrix_of_columns(run: Runner) -> Any:
    """Return the same as products S_i' (I_j S_j) in ground axes about the ground origin, (nv, nv).

    I_j is the inertia of all that degree of freedom j carries. A quarter of the operations of carrying every force from node to node
    in a long chain, and far less code.
    """
    tree, n = run.tree, len(run.tree)
    X: list = []
    S: list = []
    inertia: list = []
    modal: list = []
    for i, p in enumerate(tree.parents):
        function = bent_in_ground_axes if tree.modes[i] else in_ground_axes
        found, own = (f := run(function, i, None if p == ROOT else X[p]))[:3], f[3:]
        for values, value in zip((X, S, inertia, modal), (*found, own)):
            values.append(value)
    columns: list = [None] * n
    for i in reversed(range(n)):
        p = tree.parents[i]
        if p == ROOT:
            columns[i] = run(momentum_columns, i, S[i], inertia[i])
        else:
            *columns[i], inertia[p] = run(moved_inward, i, S[i], inertia[i], X[p], inertia[p])
        if tree.stations[i]:
            modal[p] = [x + y for x, y in zip(modal[p], columns[i])]
    dofs = [x for i in range(n) if not tree.stations[i] for x in (columns[i], modal[i]) if x]
    momentum, same = (ca.vertcat(*x) for x in zip(*dofs))
    front, behind = ca.vertcat(*S), ca.reshape(momentum, 6, tree.description.nv)
    above = ca.reshape(front, 6, front.numel() // 6), behind
    return Pairs(tree).matrix(above, above, same)


def in_ground_axes(node: Node, Xp: Transform | None) -> tuple[Transform, SX, RigidInertia]:
    """Return pose, directions and inertia of a node in ground axes about the ground origin."""
    own = node.X.merge() if isinstance(node.X, Product) else node.X
    X = own if Xp is None else Xp @ own
    S = ca.vertcat(SX(0, 1), *(X.motion_to_parent(s).column() for s in node.S))
    return X, S, X.inertia_to_parent(node.inertia)


def bent_in_ground_axes(node: Node, Xp: Transform | None) -> tuple[Transform, SX, RigidInertia, SX, SX]:
    """Return the same of a flexible body, and momentum for unit modal rates and modal mass matrix, in columns."""
    assert node.body is not None
    X, S, inertia = in_ground_axes(node, Xp)
    momenta = [X.force_to_parent(Force.of(x)).column() for x in ca.horzsplit(node.body.rf)]
    return X, S, inertia, ca.vertcat(*momenta), ca.vec(ca.densify(node.body.ff))


def momentum_columns(node: Node, S: SX, inertia: RigidInertia, rotor: Force | None = None) -> tuple[SX, SX]:
    """Return the momentum that unit rate of each degree of freedom gives, and the entries between the degrees of freedom of the node."""
    directions = [Motion.unpack(S[6 * k : 6 * k + 6]) for k in range(len(node.S))]
    momenta = [inertia @ s for s in directions]
    half = {(k, l): directions[l].dot(h) for k, h in enumerate(momenta) for l in range(k + 1)}
    count = range(len(momenta))
    same = [half[max(k, l), min(k, l)] + (node.armature[k] if k == l else 0) for k in count for l in count]
    carried = [h if rotor is None else h + rotor for h in momenta]
    return ca.vertcat(SX(0, 1), *(h.column() for h in carried)), ca.vertcat(SX(0, 1), *same)


def moved_inward(
    node: Node, S: SX, inertia: RigidInertia, Xp: Transform, inertia_parent: RigidInertia
) -> tuple[SX, SX, RigidInertia]:
    """Return the same with the spin of the rotor on the parent, and the parent's inertia with what it carries."""
    momentum, same = momentum_columns(node, S, inertia, Xp.force_to_parent(node.rotor))
    return momentum, same, inertia_parent + inertia
