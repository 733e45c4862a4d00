"""A mechanism as the algorithms see it: a tree of nodes with symbols, one node for each elementary joint.

Bodies joined by fixed joints are one node; a joint made of several elementary ones is several nodes, of which only
the last carries the body. Parents come before children.
"""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.frames import Placement, common_normal, sparse, turn_about_z
from articulus.mechanism import GROUND, Connection, Description, Fixed, Joint, Number, Parameter, Pose
from articulus.spatial import (
    Force,
    Motion,
    Product,
    RigidInertia,
    Transform,
    axis_angle,
    frame_with_z,
    quaternion_matrix,
    rpy_matrix,
)

ROOT = -1
"""Index of the ground among the nodes."""


@dataclass(frozen=True)
class Node:
    """One elementary joint and the rigid body behind it, in the node's own frame."""

    parent: int
    X: Transform | Product
    """Pose in the parent's frame at the joint's position."""
    S: tuple[Motion, ...]
    """Free directions, constant in this frame."""
    v: tuple[int, ...]
    """Where their rates stand in v."""
    inertia: RigidInertia
    armature: tuple[SX, ...]
    """Inertia added to each freedom, reflected rotors included."""
    rotor: Force
    """Spin momentum that unit joint speed gives a rotor on the parent, in the parent's frame."""


@dataclass
class _Raw:
    """A node before its working frame is chosen."""

    parent: int
    X: Transform
    """Constant pose of the joint frame in the parent's raw frame."""
    joint: Joint
    q: slice
    v: tuple[int, ...]
    armature: tuple[SX, ...]
    rotor: SX
    inertia: RigidInertia = dataclasses.field(default_factory=RigidInertia.zero)

    @property
    def placement(self) -> Placement | None:
        """Return the constant pose as numbers, None when it has parameters in it."""
        if not (self.X.R.is_constant() and self.X.p.is_constant()):
            return None
        return Placement(np.array(ca.DM(self.X.R)), np.array(ca.DM(self.X.p)).ravel())


