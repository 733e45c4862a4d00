"""Where frames on rigid and flexible bodies are and how they move. Ground axes, angular part first."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.flexible.motion import motions
from articulus.dynamics.flexible.tree import FlexibleTree, Place, motion_matrix
from articulus.dynamics.kinematics import position_rate
from articulus.dynamics.tree import ROOT


def pose(tree: FlexibleTree, frame: str) -> SX:
    """Return the homogeneous pose of a frame in the ground frame, (4, 4) [-, m]."""
    return tree.world_frame(frame).matrix()


def velocity(tree: FlexibleTree, frame: str, v: SX) -> SX:
    """Return the angular and linear velocity of a frame, (6,) [rad/s, m/s]."""
    node, place = tree.frame(frame)
    if node == ROOT:
        return SX.zeros(6)
    local = place.X.motion_to_child(motions(tree, v)[node].V).column()
    return ca.mtimes(_to_ground(tree, node, place), local + ca.mtimes(place.U, tree.modal(node, v)))


def jacobian(tree: FlexibleTree, frame: str) -> SX:
    """Return J with velocity = J v, (6, nv): columns of the joints and modes between frame and ground, carried outward."""
    J = SX(6, tree.description.nv)
    node, place = tree.frame(frame)
    if node == ROOT:
        return J
    carried = motion_matrix(place.X)
    J[:, tree.nodes[node].modes] = place.U
    for i in tree.path(node):
        step = tree.nodes[i]
        J[:, step.v] = ca.mtimes(carried, step.S)
        if step.parent != ROOT:
            J[:, tree.nodes[step.parent].modes] = ca.mtimes(carried, step.place.U)
        carried = ca.mtimes(carried, motion_matrix(step.place.X))
    return ca.mtimes(_to_ground(tree, node, place), J)


def jacobian_rate(tree: FlexibleTree, frame: str, v: SX) -> SX:
    """Return dJ/dt with acceleration = J vdot + dJ/dt v, (6, nv)."""
    J = jacobian(tree, frame)
    return ca.reshape(ca.jtimes(ca.vec(ca.densify(J)), tree.q, position_rate(tree.tree, v)), *J.shape)


def acceleration(tree: FlexibleTree, frame: str, v: SX, vdot: SX) -> SX:
    """Return the angular and linear acceleration of a frame, (6,) [rad/s^2, m/s^2]."""
    rate = ca.jtimes(velocity(tree, frame, v), tree.q, position_rate(tree.tree, v))
    return rate + ca.mtimes(jacobian(tree, frame), vdot)


def _to_ground(tree: FlexibleTree, node: int, place: Place) -> SX:
    """Return the (6, 6) rotation from the axes of a place to ground axes."""
    R = ca.mtimes(tree.world[node].R, place.X.R)
    return ca.diagcat(R, R)
