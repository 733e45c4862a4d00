"""The mass matrix factored by spatial operators, and what follows from the factors.

With the nodes stacked, phi carries forces inward, H projects on the free directions, P are the articulated inertias,
D = H P H', K = phi P H' D^-1 (shifted to the parent), psi = phi - K H:

    M     = (I + H phi K) D (I + H phi K)'
    M^-1  = (I - H psi K)' D^-1 (I - H psi K)

A rotor r carried by the parent adds r D^-1 to K and changes nothing else.

Source: Rodriguez, Jain & Kreutz 1989, lemmas 1-4 and appendix A; for two frames on different branches the
operational-space inertia goes through the nearest common ancestor, which the printed appendix leaves out.
Everything is in ground axes about the ground origin, so that nothing need be carried from frame to frame.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.dynamics.tree import ROOT, Tree
from articulus.spatial import Force, Motion, Transform, over, reciprocal


@dataclass(frozen=True)
class OperatorFactors:
    """Per degree of freedom k: direction S and gain K in ground axes, and 1/D."""

    S: dict[int, Motion]
    K: dict[int, Force]
    D_inverse: dict[int, SX]
    chain: dict[int, int]
    """Next degree of freedom towards the ground (the same joint's earlier degree of freedom, or the parent's last), or ROOT."""

    @staticmethod
    def of_matrices(S: SX, K: SX, D_inverse: SX, tree: Tree) -> OperatorFactors:
        """Return the factors from matrices with one column per degree of freedom."""
        dofs = range(tree.description.nv)
        return OperatorFactors(
            {k: Motion.unpack(S[:, k]) for k in dofs},
            {k: Force.unpack(K[:, k]) for k in dofs},
            {k: D_inverse[k] for k in dofs},
            next_inward(tree),
        )


def factors(tree: Tree) -> OperatorFactors:
    """Return the articulated-body factors of the mass matrix. Cost: O(n)."""
    S: dict[int, Motion] = {}
    K: dict[int, Force] = {}
    D_inverse: dict[int, SX] = {}
    P = [node.inertia.as_articulated() for node in tree.nodes]
    for i in reversed(range(len(tree))):
        node, Pi, X = tree.nodes[i], P[i], tree.world[i]
        rotor = node.X.force_to_child(node.rotor)
        for s, k, armature in reversed(list(zip(node.S, tree.dofs[i], node.armature))):
            Ps = Pi @ s
            U = Ps + rotor
            D = s.dot(Ps) + armature
            D_inverse[k] = reciprocal(D)
            gain = over(U, D, D_inverse[k])
            Pi = Pi.minus_dyad(U, gain)
            S[k] = X.motion_to_parent(s)
            K[k] = X.force_to_parent(gain)
        if tree.parents[i] != ROOT:
            P[tree.parents[i]] += node.X.inertia_to_parent(Pi)
    return OperatorFactors(S, K, D_inverse, next_inward(tree))


def next_inward(tree: Tree) -> dict[int, int]:
    """Return for each degree of freedom the next one towards the ground, ROOT for the innermost."""
    last: dict[int, int] = {ROOT: ROOT}
    chain = {}
    for i, (p, v) in enumerate(zip(tree.parents, tree.dofs)):
        if tree.stations[i]:
            last[i] = tree.modes[p][-1]
            continue
        inward = last[p]
        for k in v:
            chain[k], inward = inward, k
        last[i] = inward
        for k in tree.modes[i]:
            chain[k], inward = inward, k
    return chain


def inward(chain: dict[int, int], k: int) -> list[int]:
    """Return the degrees of freedom between degree of freedom k and the ground, k itself not included, outermost first."""
    out, k = [], chain[k]
    while k != ROOT:
        out.append(k)
        k = chain[k]
    return out


def lower_factor(f: OperatorFactors) -> SX:
    """Return I + H phi K, unit triangular in the order of the tree, (nv, nv)."""
    L = SX.eye(len(f.S))
    for k in f.S:
        for i in inward(f.chain, k):
            L[i, k] = f.S[i].dot(f.K[k])
    return ca.densify(L)


def lower_factor_inverse(f: OperatorFactors) -> SX:
    """Return I - H psi K, the inverse of `lower_factor`, (nv, nv)."""
    L = SX.eye(len(f.S))
    for k in f.S:
        z = f.K[k]
        for i in inward(f.chain, k):
            L[i, k] = -f.S[i].dot(z)
            z = z + f.K[i] * L[i, k]
    return ca.densify(L)


def diagonal(f: OperatorFactors) -> SX:
    """Return D, one number per degree of freedom, (nv,)."""
    return ca.vertcat(SX(0, 1), *(1 / f.D_inverse[k] for k in sorted(f.S)))


def mass_matrix_inverse(f: OperatorFactors) -> SX:
    """Return M^-1 = (I - H psi K)' D^-1 (I - H psi K), (nv, nv)."""
    L = lower_factor_inverse(f)
    n = len(f.S)
    paths = {k: [k, *inward(f.chain, k)] for k in f.S}
    inverse = SX.zeros(n, n)
    for a in range(n):
        weighted = {i: L[i, a] * f.D_inverse[i] for i in paths[a]}
        for b in range(a + 1):
            common = [i for i in paths[b] if i in weighted]
            total = SX(0)
            for i in common:
                total += L[i, b] * weighted[i]
            inverse[a, b] = inverse[b, a] = total
    return inverse


