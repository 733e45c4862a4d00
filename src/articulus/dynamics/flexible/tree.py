"""A tree of rigid and flexible bodies on symbols: how each node moves with its parent, its parent's modes and its joint.

    V_i = X_i V_p + U_i eta_dot_p + S_i v_i

X_i takes motions of the parent's frame to node i, U_i are the motions that the parent's modal rates give the place where
the joint sits, S_i the free directions of the joint. All columns are in the axes of node i.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.flexible.body import ElasticBody
from articulus.dynamics.tree import ROOT, Tree
from articulus.mechanism import GROUND, Connection
from articulus.mechanism.modes import Modes
from articulus.spatial import Motion, RigidInertia, Transform, cayley, skew


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
    v: slice
    armature: SX
    """Inertia added to each freedom, reflected rotors included."""
    rotor: SX
    """(6,) Spin momentum that unit joint speed gives a rotor on the parent, in this node's axes."""
    modes: slice
    """Where the modal coordinates of this node's body are in v; empty for rigid bodies. Parts of a column are taken as
    v[modes, :]: of a column with one entry CasADi would make v[modes] a row."""
    body: ElasticBody | None
    """None where the joint goes on with the next elementary joint."""


class FlexibleTree:
    """A mechanism with flexible bodies.

    Parameters
    ----------
    tree : Tree
        Gives the symbols.
    inertial : bool
        Whether the tree is one for masses and forces, in which bodies of the "ruthless" level hold things where they are
        undeformed; else it is one for positions and motions, which deformation always changes.
    """

    def __init__(self, tree: Tree, inertial: bool):
        self.tree, self.description, self._inertial = tree, tree.description, inertial
        self.q, self.v = tree.q, tree.v
        self.nodes: list[Node] = []
        self._carriers: dict[str, int] = {GROUND: ROOT}
        self._bodies = {b.name: b for b in self.description.bodies}
        for connection in self.description.connections:
            self._add(connection)

    def _add(self, c: Connection) -> None:
        d, tree = self.description, self.tree
        parent, station = self._carriers[c.parent], self.place(c.parent, c.node)
        place, spin = station @ tree.pose(c.at), self._spin(c)
        to_joint, q, v = tree.pose(c.at).R, d.q_slices[c.name].start, d.v_slices[c.name].start
        armature = self._armature(c)
        parts = tree.resolved(c.joint).elementary()
        for joint in parts:
            rates, last = slice(v, v + joint.nv), joint is parts[-1]
            moved, S = joint.transform(self.q[q : q + joint.nq]), _columns(joint.motion_subspace())
            if last:
                behind = tree.pose(c.child_at).inverse()
                moved, S = moved @ behind, ca.mtimes(motion_matrix(behind), S)
            rotor = ca.vertcat(ca.mtimes(ca.mtimes(to_joint, moved.R).T, spin), SX.zeros(3))
            modes = d.mode_slices(c.child)[0] if last else slice(0, 0)
            body = self._body(c.child) if last else None
            own = armature[: joint.nv]
            self.nodes.append(Node(parent, place @ moved, S, rates, own, rotor, modes, body))
            parent, place = len(self.nodes) - 1, Place(Transform.identity(), SX(6, 0))
            q, v, armature = q + joint.nq, rates.stop, armature[joint.nv :]
        self._carriers[c.child] = parent

    def _armature(self, c: Connection) -> SX:
        own = self.tree.vector(c.per_freedom("armature")) if c.joint.nv else SX(0, 1)
        if c.rotor is None:
            return own
        return own + self.tree.number(c.rotor.ratio) ** 2 * self.tree.number(c.rotor.inertia)

    def _spin(self, c: Connection) -> SX:
        """Return the spin momentum of the joint's rotor at unit joint speed, in the axes of the station that holds it."""
        if c.rotor is None:
            return SX.zeros(3)
        ratio, inertia = self.tree.number(c.rotor.ratio), self.tree.number(c.rotor.inertia)
        return ratio * inertia * self.tree.vector(c.rotor.axis)

    def _body(self, name: str) -> ElasticBody:
        body, tree = self._bodies[name], self.tree
        if body.modes is None:
            inertia = RigidInertia.about_com(
                tree.number(body.mass), tree.vector(body.com), tree.inertia(body.inertia)
            )
            return ElasticBody.rigid(inertia)
        return ElasticBody.of(body.modes, self._eta(name))

    def _eta(self, body: str) -> SX:
        return self.q[self.description.mode_slices(body)[1], :]

    def place(self, body: str, station: str = "") -> Place:
        """Return a station of a body, or the body's own frame.

        The station shifts by translation eta + 1/2 eta' shortening eta and turns by the rotation vector theta = rotation eta +
        1/2 eta' turning eta: R = cayley(theta), whose rate map is exact for any theta.
        """
        modes = None if body == GROUND else self._bodies[body].modes
        if modes is None or not station:
            n = 0 if modes is None else modes.count
            return Place(Transform.identity(), SX.zeros(6, n))
        held, eta = modes.station(station), self._eta(body)
        if self._inertial and modes.level == "ruthless":
            eta = SX.zeros(modes.count)
        second = modes.level == "consistent"
        shift, rate = _series(held.translation, held.shortening if second else None, eta)
        theta, theta_rate = _series(held.rotation, held.turning if second else None, eta)
        R, turning = cayley(theta)
        U = ca.vertcat(ca.mtimes(turning, theta_rate), ca.mtimes(R.T, rate))
        return Place(Transform(R, SX(ca.DM(held.position)) + shift), U)

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

    def path(self, node: int) -> list[int]:
        """Return a node and its ancestors, outermost first."""
        out = []
        while node != ROOT:
            out.append(node)
            node = self.nodes[node].parent
        return out

    def modal(self, node: int, v: SX) -> SX:
        """Return the part of v (or of accelerations) that belongs to the modes of a node's body."""
        return v[self.nodes[node].modes, :] if node != ROOT else SX(0, 1)

    def eta(self, node: int) -> SX:
        """Return the modal coordinates of a node's body."""
        body = None if node == ROOT else self.nodes[node].body
        return SX(0, 1) if body is None else body.eta

    def felt(self, v: SX) -> SX:
        """Return the velocities that make inertia forces: v without the modal rates of "ruthless" bodies."""
        out = SX(v)
        for body in self.description.bodies:
            if isinstance(body.modes, Modes) and body.modes.level == "ruthless":
                out[self.description.mode_slices(body.name)[0], :] = 0
        return out


