"""A mechanism as the algorithms see it: a tree of nodes with symbols, one node for each elementary joint.

Bodies joined by fixed joints are one node; a joint made of several elementary ones is several nodes, of which only
the last carries the body. A flexible body has modal coordinates beside its joint, and a node for each of its stations that
carries something: its free directions are the motions that the modal rates give it. Parents come before children.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.flexible.body import ElasticBody
from articulus.dynamics.flexible.data import BodyData, SharedData, StationShapes
from articulus.dynamics.flexible.integrals import NINE, sparse
from articulus.dynamics.flexible.station import DeformedStation
from articulus.dynamics.frames import FixedPose, common_normal, turn_about_z
from articulus.model.mechanism import (
    GROUND,
    Body,
    Connection,
    Description,
    Fixed,
    Joint,
    Number,
    Pose,
    Revolute,
    Varying,
)
from articulus.model.mechanism.expression import evaluate
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
Pattern = tuple[int | None, ...]
"""Index of the ground among the nodes."""


@dataclass(frozen=True)
class Node:
    """One elementary joint and the body behind it, or a station of a flexible body, in the node's own frame."""

    X: Transform | Product
    """Pose in the parent's frame at the joint's position."""
    S: tuple[Motion, ...]
    """Free directions, constant in this frame but for stations."""
    inertia: RigidInertia
    """Of the body, as it is deformed."""
    armature: tuple[SX, ...]
    """Inertia added to each degree of freedom, reflected rotors included."""
    rotor: Force
    """Spin momentum that unit joint speed gives a rotor on the parent, in the parent's frame."""
    body: ElasticBody | None = None
    """What else a flexible body has."""
    station: DeformedStation | None = None

    def joint_velocity(self, v: SX) -> Motion:
        """Return the velocity relative to the parent for the rates `v` of this node's degrees of freedom."""
        total = Motion.zero()
        for k, S in enumerate(self.S):
            total = total + S * v[k]
        return total