def solve_mass_matrix(f: OperatorFactors, tau: SX) -> SX:
    """Return M^-1 tau without forming a matrix, (nv,). Cost: O(n)."""
    return apply_transposed(f, weighted(f, apply_inverse(f, tau)))


def apply_inverse(f: OperatorFactors, tau: SX) -> SX:
    """Return (I - H psi K) tau, from the tips to the ground, (nv,). Cost: O(n)."""
    z: dict[int, Force] = {k: Force.zero() for k in [ROOT, *f.S]}
    nu = SX.zeros(len(f.S))
    for k in _innermost_last(f):
        nu[k] = tau[k] - f.S[k].dot(z[k])
        z[f.chain[k]] = z[f.chain[k]] + z[k] + f.K[k] * nu[k]
    return nu


def apply_transposed(f: OperatorFactors, nu: SX) -> SX:
    """Return (I - H psi K)' nu, from the ground to the tips, (nv,). Cost: O(n)."""
    a: dict[int, Motion] = {ROOT: Motion.zero()}
    out = SX.zeros(len(f.S))
    for k in reversed(_innermost_last(f)):
        inner = a[f.chain[k]]
        out[k] = nu[k] - f.K[k].dot(inner)
        a[k] = inner + f.S[k] * out[k]
    return out


def weighted(f: OperatorFactors, columns: SX) -> SX:
    """Return D^-1 times columns, (nv, m)."""
    return ca.mtimes(ca.diag(ca.vertcat(SX(0, 1), *(f.D_inverse[k] for k in sorted(f.S)))), columns)


def _innermost_last(f: OperatorFactors) -> list[int]:
    return sorted(f.S, key=lambda k: len(inward(f.chain, k)), reverse=True)


def operational_inertia(tree: Tree, frame_a: str, frame_b: str) -> SX:
    """Return Lambda_ab = J_a M^-1 J_b', what a unit wrench on frame b accelerates frame a by, (6, 6).

    Angular part first, ground axes, at the frames' origins [rad/s^2, m/s^2 per N m, N]. The inverse of Lambda_aa is
    the operational-space inertia of frame a.

    Source: Rodriguez, Jain & Kreutz 1989, Lambda = B' Omega B with Omega(a, b) = psi'(c, a) Upsilon(c) psi(c, b), c
    the nearest common ancestor; zero when the ground is the only one. Cost: O(depth).
    """
    f = factors(tree)
    (node_a, _), (node_b, _) = tree.frame(frame_a), tree.frame(frame_b)
    path_a, path_b = dofs_inward(tree, node_a), dofs_inward(tree, node_b)
    common = [k for k in path_a if k in set(path_b)]
    if not common:
        return SX.zeros(6, 6)
    upsilon = SX.zeros(6, 6)
    for k in reversed(common):
        upsilon = _through(f, k, _through(f, k, upsilon).T).T
        upsilon += ca.mtimes(f.S[k].column(), f.S[k].column().T) * f.D_inverse[k]
    omega = upsilon
    for k in reversed([k for k in path_b if k not in set(common)]):
        omega = _through(f, k, omega.T).T
    for k in reversed([k for k in path_a if k not in set(common)]):
        omega = _through(f, k, omega)
    return ca.mtimes(_at_origin(tree, frame_a), ca.mtimes(omega, _at_origin(tree, frame_b).T))


def dofs_inward(tree: Tree, node: int) -> list[int]:
    """Return the degrees of freedom between a node and the ground, those of the node included, outermost first."""
    return [k for i in tree.path(node) for k in reversed(tree.dofs[i])]


def _through(f: OperatorFactors, k: int, accelerations: SX) -> SX:
    """Return psi'(.., k) applied to columns of accelerations: what passes a joint that yields."""
    gain = ca.mtimes(f.K[k].column().T, accelerations)
    return accelerations - ca.mtimes(f.S[k].column(), gain)


def _at_origin(tree: Tree, frame: str) -> SX:
    """Return the matrix that takes a motion about the ground origin to the frame's origin, ground axes."""
    X = Transform(SX.eye(3), tree.world_frame(frame).p)
    return ca.horzcat(
        *(X.motion_to_child(Motion.of(SX(ca.DM(e)))).column() for e in ca.horzsplit(ca.DM.eye(6)))
    )
