"""The Coriolis matrix C(q, v): C v are the Coriolis and centrifugal forces, and dM/dt - 2 C is skew-symmetric.

    C = sum over the bodies of J' (I dJ/dt + B J),   2B = (V x*) I - I (V x) + (. x* I V),   B + B' = dI/dt

for the Jacobians J and inertias I of the bodies in ground axes. C is not unique; this one is that of Niemeyer & Slotine 1991 and
Echeandia & Wensing 2021.
"""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.constraints import by_displacement
from articulus.dynamics.kinematics import tangent_rate
from articulus.dynamics.linearise import RateMatrix
from articulus.dynamics.tree import ROOT, Tree
from articulus.spatial import Motion, RigidInertia, cross


def coriolis_matrix(tree: Tree, v: SX) -> SX:
    """Return C, (nv, nv) [kg m^2/s, kg m/s, kg/s], by sums over the bodies behind each joint.

    A rotor r on the parent p of freedom k adds r . dS_j/dt to entry (k, j), and S_j . (w_p x r) to entry (j, k), for the angular
    parts of every freedom j that moves p. Armature is constant and adds nothing. Source: Echeandia & Wensing 2021, algorithm 1.
    Cost: O(n d).
    """
    S, Sdot, V, inertia, rate = _moving(tree, v)
    C = SX.zeros(tree.description.nv, tree.description.nv)
    for i in reversed(range(len(tree))):
        p = tree.parents[i]
        if p != ROOT:
            inertia[p], rate[p] = inertia[p] + inertia[i], rate[p] + rate[i]
        in_front = [j for a in tree.path(p) for j in tree.freedoms[a]]
        for k in tree.freedoms[i]:
            force = inertia[i] @ Sdot[k] + (rate[i] @ S[k]) * 0.5
            for j in (*in_front, *tree.freedoms[i]):
                C[j, k] += S[j].dot(force)
            momentum, row = inertia[i] @ S[k], 0.5 * rate[i].row(S[k])
            spin = SX.zeros(3) if p == ROOT else ca.mtimes(tree.world[p].R, tree.nodes[i].rotor.n)
            for j in in_front:
                C[k, j] += Sdot[j].dot(momentum) + ca.dot(row, S[j].w) + ca.dot(spin, Sdot[j].w)
                C[j, k] += ca.dot(S[j].w, cross(V[p].w, spin))
    return C


def _moving(
    tree: Tree, v: SX
) -> tuple[dict[int, Motion], dict[int, Motion], list[Motion], list[RigidInertia], list[RateMatrix]]:
    """Return free directions with their rates, and velocity, inertia and 2B of the nodes; ground axes and origin."""
    S: dict[int, Motion] = {}
    Sdot: dict[int, Motion] = {}
    V: list[Motion] = []
    for i, (node, p) in enumerate(zip(tree.nodes, tree.parents)):
        S |= {k: tree.world[i].motion_to_parent(s) for k, s in zip(tree.freedoms[i], node.S)}
        V.append(sum((S[k] * v[k] for k in tree.freedoms[i]), Motion.zero() if p == ROOT else V[p]))
        Sdot |= {k: V[i].cross(S[k]) for k in tree.freedoms[i]}
    inertia = [X.inertia_to_parent(node.inertia) for X, node in zip(tree.world, tree.nodes)]
    return S, Sdot, V, inertia, [RateMatrix.of(I, V_i) for I, V_i in zip(inertia, V)]


def coriolis_matrix_of(tree: Tree, M: SX, v: SX) -> SX:
    """Return C of a mass matrix that is given as an expression of q, by its derivatives.

    With the derivatives D_k along the velocities, p = M v, and [., .] the commutators of the directions of quaternion joints
    (`tangent_rate` is -[v, .]), Koszul's formula for directions that are no coordinates is

        2 C_ij = D_v M_ij + D_j p_i - D_i p_j + e_i . M [v, e_j] - e_j . M [v, e_i] - p . [e_j, e_i]

    M is taken without the armature of quaternion joints, which has no axes in space and resists their rates alone.

    Source: any text on Riemannian geometry, with M as the metric. Cost: that of nv derivatives of M.
    """
    M = M - ca.diag(_armature_of_quaternions(tree))
    p = SX.sym("p", v.numel())
    G = tangent_rate(tree, v)
    D = by_displacement(tree, ca.mtimes(M, v))
    along = SX.zeros(M.shape)
    for k in range(v.numel()):
        along[:, k] = ca.mtimes(by_displacement(tree, M[:, k]), v)
    turned = ca.mtimes(M, G)
    between = ca.substitute(ca.jacobian(ca.mtimes(G.T, p), v), p, ca.mtimes(M, v))
    return 0.5 * (along + D - D.T - turned + turned.T + between)


def _armature_of_quaternions(tree: Tree) -> SX:
    """Return the armature of joints whose velocities are no rates of coordinates, zero for all others, (nv,)."""
    d, out = tree.description, SX.zeros(tree.description.nv)
    for c in d.connections:
        if c.joint.nq != c.joint.nv:
            out[d.v_slices[c.name]] = tree.vector(c.per_freedom("armature"))
    return out