class Tree:
    """The nodes of a mechanism with the symbols of its position and parameters.

    Attributes
    ----------
    q, v, p : SX
        Symbols of position, velocity and named parameters.
    nodes : tuple of Node
    gravity : SX
        Acceleration of gravity in ground axes [m/s^2].

    With `merge_fixed=False` a fixed joint is a node without freedom, so that its force can be told.
    """

    def __init__(self, description: Description, merge_fixed: bool = True):
        self.description = description
        self._merge_fixed = merge_fixed
        self.q = SX.sym("q", description.nq)
        self.v = SX.sym("v", description.nv)
        self.p = SX.sym("p", len(description.parameters))
        self._index = {p.name: i for i, p in enumerate(description.parameters)}
        self.gravity = self.vector(description.gravity)
        self._raw: list[_Raw] = []
        self._place: dict[str, tuple[int, Transform]] = {GROUND: (ROOT, Transform.identity())}
        self._joints: dict[str, tuple[int, Transform]] = {}
        for connection in description.connections:
            self._add(connection)
        for body in description.bodies:
            node, X = self._place[body.name]
            if node != ROOT:
                inertia = RigidInertia.about_com(
                    self.number(body.mass), self.vector(body.com), self._inertia(body.inertia)
                )
                self._raw[node].inertia += X.inertia_to_parent(inertia)
        self._working = _WorkingFrames(self._raw)
        self.nodes = tuple(self._node(i) for i in range(len(self._raw)))
        self._place = {name: self._in_working_frame(*at) for name, at in self._place.items()}
        self._joints = {name: self._in_working_frame(*at) for name, at in self._joints.items()}

    # numbers of the model as symbols

    def number(self, x: Number) -> SX:
        return self.p[self._index[x.name]] if isinstance(x, Parameter) else SX(x)

    def vector(self, x: tuple[Number, ...]) -> SX:
        return ca.vertcat(*map(self.number, x))

    def pose(self, pose: Pose) -> Transform:
        if not any(isinstance(x, Parameter) for x in pose.rpy + pose.quaternion):
            R = SX(ca.DM(pose.rotation()))
        elif pose.turned_by_rpy():
            R = rpy_matrix(self.vector(pose.rpy))
        else:
            R = quaternion_matrix(self.vector(pose.quaternion))
        return Transform(R, self.vector(pose.xyz))

    def _inertia(self, six: tuple[Number, ...]) -> SX:
        xx, yy, zz, xy, xz, yz = map(self.number, six)
        return ca.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    # what the algorithms ask

    def __len__(self) -> int:
        return len(self.nodes)

    def frame(self, name: str) -> tuple[int, Transform]:
        """Return the node that carries a body or frame, and the frame's pose in that node's frame."""
        body, frame = self.description.carrier(name)
        node, X = self._place[body]
        return node, X @ self.pose(frame.at)

    def joint_frame(self, name: str) -> tuple[int, Transform]:
        """Return the node behind a joint, and the pose of the child's joint frame in that node's frame."""
        return self._joints[name]

    @functools.cached_property
    def world(self) -> tuple[Transform, ...]:
        """Return the pose of every node in the ground frame."""
        out: list[Transform] = []
        for node in self.nodes:
            X = node.X.merged() if isinstance(node.X, Product) else node.X
            out.append(X if node.parent == ROOT else out[node.parent] @ X)
        return tuple(out)

    def world_frame(self, name: str) -> Transform:
        """Return the pose of a body or frame in the ground frame."""
        node, X = self.frame(name)
        return X if node == ROOT else self.world[node] @ X

    def path(self, i: int) -> list[int]:
        """Return node i and its ancestors, outermost first."""
        out = []
        while i != ROOT:
            out.append(i)
            i = self.nodes[i].parent
        return out

    def joint_velocity(self, i: int, v: SX) -> Motion:
        """Return the velocity of node i relative to its parent for generalised velocities `v`."""
        node = self.nodes[i]
        total = Motion.zero()
        for S, k in zip(node.S, node.v):
            total = total + S * v[k]
        return total

    # building

    def _add(self, c: Connection) -> None:
        parent, X_parent = self._place[c.parent]
        X = X_parent @ self.pose(c.at)
        if not (self._merge_fixed and isinstance(c.joint, Fixed)):
            q0 = self.description.q_slices[c.name].start
            v0 = self.description.v_slices[c.name].start
            for part in self._resolved(c.joint).elementary():
                v = tuple(range(v0, v0 + part.nv))
                armature, rotor = self._drive(c, v0 - self.description.v_slices[c.name].start, part.nv)
                rotor_in_parent = ca.mtimes(X_parent.R, rotor)
                self._raw.append(_Raw(parent, X, part, slice(q0, q0 + part.nq), v, armature, rotor_in_parent))
                parent, X, X_parent = len(self._raw) - 1, Transform.identity(), Transform.identity()
                q0, v0 = q0 + part.nq, v0 + part.nv
        self._joints[c.name] = (parent, X)
        self._place[c.child] = (parent, X @ self.pose(c.child_at).inverse())

    def _resolved(self, joint: Joint) -> Joint:
        symbols = {
            f.name: self.number(held)
            for f in dataclasses.fields(joint)  # type: ignore[arg-type]
            if isinstance(held := getattr(joint, f.name), Parameter)
        }
        return dataclasses.replace(joint, **symbols) if symbols else joint  # type: ignore[type-var]

    def _drive(self, c: Connection, first: int, count: int) -> tuple[tuple[SX, ...], SX]:
        armature = [self.number(a) for a in c.per_freedom("armature")[first : first + count]]
        if c.rotor is None:
            return tuple(armature), SX.zeros(3)
        ratio, inertia = self.number(c.rotor.ratio), self.number(c.rotor.inertia)
        armature[0] += ratio**2 * inertia
        return tuple(armature), ratio * inertia * self.vector(c.rotor.axis)

    def _node(self, i: int) -> Node:
        raw = self._raw[i]
        to_working = _transform(self._working.inner[i]).inverse()
        R_parent = np.eye(3) if raw.parent == ROOT else self._working.inner[raw.parent].R
        return Node(
            parent=raw.parent,
            X=self._working.pose(i, self.q[raw.q]),
            S=tuple(self._working.subspace(i)),
            v=raw.v,
            inertia=to_working.inertia_to_parent(raw.inertia),
            armature=raw.armature,
            rotor=Force(ca.mtimes(SX(ca.DM(R_parent.T)), raw.rotor), SX.zeros(3)),
        )

    def _in_working_frame(self, node: int, X: Transform) -> tuple[int, Transform]:
        if node == ROOT:
            return node, X
        return node, _transform(self._working.inner[node]).inverse() @ X


