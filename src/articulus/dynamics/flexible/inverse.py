"""Newton-Euler inverse dynamics of trees of rigid and flexible bodies.

Source: King 1988, sections 2.3 and 2.4, for trees and joints of any number of freedoms, with the exact rate map of
the attachment and motion-induced stiffness (`mechanism.modes`).
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.dynamics.external import External
from articulus.dynamics.flexible.tree import FlexibleTree, Place
from articulus.dynamics.kinematics import position_rate
from articulus.dynamics.tree import ROOT
from articulus.spatial import Force, Motion


@dataclass(frozen=True)
class Velocities:
    """Velocity of every node, and what of its acceleration does not depend on vdot or the parent's acceleration."""

    V: list[Motion]
    c: list[SX]


def velocities(tree: FlexibleTree, v: SX) -> Velocities:
    """Return the velocities of all nodes, base first."""
    V: list[Motion] = []
    c: list[SX] = []
    for node in tree.nodes:
        rates = tree.modal(node.parent, v)
        up = Motion.zero() if node.parent == ROOT else node.place.X.motion_to_child(V[node.parent])
        carried = ca.mtimes(node.place.U, rates) if rates.numel() else SX.zeros(6)
        relative = Motion.of(carried + ca.mtimes(node.S, v[node.v]))
        V.append(up + relative)
        bias = V[-1].cross(relative).column()
        if rates.numel():
            bias = bias + _rate_of_place(tree, node.parent, node.q, carried, v)
        c.append(bias)
    return Velocities(V, c)


def _rate_of_place(tree: FlexibleTree, parent: int, q: slice, carried: SX, v: SX) -> SX:
    """Return the derivative of U eta_dot by time at constant eta_dot: U changes with eta and with the joint."""
    eta, at = tree.q[tree.nodes[parent].modes_q], tree.nodes[parent].modes
    out = ca.jtimes(carried, eta, v[at])
    if q.stop > q.start:
        out = out + ca.jtimes(carried, tree.q[q], position_rate(tree.tree, v)[q])
    return out


def inverse_dynamics(
    tree: FlexibleTree, v: SX, vdot: SX, external: External, gravity: bool = True
) -> tuple[SX, list[SX]]:
    """Return the joint and modal forces of a motion, (nv,), and the wrench through every joint (on its child, node axes).

    Modal forces include the elastic and damping forces of the bodies; friction and springs in the joints do not count.
    """
    motion = velocities(tree, v)
    A: list[SX] = []
    base = SX.zeros(3) if not gravity else -tree.tree.gravity
    for node, c in zip(tree.nodes, motion.c):
        up = Motion(SX.zeros(3), base) if node.parent == ROOT else Motion.of(A[node.parent])
        a = node.place.X.motion_to_child(up).column() + c + ca.mtimes(node.S, vdot[node.v])
        rates = tree.modal(node.parent, vdot)
        A.append(a + ca.mtimes(node.place.U, rates) if rates.numel() else a)
    F, f = [SX.zeros(6) for _ in tree.nodes], {}
    for i, node in enumerate(tree.nodes):
        if node.body is not None:
            F[i], f[i] = node.body.forces(motion.V[i], v[node.modes], A[i], vdot[node.modes])
    for name, wrench in external.items():
        _apply(tree, name, wrench, F, f)
    tau = SX.zeros(tree.description.nv)
    for i in reversed(range(len(tree.nodes))):
        node = tree.nodes[i]
        tau[node.v] = ca.mtimes(node.S.T, F[i]) + node.armature * vdot[node.v]
        if i in f and f[i].numel():
            tau[node.modes] = f[i]
        if node.parent != ROOT:
            F[node.parent] = F[node.parent] + node.place.X.force_to_parent(Force.of(F[i])).column()
            if node.place.U.shape[1]:
                f[node.parent] = f[node.parent] + ca.mtimes(node.place.U.T, F[i])
    return tau, F


def _apply(tree: FlexibleTree, name: str, wrench: SX, F: list[SX], f: dict[int, SX]) -> None:
    """Take an external wrench (ground axes, about the frame's origin) off what the bodies need."""
    node, place = tree.frame(name)
    if node == ROOT:
        return
    local = local_wrench(tree, node, place, wrench)
    F[node] = F[node] - place.X.force_to_parent(Force.of(local)).column()
    if place.U.shape[1]:
        f[node] = f[node] - ca.mtimes(place.U.T, local)


def local_wrench(tree: FlexibleTree, node: int, place: Place, wrench: SX) -> SX:
    """Return a wrench in ground axes in those of a place."""
    R = ca.mtimes(tree.world[node].R, place.X.R)
    return ca.vertcat(ca.mtimes(R.T, wrench[:3]), ca.mtimes(R.T, wrench[3:]))
