"""Newton-Euler inverse dynamics of trees of rigid and flexible bodies.

Source: King 1988, sections 2.3 and 2.4, for trees and joints of any number of freedoms, with the exact rate map of
the attachment and motion-induced stiffness (`mechanism.modes`); rotors as in Chen & Ou 1989.
"""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.external import External
from articulus.dynamics.flexible.motion import motions
from articulus.dynamics.flexible.tree import FlexibleTree
from articulus.dynamics.tree import ROOT
from articulus.spatial import Force, Motion


def inverse_dynamics(tree: FlexibleTree, v: SX, vdot: SX, external: External) -> tuple[SX, list[SX]]:
    """Return the joint and modal forces of a motion, (nv,), and the wrench through every joint (on its child, node axes).

    Modal forces include the elastic and damping forces of the bodies; friction and springs in the joints do not count.

    Parameters
    ----------
    tree : FlexibleTree
        An inertial one.
    v, vdot : SX, (nv,)
        Velocities and accelerations of joints and modes.
    external : dict
        Wrenches on frames.

    Cost: O(n).
    """
    felt = tree.felt(v)
    motion = motions(tree, felt)
    A, arriving = accelerations(tree, [m.c for m in motion], vdot)
    F, f = [SX.zeros(6) for _ in tree.nodes], [SX(0, 1) for _ in tree.nodes]
    for i, node in enumerate(tree.nodes):
        if node.body is not None:
            F[i], f[i] = node.body.forces(motion[i].V, felt[node.modes, :], A[i], vdot[node.modes, :])
            f[i] = f[i] + node.body.restoring(v[node.modes, :])
    for i, wrench, modal in on_nodes(tree, external):
        F[i], f[i] = F[i] - wrench, f[i] - modal
    tau = SX.zeros(tree.description.nv)
    for i in reversed(range(len(tree.nodes))):
        node, m = tree.nodes[i], motion[i]
        tau[node.modes, :] = f[i]
        tau[node.v, :] = ca.mtimes(node.S.T, F[i]) + node.armature * vdot[node.v, :]
        passed = F[i]
        if not node.rotor.is_zero():
            tau[node.v, :] += ca.dot(node.rotor, arriving[i] + m.carrier_c)
            passed = passed + node.rotor * vdot[node.v, :] + m.turning(node.rotor, felt[node.v, :])
        if node.parent != ROOT:
            up = node.place.X.force_to_parent(Force.of(passed)).column()
            F[node.parent] = F[node.parent] + up
            f[node.parent] = f[node.parent] + ca.mtimes(node.place.U.T, passed)
    return tau, F


def accelerations(tree: FlexibleTree, c: list[SX], vdot: SX) -> tuple[list[SX], list[SX]]:
    """Return the accelerations of all nodes, and what of each arrives from its parent; gravity is one of the ground."""
    A: list[SX] = []
    arriving: list[SX] = []
    ground = Motion(SX.zeros(3), -tree.tree.gravity)
    for node, bias in zip(tree.nodes, c):
        up = ground if node.parent == ROOT else Motion.of(A[node.parent])
        bend = ca.mtimes(node.place.U, tree.modal(node.parent, vdot))
        arriving.append(node.place.X.motion_to_child(up).column() + bend)
        A.append(arriving[-1] + bias + ca.mtimes(node.S, vdot[node.v, :]))
    return A, arriving


def on_nodes(tree: FlexibleTree, external: External) -> list[tuple[int, SX, SX]]:
    """Return each external wrench (ground axes, about the frame's origin) as node, wrench in its frame, modal forces."""
    out = []
    for name, wrench in external.items():
        node, place = tree.frame(name)
        if node == ROOT:
            continue
        R = ca.mtimes(tree.world[node].R, place.X.R)
        local = ca.vertcat(ca.mtimes(R.T, wrench[:3]), ca.mtimes(R.T, wrench[3:]))
        out.append((node, place.X.force_to_parent(Force.of(local)).column(), ca.mtimes(place.U.T, local)))
    return out