class _WorkingFrames:
    """For each raw node the frame before its joint (`outer`) and the frame behind it (`inner`).

    `inner` is in the node's raw frame; `outer` in the parent's working frame. For a joint with an axis both have z
    along it, and the joint turns by q + angle and shifts by shift (+ q) between them.
    """

    def __init__(self, raw: list[_Raw]):
        self._raw = raw
        self._leading: dict[int, int] = {}
        for i, node in enumerate(raw):
            if node.parent != ROOT and self._has_axis(i) and node.parent not in self._leading:
                self._leading[node.parent] = i
        self.inner: list[Placement] = []
        self._outer: list[Transform] = []
        self._offset: list[tuple[float, float]] = []
        for i in range(len(raw)):
            self._choose(i)

    def _has_axis(self, i: int) -> bool:
        return self._raw[i].joint.axis_line is not None and self._raw[i].placement is not None

    def _choose(self, i: int) -> None:
        raw = self._raw[i]
        parent_inner = Placement.identity() if raw.parent == ROOT else self.inner[raw.parent]
        to_parent = _transform(parent_inner).inverse()
        if not self._has_axis(i):
            self.inner.append(Placement.identity())
            self._outer.append(to_parent @ raw.X)
            self._offset.append((0.0, 0.0))
            return
        joint_frame = raw.placement
        assert joint_frame is not None
        axis = np.array(raw.joint.axis_line)
        normal = self._normal(raw.parent) if self._leading.get(raw.parent) == i else None
        outer = normal.step if normal else self._plain(parent_inner.inverse() @ joint_frame, axis)
        outer_raw = joint_frame.inverse() @ (parent_inner @ outer)
        own = self._normal(i)
        inner = own.foot if own else outer_raw
        self.inner.append(inner)
        self._outer.append(_transform(outer))
        self._offset.append(turn_about_z(outer_raw, inner))

    def _plain(self, joint_frame: Placement, axis: np.ndarray) -> Placement:
        return Placement(frame_with_z(joint_frame.R @ axis), joint_frame.p)

    @functools.cache  # noqa: B019  (lives as long as the tree is built)
    def _normal(self, i: int):  # type: ignore[no-untyped-def]
        """Return the common normal from node i's axis to its leading child's, in i's raw frame, or None."""
        child = self._leading.get(i)
        turns = i != ROOT and self._has_axis(i) and self._raw[i].joint.rotational[0]
        if child is None or not turns:
            return None
        at = self._raw[child].placement
        assert at is not None
        direction = at.R @ np.array(self._raw[child].joint.axis_line)
        return common_normal(np.array(self._raw[i].joint.axis_line), at.p, direction)

    def pose(self, i: int, q: SX) -> Transform | Product:
        """Return the pose of node i in its parent's working frame."""
        outer, joint = self._outer[i], self._raw[i].joint
        if not self._has_axis(i):
            return outer @ joint.transform(q)
        angle, shift = self._offset[i]
        along_z = dataclasses.replace(joint, axis=(0.0, 0.0, 1.0))  # type: ignore[type-var]
        moved = along_z.transform(q)  # type: ignore[attr-defined]
        if angle:
            turn = q[0] + angle if joint.rotational[0] else SX(angle)
            moved = Transform(axis_angle((0, 0, 1), ca.sin(turn), ca.cos(turn)), moved.p)
        inner = Transform(moved.R, moved.p + SX(ca.DM([0, 0, shift])))
        constant = np.array(ca.DM(outer.R))
        return Product(outer, inner) if sparse(constant) else outer @ inner

    def subspace(self, i: int) -> list[Motion]:
        """Return the free directions in the working frame."""
        joint = self._raw[i].joint
        if self._has_axis(i):
            joint = dataclasses.replace(joint, axis=(0.0, 0.0, 1.0))  # type: ignore[type-var]
        return joint.motion_subspace()


def _transform(placement: Placement) -> Transform:
    return Transform(SX(ca.DM(placement.R)), SX(ca.DM(placement.p)))
