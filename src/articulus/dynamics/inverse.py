"""Inverse dynamics by the recursive Newton-Euler algorithm (RNEA): joint forces in O(n)."""

from __future__ import annotations

from dataclasses import dataclass

from casadi import SX

from articulus.dynamics.external import External, external_forces
from articulus.dynamics.passive import passive_forces
from articulus.dynamics.tree import ROOT, Tree
from articulus.spatial import Force, Motion


@dataclass(frozen=True)
class Newton:
    """What the recursion finds on its way, each in the frame of its node."""

    V: list[Motion]
    """Velocities."""
    A: list[Motion]
    """Accelerations, with gravity as an upward acceleration of the ground."""
    F: list[Force]
    """Force that each joint transmits from the parent to the node."""
    tau: SX


def base_acceleration(tree: Tree) -> Motion:
    """Return the acceleration of the ground that stands for gravity."""
    return Motion(SX.zeros(3), -tree.gravity)


def newton_euler(
    tree: Tree, v: SX, vdot: SX, gravity: bool = True, external: External | None = None
) -> Newton:
    """Return velocities, accelerations and transmitted forces of all nodes (RNEA), without friction and springs.

    Source: Featherstone 2008, table 5.1; Luh, Walker & Paul 1980; rotors as in Chen & Ou 1989. Cost: O(n).
    """
    nodes = tree.nodes
    ground = base_acceleration(tree) if gravity else Motion.zero()
    force = external_forces(tree, external)
    V: list[Motion] = []
    A: list[Motion] = []
    F: list[Force] = []
    for i, node in enumerate(nodes):
        VJ, AJ = tree.joint_velocity(i, v), tree.joint_velocity(i, vdot)
        V.append(VJ if node.parent == ROOT else node.X.motion_to_child(V[node.parent]) + VJ)
        A.append(node.X.motion_to_child(ground if node.parent == ROOT else A[node.parent]) + AJ + V[i].cross(VJ))
        F.append(node.inertia @ A[i] + V[i].cross_force(node.inertia @ V[i]) - force[i])
    tau = SX.zeros(tree.description.nv)
    for i in reversed(range(len(nodes))):
        node = nodes[i]
        for S, k, armature in zip(node.S, node.v, node.armature):
            tau[k] = S.dot(F[i]) + armature * vdot[k]
        if node.parent != ROOT:
            F[node.parent] += node.X.force_to_parent(F[i])
            for k in node.v:
                tau[k] += node.rotor.dot(A[node.parent])
                F[node.parent] += node.rotor * vdot[k] + V[node.parent].cross_force(node.rotor * v[k])
    return Newton(V, A, F, tau)


def inverse_dynamics(tree: Tree, v: SX, vdot: SX, external: External | None = None) -> SX:
    """Return tau = M vdot + bias, what the actuators must give (recursive Newton-Euler algorithm, RNEA).

    Parameters
    ----------
    tree : Tree
    v, vdot : SX, (nv,) [rad/s, m/s; rad/s^2, m/s^2]
        Generalised velocities and accelerations.
    external : External, optional
        Wrenches on named frames.

    Returns
    -------
    SX, (nv,) [N m or N]
        Friction and springs of the joints included.

    Source: see `newton_euler`. Cost: O(n).
    """
    return newton_euler(tree, v, vdot, external=external).tau - passive_forces(tree, v)


def bias(tree: Tree, v: SX) -> SX:
    """Return the forces at zero acceleration: Coriolis, centrifugal, gravity, friction and springs, (nv,) [N m or N]."""
    return inverse_dynamics(tree, v, SX.zeros(tree.description.nv))


def gravity_forces(tree: Tree) -> SX:
    """Return the forces that hold the mechanism against gravity alone, (nv,) [N m or N]."""
    zero = SX.zeros(tree.description.nv)
    return newton_euler(tree, zero, zero).tau
