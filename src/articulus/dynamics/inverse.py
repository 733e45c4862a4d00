"""Inverse dynamics by the recursive Newton-Euler algorithm (RNEA): joint forces in O(n)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
from casadi import SX

from articulus.dynamics.passes import Runner
from articulus.dynamics.tree import ROOT, Node, Tree
from articulus.spatial import Force, Motion


@dataclass(frozen=True)
class Newton:
    """What the recursion finds on its way, each in the frame of its node."""

    V: list
    """Velocities."""
    A: list
    """Accelerations, with gravity as an upward acceleration of the ground."""
    F: list
    """Force that each joint transmits from the parent to the node."""
    tau: Any


def base_acceleration(tree: Tree) -> Motion:
    """Return the acceleration of the ground that stands for gravity."""
    return Motion(SX.zeros(3), -tree.gravity)


def newton_euler(run: Runner, v: Any, vdot: Any, gravity: bool = True, force: list | None = None) -> Newton:
    """Return velocities, accelerations and transmitted forces of all nodes (RNEA), without friction and springs.

    Parameters
    ----------
    run : Runner
        Runs the passes over the tree.
    v, vdot : (nv,)
        Generalised velocities and accelerations.
    gravity : bool
        Whether gravity acts.
    force : list, optional
        Force that the surroundings take up from every node (minus the external force), in its frame.

    Source: Featherstone 2008, table 5.1; Luh, Walker & Paul 1980; rotors as in Chen & Ou 1989. Cost: O(n).
    """
    tree, n = run.tree, len(run.tree)
    ground = run.value(base_acceleration(tree) if gravity else Motion.zero())
    V: list = []
    A: list = []
    F: list = []
    for i, p in enumerate(tree.parents):
        rates = (v[tree.span(i)], vdot[tree.span(i)])
        front = (None, ground) if p == ROOT else (V[p], A[p])
        for values, found in zip((V, A, F), run(outward, i, *rates, *front, force[i] if force else None)):
            values.append(found)
    tau: list = [None] * n
    for i in reversed(range(n)):
        p, rates = tree.parents[i], (v[tree.span(i)], vdot[tree.span(i)])
        if p == ROOT:
            (tau[i],) = run(project, i, rates[1], F[i])
        else:
            tau[i], F[p] = run(project_inward, i, *rates, F[i], V[p], A[p], F[p])
    return Newton(V, A, F, ca.vertcat(*tau) if tau else SX(0, 1))


def velocity(node: Node, v: SX, Vp: Motion | None) -> tuple[Motion]:
    """Return the velocity of a node from that of its parent."""
    VJ = node.joint_velocity(v)
    return (VJ if Vp is None else node.X.motion_to_child(Vp) + VJ,)


def outward(
    node: Node, v: SX, vdot: SX, Vp: Motion | None, Ap: Motion, force: Force | None
) -> tuple[Motion, Motion, Force]:
    """Return velocity, acceleration and the force that moves the node's own body."""
    (V,) = velocity(node, v, Vp)
    A = node.X.motion_to_child(Ap) + node.joint_velocity(vdot) + V.cross(node.joint_velocity(v))
    F = node.inertia @ A + V.cross_force(node.inertia @ V)
    return V, A, F if force is None else F + force


def project(node: Node, vdot: SX, F: Force) -> tuple[SX]:
    """Return the transmitted force along the free directions."""
    rows = [S.dot(F) + node.armature[k] * vdot[k] for k, S in enumerate(node.S)]
    return (ca.vertcat(SX(0, 1), *rows),)


def project_inward(
    node: Node, v: SX, vdot: SX, F: Force, Vp: Motion, Ap: Motion, F_parent: Force
) -> tuple[SX, Force]:
    """Return the same with the rotor's share, and the parent's force with what this node passes on."""
    (tau,) = project(node, vdot, F)
    F_parent = F_parent + node.X.force_to_parent(F)
    for k in range(len(node.S)):
        tau[k] += node.rotor.dot(Ap)
        F_parent = F_parent + node.rotor * vdot[k] + Vp.cross_force(node.rotor * v[k])
    return tau, F_parent
