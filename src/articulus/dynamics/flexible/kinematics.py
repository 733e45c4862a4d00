"""Where frames on rigid and flexible bodies are and how they move. Ground axes, angular part first."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.flexible.inverse import velocities
from articulus.dynamics.flexible.tree import FlexibleTree
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
    local = place.X.motion_to_child(velocities(tree, v).V[node]).column()
    if place.U.shape[1]:
        local = local + ca.mtimes(place.U, tree.modal(node, v))
    R = ca.mtimes(tree.world[node].R, place.X.R)
    return ca.vertcat(ca.mtimes(R, local[:3]), ca.mtimes(R, local[3:]))


def jacobian(tree: FlexibleTree, frame: str) -> SX:
    """Return J with velocity = J v, (6, nv)."""
    return ca.jacobian(velocity(tree, frame, tree.v), tree.v)


def jacobian_rate(tree: FlexibleTree, frame: str, v: SX) -> SX:
    """Return dJ/dt with acceleration = J vdot + dJ/dt v, (6, nv)."""
    J = jacobian(tree, frame)
    return ca.reshape(ca.jtimes(ca.vec(ca.densify(J)), tree.q, position_rate(tree.tree, v)), *J.shape)


def acceleration(tree: FlexibleTree, frame: str, v: SX, vdot: SX) -> SX:
    """Return the angular and linear acceleration of a frame, (6,) [rad/s^2, m/s^2]."""
    moving = velocity(tree, frame, v)
    rate = ca.jtimes(moving, tree.q, position_rate(tree.tree, v))
    return rate + ca.mtimes(jacobian(tree, frame), vdot)