@functools.lru_cache(maxsize=4)
def flexible_tree(tree: Tree, inertial: bool = False) -> FlexibleTree:
    """Return the tree of flexible bodies on the symbols of a tree; the last ones are kept."""
    ruthless = any(b.modes is not None and b.modes.level == "ruthless" for b in tree.description.bodies)
    return FlexibleTree(tree, True) if inertial and ruthless else _moving(tree)


@functools.lru_cache(maxsize=4)
def _moving(tree: Tree) -> FlexibleTree:
    return FlexibleTree(tree, False)


def _series(first: np.ndarray, second: np.ndarray | None, eta: SX) -> tuple[SX, SX]:
    """Return first eta + 1/2 eta' second eta, (3,), and its derivative by eta, (3, n)."""
    slope = SX(ca.DM(first))
    value = ca.mtimes(slope, eta)
    if second is not None and second.any():
        H = ca.vertcat(*(ca.mtimes(SX(ca.DM(h)), eta).T for h in second))
        value, slope = value + 0.5 * ca.mtimes(H, eta), slope + H
    return value, slope


def _columns(motions: list[Motion]) -> SX:
    return ca.horzcat(SX(6, 0), *(m.column() for m in motions))


def motion_matrix(X: Transform) -> SX:
    """Return the 6 x 6 matrix that takes motions to the child frame of X."""
    E = X.R.T
    return ca.blockcat([[E, SX(3, 3)], [-ca.mtimes(E, skew(X.p)), E]])
