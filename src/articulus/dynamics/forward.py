"""Forward dynamics by the articulated-body algorithm (ABA): joint accelerations in O(n)."""

from __future__ import annotations

from casadi import SX

from articulus.dynamics.external import External, external_forces
from articulus.dynamics.inverse import base_acceleration
from articulus.dynamics.passive import passive_forces
from articulus.dynamics.tree import ROOT, Tree
from articulus.spatial import Force, Motion


def forward_dynamics(tree: Tree, v: SX, tau: SX, external: External | None = None) -> SX:
    """Return vdot = M^-1 (tau - bias), the joint accelerations (articulated-body algorithm, ABA).

    Parameters
    ----------
    tree : Tree
    v : SX, (nv,) [rad/s or m/s]
        Generalised velocities.
    tau : SX, (nv,) [N m or N]
        Forces of the actuators; friction and springs of the joints are added here.
    external : External, optional
        Wrenches on named frames.

    Returns
    -------
    SX, (nv,) [rad/s^2 or m/s^2]

    Source: Featherstone 2008, table 7.1; several freedoms of a joint are eliminated one after the other; rotors
    carried by the parent as in Chen & Ou 1989. Cost: O(n).
    """
    n, nodes = len(tree), tree.nodes
    tau = tau + passive_forces(tree, v)
    force = external_forces(tree, external)
    V: list[Motion] = []
    c: list[Motion] = []
    IA = [node.inertia.articulated() for node in nodes]
    pA: list[Force] = []
    for i, node in enumerate(nodes):
        VJ = tree.joint_velocity(i, v)
        V.append(VJ if node.parent == ROOT else node.X.motion_to_child(V[node.parent]) + VJ)
        c.append(V[i].cross(VJ))
        pA.append(V[i].cross_force(node.inertia @ V[i]) - force[i])
    U: dict[int, Force] = {}
    u, d_inverse = {}, {}
    for i in reversed(range(n)):
        node, Ia, pa = nodes[i], IA[i], pA[i]
        rotor = node.X.force_to_child(node.rotor)
        for S, k, armature in reversed(list(zip(node.S, node.v, node.armature))):
            IS = Ia @ S
            U[k] = IS + rotor
            d_inverse[k] = 1 / (S.dot(IS) + armature)
            u[k] = tau[k] - S.dot(pa) + rotor.dot(c[i])
            Ia = Ia.minus_dyad(U[k], U[k] * d_inverse[k])
            pa = pa + U[k] * (d_inverse[k] * u[k])
        if node.parent != ROOT:
            IA[node.parent] += node.X.inertia_to_parent(Ia)
            pA[node.parent] += node.X.force_to_parent(pa + Ia @ c[i])
            for k in node.v:
                pA[node.parent] += V[node.parent].cross_force(node.rotor * v[k])
    A: list[Motion] = []
    vdot = SX.zeros(tree.description.nv)
    for i, node in enumerate(nodes):
        a = node.X.motion_to_child(base_acceleration(tree) if node.parent == ROOT else A[node.parent]) + c[i]
        for S, k in zip(node.S, node.v):
            vdot[k] = d_inverse[k] * (u[k] - U[k].dot(a))
            a = a + S * vdot[k]
        A.append(a)
    return vdot
