"""Where frames are and how they move: poses, velocities, accelerations, Jacobians and their rates.

Velocities, accelerations and Jacobians are of the frame's origin, in ground axes, angular part first.
"""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.inverse import newton_euler
from articulus.dynamics.recursion import Inline
from articulus.dynamics.tree import ROOT, Tree
from articulus.spatial import Motion, Transform


def pose(tree: Tree, frame: str) -> SX:
    """Return the homogeneous pose of a frame in the ground frame, (4, 4) [-, m]."""
    return tree.world_frame(frame).matrix()


def _in_ground_axes(tree: Tree, frame: str, motion: Motion) -> Motion:
    """Return a motion of the frame's node, given in the node's frame, as that of the frame in ground axes."""
    node, X = tree.frame(frame)
    local = X.motion_to_child(motion)
    R = ca.mtimes(tree.world[node].R, X.R)
    return Motion(ca.mtimes(R, local.w), ca.mtimes(R, local.v))


def velocity(tree: Tree, frame: str, v: SX) -> SX:
    """Return the angular and linear velocity of a frame, (6,) [rad/s, m/s]."""
    node, _ = tree.frame(frame)
    if node == ROOT:
        return SX.zeros(6)
    V = Motion.zero()
    for i in reversed(tree.path(node)):
        V = tree.nodes[i].X.motion_to_child(V) + tree.nodes[i].joint_velocity(v[tree.span(i)])
    return _in_ground_axes(tree, frame, V).column()


def acceleration(tree: Tree, frame: str, v: SX, vdot: SX) -> SX:
    """Return the angular and linear acceleration of a frame, (6,) [rad/s^2, m/s^2].

    The linear part is the second derivative of the position of the frame's origin.
    """
    node, X = tree.frame(frame)
    if node == ROOT:
        return SX.zeros(6)
    motion = newton_euler(Inline(tree), v, vdot, gravity=False)
    local = X.acceleration_to_child(motion.A[node], motion.w[node])
    R = ca.mtimes(tree.world[node].R, X.R)
    return ca.vertcat(ca.mtimes(R, local.w), ca.mtimes(R, local.v))


def node_jacobian(tree: Tree, frame: str) -> dict[int, Motion]:
    """Return the columns of a frame's Jacobian: degree of freedom to motion of the frame's origin, in ground axes."""
    node, _ = tree.frame(frame)
    origin = tree.world_frame(frame).p
    columns = {}
    for i in tree.path(node):
        at_origin = Transform(tree.world[i].R, tree.world[i].p - origin)
        for S, k in zip(tree.nodes[i].S, tree.dofs[i]):
            columns[k] = at_origin.motion_to_parent(S)
    return columns


def jacobian(tree: Tree, frame: str) -> SX:
    """Return J with velocity = J v, (6, nv) [-, m]."""
    J = SX.zeros(6, tree.description.nv)
    for k, column in node_jacobian(tree, frame).items():
        J[:, k] = column.column()
    return J


def jacobian_rate(tree: Tree, frame: str, v: SX) -> SX:
    """Return dJ/dt with acceleration = J vdot + dJ/dt v, (6, nv) [1/s, m/s].

    A direction fixed in node i, seen at the frame's moving origin o, changes by (V_i - V_o) x itself, with V_i the
    velocity of node i at o and V_o the pure translation of o. The directions of a station also change in the node.
    """
    node, _ = tree.frame(frame)
    J = node_jacobian(tree, frame)
    V: dict[int, Motion] = {}
    for i in reversed(tree.path(node)):
        total = V.get(tree.parents[i], Motion.zero())
        for k in tree.dofs[i]:
            total = total + J[k] * v[k]
        V[i] = total
    rate = SX.zeros(6, tree.description.nv)
    for i, V_i in V.items():
        relative = Motion(V_i.w, V_i.v - V[node].v)
        for k in tree.dofs[i]:
            rate[:, k] = relative.cross(J[k]).column()
        station = tree.nodes[i].station
        if station is not None:
            at_origin = Transform(tree.world[i].R, tree.world[i].p - tree.world_frame(frame).p)
            for k, change in zip(tree.dofs[i], station.direction_rates(v[tree.span(i)])):
                rate[:, k] += at_origin.motion_to_parent(change).column()
    return rate


def position_rate(tree: Tree, v: SX) -> SX:
    """Return dq/dt, (nq,): equal to v but for quaternions."""
    d = tree.description
    parts = []
    for c in d.connections:
        modes, _ = d.mode_slices(c.child)
        parts += (
            [c.joint.position_rate(tree.q[d.q_slices[c.name]], v[d.v_slices[c.name]])] if c.joint.nv else []
        )
        parts += [v[modes]] if modes.stop > modes.start else []
    return ca.vertcat(SX(0, 1), *parts)


def integrate_position(tree: Tree, step: SX) -> SX:
    """Return the position reached from q by the constant velocity `step` during one second, (nq,)."""
    d = tree.description
    parts = []
    for c in d.connections:
        modes, modes_q = d.mode_slices(c.child)
        parts += (
            [c.joint.integrate(tree.q[d.q_slices[c.name]], step[d.v_slices[c.name]])] if c.joint.nv else []
        )
        parts += [tree.q[modes_q] + step[modes]] if modes.stop > modes.start else []
    return ca.vertcat(SX(0, 1), *parts)


def position_difference(tree: Tree, end: SX) -> SX:
    """Return the step with integrate_position(q, step) = end, (nv,); the shortest turn of quaternions."""
    d = tree.description
    parts = []
    for c in d.connections:
        modes, at = d.mode_slices(c.child)[1], d.q_slices[c.name]
        parts += [c.joint.step_between(tree.q[at], end[at])] if c.joint.nv else []
        parts += [end[modes] - tree.q[modes]] if modes.stop > modes.start else []
    return ca.vertcat(SX(0, 1), *parts)


def tangent_rate(tree: Tree, v: SX) -> SX:
    """Return G with d(delta)/dt = G delta + delta v for a small displacement delta of the position, (nv, nv).

    delta is in the directions of the velocities: for quaternion joints a small rotation (and shift) in the
    child's axes, for which d(delta)/dt = delta v - V x delta; G is zero for all other joints.
    """
    G = SX.zeros(tree.description.nv, tree.description.nv)
    for c in tree.description.connections:
        if c.joint.nq == c.joint.nv:
            continue
        at, S = tree.description.v_slices[c.name], c.joint.motion_subspace()
        basis = ca.horzcat(*(s.column() for s in S))
        V = Motion.of(ca.mtimes(basis, v[at]))
        carried = ca.horzcat(*(V.cross(s).column() for s in S))
        G[at, at] = -ca.mtimes(basis.T, carried)
    return G