@dataclass(frozen=True)
class NodeParts:
    """The constants that a node is made of; `with_data` makes them symbols.

    A joint with an axis turns by q + `angle` and shifts by `shift` (+ q) about z behind the constant pose `outer`.
    """

    parent: int
    joint: Joint
    q: slice
    v: tuple[int, ...]
    has_axis: bool
    outer: Transform
    angle: SX
    shift: SX
    inertia: RigidInertia
    armature: tuple[SX, ...]
    rotor: SX
    modes: tuple[int, ...] = ()
    """Where the modal rates of a flexible body stand in v."""

    def inner(self, q: SX) -> Transform:
        """Return the pose behind the joint in the frame `outer`."""
        if not self.has_axis:
            return self.joint.transform(q)
        moved = self._along_z().transform(q)
        if not self.angle.is_zero():
            turn = q[0] + self.angle if self.joint.rotational[0] else self.angle
            moved = Transform(axis_angle((0, 0, 1), ca.sin(turn), ca.cos(turn)), moved.p)
        return Transform(moved.R, moved.p + ca.vertcat(0, 0, self.shift))

    def place(self, q: SX) -> SX:
        """Return the numbers of the joint's pose that change: cosine, sine, shift; or a whole rotation and position."""
        inner = self.inner(q)
        if self.has_axis:
            return ca.vertcat(inner.R[0, 0], inner.R[1, 0], inner.p[2])
        return (self.outer @ inner).pack()

    def node(self, place: SX) -> Node:
        """Return the node whose joint is at `place`."""
        if self.has_axis:
            c, s, z = place[0], place[1], place[2]
            inner = Transform(ca.blockcat([[c, -s, 0], [s, c, 0], [0, 0, 1]]), ca.vertcat(0, 0, z))
            X = Product(self.outer, inner) if self._sparse() else self.outer @ inner
        else:
            X = Transform.unpack(place)
        return Node(
            X,
            self.subspace(),
            self.inertia,
            self.armature,
            Force(self.rotor, SX.zeros(3)),
        )

    def subspace(self) -> tuple[Motion, ...]:
        """Return the free directions in the working frame."""
        return tuple((self._along_z() if self.has_axis else self.joint).motion_subspace())

    def _along_z(self) -> Joint:
        return along_z(self.joint)

    def _sparse(self) -> bool:
        return self.outer.R.nnz() - _zeros(self.outer.R) <= 5

    # shape and data: what differs in kind, and what differs in number only

    def _leaves(self) -> list[SX]:
        return [
            self.outer.R,
            self.outer.p,
            self.angle,
            self.shift,
            self.inertia.pack(),
            *self.armature,
            self.rotor,
            *self._joint_symbols().values(),
            *self._more(),
        ]

    def _more(self) -> list[SX]:
        """Return what flexible bodies and their stations have beside it."""
        return []

    def _with_more(self, leaves: list[SX]) -> dict[str, Any]:
        """Return the fields that `_more` comes from, with other leaves."""
        return {}

    def _kind(self) -> tuple:
        """Return what else two nodes must have in common to share code."""
        return ()

    def _joint_symbols(self) -> dict[str, SX]:
        """Return the fields of the joint that are named parameters."""
        fields = dataclasses.fields(self.joint)  # type: ignore[arg-type]
        return {f.name: held for f in fields if isinstance(held := getattr(self.joint, f.name), SX)}

    def shape(self) -> tuple:
        """Return what two nodes must have in common to share code: joint, pattern of the constants, parameters or none."""
        text = self._joint_text()
        kinds, data = self._split
        return (text, self.has_axis, self.parent == ROOT, kinds, data.is_constant(), *self._kind())

    def exactly(self) -> tuple[tuple, SX]:
        """Return shape and data with every zero and every one kept: less is computed by code that fewer nodes share."""
        column = ca.densify(ca.vertcat(*map(ca.vec, self._leaves())))
        kinds = entry_pattern(column)
        data = column[[k for k, kind in enumerate(kinds) if kind is None]]
        return (self._joint_text(), self.has_axis, kinds), data

    def _joint_text(self) -> str:
        joint = self._along_z() if self.has_axis else self.joint
        return repr(_with_fields(joint, {name: SX.sym(name) for name in self._joint_symbols()}))

    def _patterns(self, exact: bool = False) -> list[tuple]:
        """Return for each leaf its entries that stay as they are, None for those that become data.

        The rotation keeps its zeros and ones, and a step along a common normal its zeros; elsewhere a leaf is all zero or
        all data, so that many nodes share code. With `exact` every zero and every one stays (see `exactly`).
        """
        values = list(map(_values, self._leaves()))
        if exact:
            return list(map(_exact, values))
        R, p, _angle, _shift, inertia, *rest = values
        rest, held = rest[: len(self.armature) + 1], rest[len(self.armature) + 1 :]
        held, more = held[: (count := len(self._joint_symbols()))], held[count:]
        joint = [(None,) if self.has_axis else (0,)] * 2
        return [
            _exact(R),
            _step_pattern(p),
            *joint,
            _inertia_pattern(inertia),
            *map(_all_or_nothing, rest),
            *((None,) for _ in held),
            *map(_zeros_kept, more),
        ]

    @functools.cached_property
    def _split(self) -> tuple[tuple, SX]:
        """Patterns of the leaves, and what is data in them."""
        kinds = tuple(self._patterns())
        column = ca.densify(ca.vertcat(*map(ca.vec, self._leaves())))
        return kinds, column[[k for k, kind in enumerate(itertools.chain(*kinds)) if kind is None]]

    def data(self) -> SX:
        """Return the constants that differ from node to node, as a column; named parameters are symbols in it."""
        return self._split[1]

    def with_data(self, data: SX, exact: bool = False) -> NodeParts:
        """Return the same node with symbols for its constants, in the order of `data`, or of `exactly`."""
        leaves, patterns = self._leaves(), self._patterns(True) if exact else self._split[0]
        kinds = list(itertools.chain(*patterns))
        column = SX(ca.DM([kind or 0 for kind in kinds]))
        if free := [k for k, kind in enumerate(kinds) if kind is None]:
            column[free] = data
        ends = np.cumsum([0, *map(len, patterns)]).tolist()
        entries = zip(ca.vertsplit(column, ends), leaves)
        R, p, angle, shift, inertia, *rest = (ca.reshape(x, *leaf.shape) for x, leaf in entries)
        count = len(self.armature)
        armature, rotor, held = rest[:count], rest[count], rest[count + 1 :]
        names = self._joint_symbols()
        return dataclasses.replace(
            self,
            joint=_with_fields(self.joint, dict(zip(names, held))),
            outer=Transform(R, p),
            angle=angle,
            shift=shift,
            inertia=RigidInertia.unpack(inertia),
            armature=tuple(armature),
            rotor=rotor,
            **self._with_more(held[len(names) :]),
        )


