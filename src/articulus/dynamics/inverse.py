"""Inverse dynamics by the recursive Newton-Euler algorithm (RNEA): joint and modal forces in O(n)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
from casadi import SX

from articulus.dynamics.recursion import Runner
from articulus.dynamics.tree import ROOT, Node, Tree
from articulus.spatial import Force, Motion, cross


@dataclass(frozen=True)
class NewtonEuler:
    """What the recursion finds on its way, each in the frame of its node."""

    w: list
    """Angular velocities."""
    A: list
    """Accelerations of the origins, with gravity as an upward acceleration of the ground."""
    F: list
    """Force that each joint transmits from the parent to the node."""
    tau: Any


def base_acceleration(tree: Tree) -> Motion:
    """Return the acceleration of the ground that stands for gravity."""
    return Motion(SX.zeros(3), -tree.gravity)


def newton_euler(
    run: Runner, v: Any, vdot: Any, gravity: bool = True, force: list | None = None
) -> NewtonEuler:
    """Return velocities, accelerations and transmitted forces of all nodes (RNEA), without friction and springs.

    Linear velocities never enter: accelerations are those of the origins (Luh, Walker & Paul), which is Featherstone's
    table with every origin momentarily at rest. Modal forces include elastic and damping forces of the bodies.

    Parameters
    ----------
    run : Runner
        Runs the passes over the tree.
    v, vdot : (nv,)
        Generalized velocities and accelerations.
    gravity : bool
        Whether gravity acts.
    force : list, optional
        Force that the surroundings take up from every node (minus the external force), in its frame.

    Source: Featherstone 2008, table 5.1; Luh, Walker & Paul 1980; rotors as in Chen & Ou 1989; flexible bodies as in King
    1988, sections 2.3 and 2.4, for trees, with the exact rate map of the stations. Cost: O(n).
    """
    tree, n = run.tree, len(run.tree)
    felt = tree.felt(v)
    ground = run.value(base_acceleration(tree) if gravity else Motion.zero())
    w: list = []
    A: list = []
    F: list = []
    f: list = []
    for i, p in enumerate(tree.parents):
        rates = (felt[tree.span(i)], vdot[tree.span(i)])
        front = (None, ground) if p == ROOT else (w[p], A[p])
        outward_result = run(
            outward, i, *rates, *front, force[i] if force else None, *_modal(tree, i, v, felt, vdot)
        )
        for values, value in zip((w, A, F), outward_result):
            values.append(value)
        f.append(outward_result[3] if tree.modes[i] else None)
    tau: list = [None] * n
    for i in reversed(range(n)):
        p, rates = tree.parents[i], (felt[tree.span(i)], vdot[tree.span(i)])
        if tree.stations[i]:
            F[p], f[p] = run(pass_on, i, F[i], F[p], f[p])
            tau[i] = []
            continue
        if p == ROOT:
            (own,) = run(project, i, rates[1], F[i])
        else:
            own, F[p] = run(project_inward, i, *rates, F[i], w[p], A[p], F[p])
        tau[i] = [own, f[i]] if tree.modes[i] else [own]
    return NewtonEuler(w, A, F, ca.vertcat(*(x for own in tau for x in own)) if tau else SX(0, 1))


def _modal(tree: Tree, i: int, v: Any, felt: Any, vdot: Any) -> tuple:
    """Return the modal rates of a node's body, those that make inertia forces, and the modal accelerations."""
    return tuple(x[tree.modal(i)] for x in (v, felt, vdot)) if tree.modes[i] else ()


def angular_velocity(node: Node, v: SX, wp: SX | None) -> tuple[SX]:
    """Return the angular velocity of a node from that of its parent."""
    w = node.joint_velocity(v).w
    return (w if wp is None else node.X.rotate_to_child(wp) + w,)


def velocity_product(node: Node, v: SX, w: SX) -> Motion:
    """Return the acceleration that the joint's own motion has at zero vdot: w x wJ, (2 w - wJ) x vJ."""
    VJ = node.joint_velocity(v)
    if node.station is not None:  # its directions turn with it, and their own change is the bending
        return Motion(cross(w, VJ.w), cross(2 * (w - VJ.w), VJ.v)) + node.station.bending(v)
    return Motion(cross(w, VJ.w), cross(2 * w - VJ.w, VJ.v))


def gyroscopic_force(node: Node, w: SX) -> Force:
    """Return the force that keeps the body turning at w with its origin at rest."""
    return node.inertia.driving_force(Motion.zero(), w)


def outward(
    node: Node, v: SX, vdot: SX, wp: SX | None, Ap: Motion, force: Force | None, *modal: SX
) -> tuple[SX, Motion, Force] | tuple[SX, Motion, Force, SX]:
    """Return angular velocity, acceleration and the force that moves the node's own body; of a flexible one modal forces too.

    `modal`: rates, rates that make inertia forces, and accelerations of the modal coordinates.
    """
    (w,) = angular_velocity(node, v, wp)
    carried = node.X.acceleration_to_child(Ap, SX.zeros(3) if wp is None else wp)
    A = carried + node.joint_velocity(vdot) + velocity_product(node, v, w)
    if node.body is not None:
        rate, felt, acceleration = modal
        F, f = node.body.forces(Motion(w, SX.zeros(3)), felt, A, acceleration)
        return w, A, F if force is None else F + force, f + node.body.restoring(rate)
    F = node.inertia.driving_force(A, w)
    return w, A, F if force is None else F + force


def pass_on(node: Node, F: Force, F_parent: Force, f_parent: SX) -> tuple[Force, SX]:
    """Return the force on a flexible body and its modal forces with what a station passes on."""
    f = ca.vertcat(*(S.dot(F) for S in node.S))
    return F_parent + node.X.force_to_parent(F), f_parent + f


def project(node: Node, vdot: SX, F: Force) -> tuple[SX]:
    """Return the transmitted force along the free directions."""
    rows = [S.dot(F) + node.armature[k] * vdot[k] for k, S in enumerate(node.S)]
    return (ca.vertcat(SX(0, 1), *rows),)


def project_inward(
    node: Node, v: SX, vdot: SX, F: Force, wp: SX, Ap: Motion, F_parent: Force
) -> tuple[SX, Force]:
    """Return the same with the rotor's share, and the parent's force with what this node passes on."""
    (tau,) = project(node, vdot, F)
    F_parent = F_parent + node.X.force_to_parent(F)
    for k in range(len(node.S)):
        tau[k] += node.rotor.dot(Ap)
        F_parent = F_parent + node.rotor * vdot[k] + rotor_turning(node, wp, v[k])
    return tau, F_parent


def rotor_turning(node: Node, wp: SX, rate: SX) -> Force:
    """Return the moment that turns the spin of the joint's rotor with the parent."""
    return Force(cross(wp, node.rotor.n) * rate, SX.zeros(3))
