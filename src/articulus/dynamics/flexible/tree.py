"""A tree of rigid and flexible bodies on symbols: how each node moves with its parent, its parent's modes and its joint.

    V_i = X_i V_p + U_i eta_dot_p + S_i v_i

X_i takes motions of the parent's frame to node i, U_i are the motions that the parent's modal rates give the place where
the joint sits, S_i the free directions of the joint. All columns are in the axes of node i.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.dynamics.flexible.body import ElasticBody
from articulus.dynamics.tree import ROOT, Tree
from articulus.errors import UnsupportedOperation
from articulus.mechanism import GROUND, Connection
from articulus.spatial import Motion, RigidInertia, Transform, cayley


@dataclass(frozen=True)
class Place:
    """Where something sits on a body: pose in the body's frame, and the motions that modal rates give it there."""

    X: Transform
    U: SX
    """(6, n) in the axes of the place; no columns on a rigid body."""

    def __matmul__(self, X: Transform) -> Place:
        """Return the place at the constant or jointed pose X behind this one."""
        return Place(self.X @ X, ca.mtimes(motion_matrix(X), self.U))


@dataclass(frozen=True)
class Node:
    """One elementary joint and the body behind it."""

    parent: int
    place: Place
    """Of this node's frame on the parent."""
    S: SX
    """(6, nv) Free directions in this node's axes."""
    q: slice
    v: slice
    armature: SX
    modes: slice
    """Where the modal coordinates of this node's body stand in v; empty for rigid bodies."""
    modes_q: slice
    body: ElasticBody | None
    """None where the joint goes on with the next elementary joint."""


class FlexibleTree:
    """A mechanism with flexible bodies.

    Parameters
    ----------
    tree : Tree
        Gives the symbols.
    """

    def __init__(self, tree: Tree):
        self.tree, self.description = tree, tree.description
        self.q, self.v = tree.q, tree.v
        self.nodes: list[Node] = []
        self._carriers: dict[str, int] = {GROUND: ROOT}
        self._bodies = {b.name: b for b in self.description.bodies}
        for connection in self.description.connections:
            self._add(connection)

    def _add(self, c: Connection) -> None:
        if c.rotor is not None:
            raise UnsupportedOperation(
                f"joint '{c.name}': a rotor in a mechanism with flexible bodies; use armature = ratio^2 inertia instead"
            )
        d, parts = self.description, c.joint.elementary()
        parent = self._carriers[c.parent]
        place = self.place(c.parent, c.node) @ self.tree.pose(c.at)
        q, v = d.q_slices[c.name].start, d.v_slices[c.name].start
        armature = ca.vertcat(SX(0, 1), *map(self.tree.number, c.per_freedom("armature")))
        first = v
        for i, joint in enumerate(parts):
            here, rates = slice(q, q + joint.nq), slice(v, v + joint.nv)
            moved, columns = joint.transform(self.q[here]), joint.motion_subspace()
            S = ca.horzcat(SX(6, 0), *(s.column() for s in columns))
            last = i == len(parts) - 1
            if last:
                behind = self.tree.pose(c.child_at).inverse()
                moved, S = moved @ behind, ca.mtimes(motion_matrix(behind), S)
            body = self._body(c.child) if last else None
            modes, modes_q = d.mode_slices(c.child) if last else (slice(0, 0), slice(0, 0))
            self.nodes.append(
                Node(
                    parent,
                    place @ moved,
                    S,
                    here,
                    rates,
                    armature[v - first : v - first + joint.nv],
                    modes,
                    modes_q,
                    body,
                )
            )
            parent, place = len(self.nodes) - 1, Place(Transform.identity(), SX(6, 0))
            q, v = here.stop, rates.stop
        self._carriers[c.child] = len(self.nodes) - 1

    def _body(self, name: str) -> ElasticBody:
        body, tree = self._bodies[name], self.tree
        if body.modes is None:
            inertia = RigidInertia.about_com(
                tree.number(body.mass), tree.vector(body.com), tree.inertia(body.inertia)
            )
            return ElasticBody.rigid(inertia)
        _, modes_q = self.description.mode_slices(name)
        return ElasticBody.of(body.modes, self.q[modes_q])

    def place(self, body: str, station: str = "") -> Place:
        """Return a station of a body, or the body's own frame."""
        modes = None if body == GROUND else self._bodies[body].modes
        if modes is None or not station:
            n = 0 if modes is None else modes.count
            return Place(Transform.identity(), SX.zeros(6, n))
        held = modes.station(station)
        _, at = self.description.mode_slices(body)
        eta = self.q[at]
        phi, psi = SX(ca.DM(held.translation)), SX(ca.DM(held.rotation))
        shift = SX(ca.DM(held.position)) + ca.mtimes(phi, eta)
        rate = phi
        if modes.level == "consistent":
            for i in range(3):
                H = SX(ca.DM(held.shortening[i]))
                shift[i] += 0.5 * ca.dot(eta, ca.mtimes(H, eta))
                rate[i, :] += ca.mtimes(H, eta).T
        if modes.level == "ruthless":
            shift = SX(ca.DM(held.position))
            return Place(Transform(SX.eye(3), shift), ca.vertcat(psi, phi))
        R, map_rate = cayley(ca.mtimes(psi, eta))
        return Place(Transform(R, shift), ca.vertcat(ca.mtimes(map_rate, psi), ca.mtimes(R.T, rate)))

    # what the algorithms ask

    def carrier(self, body: str) -> int:
        """Return the node that carries a body."""
        return self._carriers[body]

    def frame(self, name: str) -> tuple[int, Place]:
        """Return the node that carries a body or frame, and the frame's place on it."""
        body, frame = self.description.carrier(name)
        return self._carriers[body], self.place(body, frame.node) @ self.tree.pose(frame.at)

    @functools.cached_property
    def world(self) -> tuple[Transform, ...]:
        """Return the pose of every node in the ground frame."""
        out: list[Transform] = []
        for node in self.nodes:
            X = node.place.X
            out.append(X if node.parent == ROOT else out[node.parent] @ X)
        return tuple(out)

    def world_frame(self, name: str) -> Transform:
        """Return the pose of a body or frame in the ground frame."""
        node, place = self.frame(name)
        return place.X if node == ROOT else self.world[node] @ place.X

    def relative(self, a: str, b: str) -> Transform:
        """Return the pose of frame b in frame a; only joints and modes between the two enter."""
        (node_a, place_a), (node_b, place_b) = self.frame(a), self.frame(b)
        shared = set(self.path(node_a)) & set(self.path(node_b))
        return (self._up(node_a, shared) @ place_a.X).inverse() @ (self._up(node_b, shared) @ place_b.X)

    def path(self, node: int) -> list[int]:
        """Return a node and its ancestors, outermost first."""
        out = []
        while node != ROOT:
            out.append(node)
            node = self.nodes[node].parent
        return out

    def _up(self, node: int, shared: set[int]) -> Transform:
        X = Transform.identity()
        for i in self.path(node):
            if i in shared:
                break
            X = self.nodes[i].place.X @ X
        return X

    def modal(self, node: int, v: SX) -> SX:
        """Return the part of v (or of accelerations) that belongs to the modes of a node's body."""
        return v[self.nodes[node].modes] if node != ROOT else SX(0, 1)


def motion_matrix(X: Transform) -> SX:
    """Return the 6 x 6 matrix that takes motions to the child frame of X."""
    columns = []
    for k in range(6):
        unit = SX(6, 1)
        unit[k] = 1
        columns.append(X.motion_to_child(Motion.of(unit)).column())
    return ca.horzcat(*columns)