@dataclass(frozen=True, kw_only=True)
class ElasticParts(NodeParts):
    """A joint and a flexible body, in the frame of the body; `inertia` is that of rigid bodies that move with the frame."""

    elastic: BodyData | SharedData
    behind: Transform
    """Pose of the body's frame in the frame behind the joint."""

    def place(self, q: SX) -> SX:
        """Return rotation and position of the body's frame, and the modal coordinates."""
        X = self.outer @ self.joint.transform(q[: self.joint.nq]) @ self.behind
        return ca.vertcat(X.pack(), q[self.joint.nq :])

    def node(self, place: SX) -> Node:
        body = ElasticBody.of(self.elastic, place[12:], self.inertia)
        rotor = Force(self.rotor, SX.zeros(3))
        X = Transform.unpack(place[:12])
        return Node(X, self.subspace(), body.inertia, self.armature, rotor, body)

    def subspace(self) -> tuple[Motion, ...]:
        return tuple(self.behind.motion_to_child(s) for s in self.joint.motion_subspace())

    def _more(self) -> list[SX]:
        return [self.behind.R, self.behind.p, *map(_column, self.elastic.integrals.arrays())]

    def _with_more(self, leaves: list[SX]) -> dict[str, Any]:
        R, p, *columns = leaves
        held = self.elastic.integrals
        arrays = list(map(_array, columns, held.arrays()))
        shared = SharedData(held.with_arrays(arrays), self.elastic.level, self.elastic.count)
        return {"behind": Transform(R, p), "elastic": shared}

    def _kind(self) -> tuple:
        signs = tuple(particle.sign for particle in self.elastic.integrals.particles)
        return ("body", self.elastic.level, len(self.modes), signs)


@dataclass(frozen=True, kw_only=True)
class StationParts(NodeParts):
    """A station of a flexible body; its rates are the modal rates of the body."""

    elastic: StationShapes
    stiff: bool = False
    """Whether it stays where the body is undeformed."""
    unfelt: bool = False
    """Whether the inertia forces of its body know nothing of the deformation."""

    def place(self, q: SX) -> SX:
        """Return the modal coordinates and what depends on them."""
        return DeformedStation.place(self.elastic, q, self.stiff)

    def node(self, place: SX) -> Node:
        station = DeformedStation.at_place(self.elastic, place, self.stiff)
        S = tuple(Motion.of(column) for column in ca.horzsplit(station.U))
        return Node(station.X, S, self.inertia, self.armature, Force.zero(), station=station)

    def _more(self) -> list[SX]:
        return list(map(_column, self.elastic.arrays()))

    def _with_more(self, leaves: list[SX]) -> dict[str, Any]:
        return {"elastic": StationShapes(*map(_array, leaves, self.elastic.arrays()))}

    def _kind(self) -> tuple:
        return ("station", self.stiff, len(self.v))


def _column(array: Any) -> SX:
    """Return the entries of an array of constants, or one of them."""
    if isinstance(array, SX):
        return array
    entries = np.ravel(array)
    return ca.vertcat(SX(0, 1), *map(SX, entries)) if entries.dtype == object else SX(ca.DM(entries))


def _array(entries: SX, like: Any) -> Any:
    """Return entries as an array of numbers and symbols, of the shape of another; one alone for a number."""
    out = np.empty(entries.numel(), dtype=object)
    for k, x in enumerate(ca.vertsplit(entries) if entries.numel() else ()):
        out[k] = float(x) if x.is_constant() else x
    return out.reshape(like.shape) if isinstance(like, np.ndarray) else out[0]


def along_z(joint: Joint) -> Joint:
    """Return a joint with its axis along z."""
    return dataclasses.replace(joint, axis=(0.0, 0.0, 1.0))  # type: ignore[type-var]


