"""The Coriolis matrix C(q, v): C v are the Coriolis and centrifugal forces, and dM/dt - 2 C is skew-symmetric.

    C = sum over the bodies of J' (I dJ/dt + B J),   2B = (V x*) I - I (V x) + (. x* I V),   B + B' = dI/dt

for the Jacobians J and inertias I of the bodies in ground axes. C is not unique; this one is that of Niemeyer & Slotine 1991 and
Echeandia & Wensing 2021.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
from casadi import SX

from articulus.dynamics.constraints import by_displacement
from articulus.dynamics.inverse_derivatives import RateMatrix
from articulus.dynamics.kinematics import tangent_rate
from articulus.dynamics.pair_matrices import Pairs, same_joint
from articulus.dynamics.recursion import Inline, Runner
from articulus.dynamics.tree import ROOT, Node, Tree
from articulus.spatial import Force, Motion, Product, RigidInertia, Transform, cross


def coriolis_matrix(run: Runner, v: Any) -> Any:
    """Return C, (nv, nv) [kg m^2/s, kg m/s, kg/s], by sums over the bodies behind each joint.

    A rotor r on the parent p of degree of freedom k adds r . dS_j/dt to entry (k, j), and S_j . (w_p x r) to entry (j, k), for the angular
    parts of every degree of freedom j that moves p. Armature is constant and adds nothing. Source: Echeandia & Wensing 2021, algorithm 1.
    Cost: O(n d).
    """
    tree, n = run.tree, len(run.tree)
    if not n:
        return SX(0, 0)
    X: list = []
    V: list = []
    own: list = []
    for i, p in enumerate(tree.parents):
        pose, velocity, *rest = run(
            moving, i, v[tree.span(i)], *((None, None) if p == ROOT else (X[p], V[p]))
        )
        X.append(pose)
        V.append(velocity)
        own.append(rest)
    found: list = [None] * n
    for i in reversed(range(n)):
        p = tree.parents[i]
        if p == ROOT:
            found[i] = run(gather_columns, i, *own[i])
        else:
            *found[i], own[p][2], own[p][3] = run(gathered_inward, i, *own[i], X[p], V[p], *own[p][2:])
    columns = [(o[0], f[0], o[1], *f[1:]) for o, f in zip(own, found)]
    S, force, Sdot, momentum, row, same = (ca.vertcat(*parts) for parts in zip(*columns))
    nv = tree.description.nv
    S, force, Sdot, momentum = (ca.reshape(x, 6, nv) for x in (S, force, Sdot, momentum))
    below = (ca.vertcat(Sdot, S[:3, :]), ca.vertcat(momentum, ca.reshape(row, 3, nv)))
    if isinstance(run, Inline):
        return _scalar_matrix(tree, (S, force), below, same)
    return Pairs(tree).matrix((S, force), below, same)


def _scalar_matrix(tree: Tree, above: tuple[SX, SX], below: tuple[SX, SX], same: SX) -> SX:
    """Return the matrix of `Pairs.matrix` with every entry written out."""
    C = SX.zeros(tree.description.nv, tree.description.nv)
    for k, (a, b) in enumerate(same_joint(tree)):
        C[a, b] = same[k]
    for i, p in enumerate(tree.parents):
        for j in (j for a in tree.path(p) for j in tree.dofs[a]):
            for k in tree.dofs[i]:
                C[j, k] = ca.dot(above[0][:, j], above[1][:, k])
                C[k, j] = ca.dot(below[0][:, j], below[1][:, k])
    return C


def moving(
    node: Node, v: SX, Xp: Transform | None, Vp: Motion | None
) -> tuple[Transform, Motion, SX, SX, RigidInertia, RateMatrix]:
    """Return pose and velocity of a node, its directions and their rates, inertia and 2B; ground axes and origin."""
    own = node.X.merge() if isinstance(node.X, Product) else node.X
    X = own if Xp is None else Xp @ own
    S = [X.motion_to_parent(s) for s in node.S]
    V = Vp or Motion.zero()
    for k, s in enumerate(S):
        V = V + s * v[k]
    inertia = X.inertia_to_parent(node.inertia)
    directions, rates = (ca.vertcat(SX(0, 1), *(m.column() for m in x)) for x in (S, [V.cross(s) for s in S]))
    return X, V, directions, rates, inertia, RateMatrix.of(inertia, V)


def gather_columns(
    node: Node,
    S: SX,
    Sdot: SX,
    inertia: RigidInertia,
    B: RateMatrix,
    spin: SX | None = None,
    w: SX | None = None,
) -> tuple[SX, SX, SX, SX]:
    """Return force, momentum and row of every degree of freedom, and the entries between those of the node; `spin` of its rotor."""
    count = len(node.S)
    directions, rates = ([Motion.unpack(x[6 * k : 6 * k + 6]) for k in range(count)] for x in (S, Sdot))
    forces = [inertia @ d + (B @ s) * 0.5 for s, d in zip(directions, rates)]
    same = [s.dot(force) for force in forces for s in directions]
    momenta = [inertia @ s for s in directions]
    if spin is not None and w is not None:
        forces = [force + Force(cross(w, spin), SX.zeros(3)) for force in forces]
        momenta = [momentum + Force(spin, SX.zeros(3)) for momentum in momenta]
    rows = [0.5 * B.row(s) for s in directions]
    parts = ([x.column() for x in forces], [x.column() for x in momenta], rows, same)
    force, momentum, row, entries = (ca.vertcat(SX(0, 1), *x) for x in parts)
    return force, momentum, row, entries


def gathered_inward(
    node: Node,
    S: SX,
    Sdot: SX,
    inertia: RigidInertia,
    B: RateMatrix,
    Xp: Transform,
    Vp: Motion,
    inertia_parent: RigidInertia,
    B_parent: RateMatrix,
) -> tuple[SX, SX, SX, SX, RigidInertia, RateMatrix]:
    """Return the same, and inertia and 2B of the parent with what it carries."""
    found = gather_columns(node, S, Sdot, inertia, B, ca.mtimes(Xp.R, node.rotor.n), Vp.w)
    return (*found, inertia_parent + inertia, B_parent + B)


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
            out[d.v_slices[c.name]] = tree.vector(c.per_dof("armature"))
    return out