def _with_fields(joint: Joint, fields: dict[str, SX]) -> Joint:
    return dataclasses.replace(joint, **fields) if fields else joint  # type: ignore[type-var]


def _values(leaf: SX) -> list[float]:
    """Return the entries by columns, nan for those that depend on named parameters."""
    if leaf.is_constant():
        return ca.densify(ca.DM(leaf)).nonzeros()
    entries = ca.vertsplit(ca.vec(ca.densify(leaf)))
    return [float(x) if x.is_constant() else np.nan for x in entries]


def entry_pattern(leaf: SX) -> Pattern:
    """Return for each entry 0, 1 or -1 when it is exactly that, else None."""
    return _exact(_values(leaf))


def _exact(values: list[float]) -> Pattern:
    return tuple(int(x) if x in (0.0, 1.0, -1.0) else None for x in values)


def _zeros_kept(values: list[float]) -> Pattern:
    return tuple(0 if x == 0.0 else None for x in values)


def _all_or_nothing(values: list[float]) -> Pattern:
    return (None if any(values) else 0,) * len(values)


def _step_pattern(p: list[float]) -> Pattern:
    """Return the pattern of a position: nothing, a step along x as common normals are, or three numbers."""
    return (None, 0, 0) if not any(p[1:]) and any(p) else _all_or_nothing(p)


def _inertia_pattern(ten: list[float]) -> Pattern:
    """Return the pattern of m, h, J: all zero, or data but for the zeros that `regroup_inertia` makes."""
    if not any(ten):
        return _exact(ten)
    return tuple(0 if k in REGROUPED and x == 0 else None for k, x in enumerate(ten))


def _zeros(matrix: SX) -> int:
    return sum(matrix[i].is_zero() for i in range(matrix.numel()))


REGROUPED = (0, 3, 7)
"""Of the ten numbers m, h, J of a node behind a hinge: those that `regroup_inertia` makes zero (m, hz, Jyy)."""


def regroup_inertia(parts: list[NodeParts]) -> list[NodeParts]:
    """Return the nodes with all inertia that hinges do not move counted with their parents.

    A mass on the axis, a first moment along it and equal moments across it feel nothing of a turn about z: they
    belong to the parent as well as to the node (Mayeda, Yoshida & Osuka 1990; Gautier & Khalil 1990). What the node
    keeps has m = hz = Jyy = 0, and products with zero vanish from the equations.
    """
    inertia = [part.inertia for part in parts]
    for i in reversed(range(len(parts))):
        part, own = parts[i], inertia[i]
        if not (part.has_axis and isinstance(part.joint, Revolute) and own.pack().is_constant()):
            continue
        across = own.J[1, 1]
        moved = RigidInertia(own.m, ca.vertcat(0, 0, own.h[2]), ca.diag(ca.vertcat(across, across, 0)))
        J = own.J
        kept = ca.vertcat(0, own.h[:2], 0, J[0, 0] - across, J[0, 1], J[0, 2], 0, J[1, 2], J[2, 2])
        inertia[i] = RigidInertia.unpack(kept)
        if part.parent != ROOT:
            at = part.outer @ Transform(SX.eye(3), ca.vertcat(0, 0, part.shift))
            inertia[part.parent] += at.inertia_to_parent(moved)
    return [dataclasses.replace(part, inertia=own) for part, own in zip(parts, inertia)]


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
    elastic: BodyData | None = None
    """Of the flexible body behind the joint, or of the body that the station is on."""
    behind: Transform = dataclasses.field(default_factory=Transform.identity)
    """Pose of a flexible body's frame, which is then the node's, in the frame behind the joint."""
    modes: tuple[int, ...] = ()
    station: str = ""

    @property
    def placement(self) -> FixedPose | None:
        """Return the constant pose as numbers, None when it has parameters in it."""
        if not (self.X.R.is_constant() and self.X.p.is_constant()):
            return None
        return FixedPose(np.array(ca.DM(self.X.R)), np.array(ca.DM(self.X.p)).ravel())


class Tree:
    """The nodes of a mechanism with the symbols of its position and parameters.

    Attributes
    ----------
    q, v, p : SX
        Symbols of position, velocity and named parameters.
    parts : tuple of NodeParts
        The constants of every node.
    parents : tuple of int
        Parent of every node, ROOT for the ground.
    dofs : tuple of tuple of int
        Where the rates of every node stand in v; those of a station are the modal rates of its body.
    modes : tuple of tuple of int
        Where the modal rates of the body of every node stand in v.
    stations : tuple of bool
        Which nodes are stations of flexible bodies.
    data : dict of body to BodyData
        The constants of flexible bodies.
    unfelt : list of int
        Degrees of freedom whose coordinates and rates make no inertia forces, only their accelerations do.
    gravity : SX
        Acceleration of gravity in ground axes [m/s^2].

    Coupled joints are nodes like all others, free to move by themselves: `dynamics.coupled` makes them follow.
    With `merge_fixed=False` a fixed joint is a node without degree of freedom, so that its force can be told. With
    `regroup=True` inertia that a hinge does not move is counted with its parent (see `regroup_inertia`): the joint forces
    and accelerations stay the same, the bodies' own mass and momentum do not.
    """

    def __init__(self, description: Description, merge_fixed: bool = True, regroup: bool = False):
        self.description = description = description.uncoupled
        self._merge_fixed = merge_fixed
        self.q = SX.sym("q", description.nq)
        self.v = SX.sym("v", description.nv)
        self.p = SX.sym("p", len(description.parameters))
        self._index = {p.name: i for i, p in enumerate(description.parameters)}
        self.gravity = self.vector(description.gravity)
        self._raw: list[_Raw] = []
        self._place: dict[str, tuple[int, Transform]] = {GROUND: (ROOT, Transform.identity())}
        self._joints: dict[str, tuple[int, Transform]] = {}
        self._stations: dict[tuple[str, str], tuple[int, Transform]] = {}
        self.unfelt: list[int] = []
        self.data = {
            b.name: BodyData(b.modes, self.number) for b in description.bodies if b.modes is not None
        }
        self._elastic = {name: data for name, data in self.data.items() if data.count}
        for connection in description.connections:
            self._add(connection)
        for body in description.bodies:
            node, X = self._place[body.name]
            if node != ROOT and body.name not in self._elastic:
                self._raw[node].inertia += X.inertia_to_parent(self._rigid(body))
        self._working = _WorkingFrames(self._raw)
        parts = [self._parts(i) for i in range(len(self._raw))]
        self.parts = tuple(regroup_inertia(parts) if regroup else parts)
        self.parents = tuple(part.parent for part in self.parts)
        self.dofs = tuple(part.v for part in self.parts)
        self.modes = tuple(part.modes for part in self.parts)
        self.stations = tuple(isinstance(part, StationParts) for part in self.parts)
        self._place = {name: self._in_working_frame(*at) for name, at in self._place.items()}
        self._joints = {name: self._in_working_frame(*at) for name, at in self._joints.items()}

    def with_regrouped_inertia(self) -> Tree:
        """Return the same tree, symbols included, with inertia that hinges do not move counted with the parents."""
        other = copy.copy(self)
        for kept in ("nodes", "inertial"):
            other.__dict__.pop(kept, None)
        other.parts = tuple(regroup_inertia(list(self.parts)))
        return other

    # numbers of the model as symbols

    def number(self, x: Number) -> SX:
        return SX(evaluate(x, lambda p: self.p[self._index[p.name]], ca))

    def vector(self, x: tuple[Number, ...]) -> SX:
        return ca.vertcat(*map(self.number, x))

    def pose(self, pose: Pose) -> Transform:
        return transform_of(pose, self.number)

    def inertia(self, six: tuple[Number, ...]) -> SX:
        xx, yy, zz, xy, xz, yz = map(self.number, six)
        return ca.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    # what the algorithms ask

    def __len__(self) -> int:
        return len(self.parts)

    def frame(self, name: str) -> tuple[int, Transform]:
        """Return the node that carries a body or frame, and the frame's pose in that node's frame."""
        body, frame = self.description.carrier(name)
        node, X = self._carrier(body, frame.node)
        return node, X @ self.pose(frame.at)

    def joint_frame(self, name: str) -> tuple[int, Transform]:
        """Return the node behind a joint, and the pose of the child's joint frame in that node's frame."""
        return self._joints[name]

    @functools.cached_property
    def world(self) -> tuple[Transform, ...]:
        """Return the pose of every node in the ground frame."""
        out: list[Transform] = []
        for node, parent in zip(self.nodes, self.parents):
            X = node.X.merge() if isinstance(node.X, Product) else node.X
            out.append(X if parent == ROOT else out[parent] @ X)
        return tuple(out)

    def world_frame(self, name: str) -> Transform:
        """Return the pose of a body or frame in the ground frame."""
        node, X = self.frame(name)
        return X if node == ROOT else self.world[node] @ X

    def span(self, i: int) -> slice:
        """Return where the rates of node i stand in v."""
        v = self.dofs[i]
        return slice(v[0], v[-1] + 1) if v else slice(0, 0)

    def modal(self, i: int) -> slice:
        """Return where the modal rates of the body of node i stand in v."""
        v = self.modes[i]
        return slice(v[0], v[-1] + 1) if v else slice(0, 0)

    def path(self, i: int) -> list[int]:
        """Return node i and its ancestors, outermost first."""
        out = []
        while i != ROOT:
            out.append(i)
            i = self.parents[i]
        return out

    # modal coordinates

    @property
    def flexible(self) -> bool:
        """Whether there are modal coordinates."""
        return bool(self._elastic)

    @functools.cached_property
    def inertial(self) -> Tree:
        """The tree for masses and forces: bodies of the "ruthless" level hold things where they are undeformed."""
        if not any(modes.level == "ruthless" for modes in self._elastic.values()):
            return self
        out = copy.copy(self)
        for kept in ("nodes", "world"):
            out.__dict__.pop(kept, None)
        out.parts = tuple(_stiffen(part) for part in self.parts)
        ruthless = (name for name, modes in self._elastic.items() if modes.level == "ruthless")
        out.unfelt = [k for name in ruthless for k in self.parts[self._place[name][0]].modes]
        out.__dict__["inertial"] = out
        return out

    def felt(self, v: Any) -> Any:
        """Return the velocities that make inertia forces: v without the modal rates of "ruthless" bodies."""
        if not self.unfelt:
            return v
        kept = np.ones(self.description.nv)
        kept[self.unfelt] = 0.0
        return v * ca.DM(kept)

    # building

    def _rigid(self, body: Body) -> RigidInertia:
        if body.modes is not None:
            rr0 = self.data[body.name].array("rr0")
            return RigidInertia.unpack(ca.vertcat(SX(rr0[3, 3]), ca.densify(sparse(rr0[NINE[0], NINE[1]]))))
        return RigidInertia.about_com(
            self.number(body.mass), self.vector(body.com), self.inertia(body.inertia)
        )

    def _carrier(self, body: str, station: str) -> tuple[int, Transform]:
        """Return the node that carries a body or a station of it, and its pose in that node's frame."""
        if not station:
            return self._place[body]
        if body in self._elastic:
            return self._stations[body, station]
        node, X = self._place[body]
        position = (
            self.data[body].station(station).position
        )  # without modal coordinates a station is a fixed place
        return node, X @ Transform(SX.eye(3), ca.densify(sparse(position)))

    def _add(self, c: Connection) -> None:
        parent, X_parent = self._carrier(c.parent, c.node)
        X = X_parent @ self.pose(c.at)
        elastic = self._elastic.get(c.child)
        if elastic is not None or not (self._merge_fixed and isinstance(c.joint, Fixed)):
            q0 = self.description.q_slices[c.name].start
            v0 = self.description.v_slices[c.name].start
            for part in self.joint_on_symbols(c.joint).elementary():
                v = tuple(range(v0, v0 + part.nv))
                armature, rotor = self._drive(c, v0 - self.description.v_slices[c.name].start, part.nv)
                rotor_in_parent = ca.mtimes(X_parent.R, rotor)
                self._raw.append(_Raw(parent, X, part, slice(q0, q0 + part.nq), v, armature, rotor_in_parent))
                parent, X, X_parent = len(self._raw) - 1, Transform.identity(), Transform.identity()
                q0, v0 = q0 + part.nq, v0 + part.nv
        if elastic is not None:
            self._make_elastic(c, elastic)
            return
        self._joints[c.name] = (parent, X)
        self._place[c.child] = (parent, X @ self.pose(c.child_at).inverse())

    def _make_elastic(self, c: Connection, elastic: BodyData) -> None:
        """Put a flexible body behind the last node, in its own frame, with its stations."""
        i, raw, n = len(self._raw) - 1, self._raw[-1], elastic.count
        raw.elastic, raw.behind = elastic, self.pose(c.child_at).inverse()
        q = slice(raw.q.stop, raw.q.stop + n)
        raw.q = slice(raw.q.start, q.stop)
        at = self.description.mode_slices(c.child)[0]
        raw.modes = tuple(range(at.start, at.stop))
        self._joints[c.name] = (i, self.pose(c.child_at))
        self._place[c.child] = (i, Transform.identity())
        for name in dict.fromkeys(self._stations_of(c.child)):
            still, none = Transform.identity(), (SX(0),) * n
            self._raw.append(
                _Raw(i, still, Fixed(), q, raw.modes, none, SX.zeros(3), elastic=elastic, station=name)
            )
            self._stations[c.child, name] = (len(self._raw) - 1, Transform.identity())

    def _stations_of(self, body: str) -> Iterator[str]:
        """Yield the stations of a body that carry something."""
        yield from (c.node for c in self.description.connections if c.parent == body and c.node)
        yield from (f.node for f in self.description.frames if f.body == body and f.node)

    def joint_on_symbols(self, joint: Joint) -> Joint:
        symbols = {
            f.name: self.number(held)
            for f in dataclasses.fields(joint)  # type: ignore[arg-type]
            if isinstance(held := getattr(joint, f.name), Varying)
        }
        return _with_fields(joint, symbols)

    def _drive(self, c: Connection, first: int, count: int) -> tuple[tuple[SX, ...], SX]:
        armature = [self.number(a) for a in c.per_dof("armature")[first : first + count]]
        if c.rotor is None:
            return tuple(armature), SX.zeros(3)
        ratio, inertia = self.number(c.rotor.ratio), self.number(c.rotor.inertia)
        armature[0] += ratio**2 * inertia
        return tuple(armature), ratio * inertia * self.vector(c.rotor.axis)

    def _parts(self, i: int) -> NodeParts:
        raw, (angle, shift) = self._raw[i], self._working.offset[i]
        to_working = _transform(self._working.inner[i]).inverse()
        R_parent = np.eye(3) if raw.parent == ROOT else self._working.inner[raw.parent].R
        parts = NodeParts(
            parent=raw.parent,
            joint=raw.joint,
            q=raw.q,
            v=raw.v,
            has_axis=self._working.has_axis(i),
            outer=self._working.outer[i],
            angle=SX(angle),
            shift=SX(shift),
            inertia=to_working.inertia_to_parent(raw.inertia),
            armature=raw.armature,
            rotor=ca.mtimes(SX(ca.DM(R_parent.T)), raw.rotor),
        )
        if raw.elastic is None:
            return parts
        held = {f.name: getattr(parts, f.name) for f in dataclasses.fields(parts)}
        behind = raw.behind
        # about z, so that bodies on joints with different axes share code
        if raw.joint.axis_line is not None:
            turn = Transform(SX(ca.DM(frame_with_z(np.array(raw.joint.axis_line)))), SX.zeros(3))
            held |= {"joint": along_z(raw.joint), "outer": parts.outer @ turn}
            behind = turn.inverse() @ behind
        if raw.station:
            unfelt = raw.elastic.level == "ruthless"
            return StationParts(**held, elastic=raw.elastic.shapes(raw.station), unfelt=unfelt)
        return ElasticParts(**(held | {"modes": raw.modes}), elastic=raw.elastic, behind=behind)

    @functools.cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Return the nodes on the symbols of the position."""
        return tuple(part.node(part.place(self.q[part.q])) for part in self.parts)

    def _in_working_frame(self, node: int, X: Transform) -> tuple[int, Transform]:
        if node == ROOT:
            return node, X
        return node, _transform(self._working.inner[node]).inverse() @ X


def tree_of(description: Description, merge_fixed: bool = True, regroup: bool = False) -> Tree:
    """Return the tree of a mechanism, made once: many quantities of one mechanism are asked one after another."""
    return _build_tree(description, merge_fixed, regroup)


@functools.lru_cache(maxsize=8)
def _build_tree(description: Description, merge_fixed: bool, regroup: bool) -> Tree:
    return (
        _build_tree(description, merge_fixed, False).with_regrouped_inertia()
        if regroup
        else Tree(description, merge_fixed)
    )


def _stiffen(part: NodeParts) -> NodeParts:
    held = isinstance(part, StationParts) and part.unfelt
    return dataclasses.replace(part, stiff=True) if held else part  # type: ignore[call-arg]


class _WorkingFrames:
    """For each raw node the frame before its joint (`outer`) and the frame behind it (`inner`).

    `inner` is in the node's raw frame; `outer` in the parent's working frame. For a joint with an axis both have z
    along it, and the joint turns by q + angle and shifts by shift (+ q) between them.
    """

    def __init__(self, raw: list[_Raw]):
        self._raw = raw
        self._leading: dict[int, int] = {}
        for i, node in enumerate(raw):
            if node.parent != ROOT and self.has_axis(i) and node.parent not in self._leading:
                self._leading[node.parent] = i
        self.inner: list[FixedPose] = []
        self.outer: list[Transform] = []
        self.offset: list[tuple[float, float]] = []
        self._normals = [self._normal(i) for i in range(len(raw))]
        for i in range(len(raw)):
            self._choose(i)

    def has_axis(self, i: int) -> bool:
        raw = self._raw[i]
        return raw.joint.axis_line is not None and raw.placement is not None and raw.elastic is None

    def _choose(self, i: int) -> None:
        raw = self._raw[i]
        parent_inner = FixedPose.identity() if raw.parent == ROOT else self.inner[raw.parent]
        to_parent = _transform(parent_inner).inverse()
        if not self.has_axis(i):
            self.inner.append(FixedPose.identity())
            self.outer.append(to_parent @ raw.X)
            self.offset.append((0.0, 0.0))
            return
        joint_frame = raw.placement
        assert joint_frame is not None
        axis = np.array(raw.joint.axis_line)
        normal = self._normals[raw.parent] if self._leading.get(raw.parent) == i else None
        outer = normal.step if normal else self._plain(parent_inner.inverse() @ joint_frame, axis)
        outer_raw = joint_frame.inverse() @ (parent_inner @ outer)
        own = self._normals[i]
        inner = own.foot if own else outer_raw
        self.inner.append(inner)
        self.outer.append(_transform(outer))
        self.offset.append(turn_about_z(outer_raw, inner))

    def _plain(self, joint_frame: FixedPose, axis: np.ndarray) -> FixedPose:
        return FixedPose(frame_with_z(joint_frame.R @ axis), joint_frame.p)

    def _normal(self, i: int):  # type: ignore[no-untyped-def]
        """Return the common normal from node i's axis to its leading child's, in i's raw frame, or None."""
        child = self._leading.get(i)
        turns = self.has_axis(i) and self._raw[i].joint.rotational[0]
        if child is None or not turns:
            return None
        at = self._raw[child].placement
        assert at is not None
        direction = at.R @ np.array(self._raw[child].joint.axis_line)
        return common_normal(np.array(self._raw[i].joint.axis_line), at.p, direction)


def _transform(placement: FixedPose) -> Transform:
    return Transform(SX(ca.DM(placement.R)), SX(ca.DM(placement.p)))


def transform_of(pose: Pose, number: Callable[[Number], SX]) -> Transform:
    """Return a constant pose as expressions; `number` makes an expression of a number of the model."""
    vector = lambda numbers: ca.vertcat(*map(number, numbers))  # noqa: E731
    if not any(isinstance(x, Varying) for x in pose.rpy + pose.quaternion):
        R = SX(ca.DM(pose.rotation()))
    elif pose.turned_by_rpy():
        R = rpy_matrix(vector(pose.rpy))
    else:
        R = quaternion_matrix(vector(pose.quaternion))
    return Transform(R, vector(pose.xyz))
