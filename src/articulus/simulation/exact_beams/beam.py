"""What a beam is: a chain of section frames with supports, bodies, loads and a moving base. Data only."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import InputError, did_you_mean
from articulus.model.mechanism.pose import quaternion_of
from articulus.structure import Section

COMPONENTS = ("rx", "ry", "rz", "x", "y", "z")
SUPPORTS = {
    "clamped": COMPONENTS,
    "pinned": ("x", "y", "z"),
    "hinge x": ("ry", "rz", "x", "y", "z"),
    "hinge y": ("rx", "rz", "x", "y", "z"),
    "hinge z": ("rx", "ry", "x", "y", "z"),
    "slider x": ("rx", "ry", "rz", "y", "z"),
}
"""What each support holds, in the node's own axes."""

Base = Callable[[SX], tuple[Any, Any]]
"""From time [s] to quaternion (w, x, y, z) and position [m] of the base that carries the supports; on symbols."""


@dataclasses.dataclass(frozen=True)
class Load:
    """A force [N] and a moment [N m] at a node: (3,) each, in world axes, or in the node's own if it follows the node.

    `history` gives the factor at time t [s]; 1 if there is none.
    """

    node: int
    force: tuple[float, ...]
    moment: tuple[float, ...]
    follower: bool = False
    history: Callable[[float], float] | None = None


@dataclasses.dataclass(frozen=True)
class NodeBody:
    """A rigid body fixed to a node: mass [kg], center from the node [m], inertia about the center [kg m^2], node's axes."""

    node: int
    mass: float
    center: np.ndarray
    inertia: np.ndarray


@dataclasses.dataclass(frozen=True)
class Beam:
    """A beam from node to node, undeformed, with what acts on it.

    Every method that adds something returns a new beam. Nodes may be counted from the end: -1 is the last.

    Parameters
    ----------
    poses : array, (nodes, 7)
        Undeformed section frames: quaternion (w, x, y, z) and position [m]; x along the beam.
    sections : tuple of Section
        One per element; all stiffnesses, mass and rotary inertias positive.
    supports : dict of int to str
        Key of `SUPPORTS` by node.
    bodies, loads : tuple
    gravity : (float, float, float) [m/s^2]
    base : callable, optional
        See `Base`; the supports rest if there is none.
    """

    poses: np.ndarray
    sections: tuple[Section, ...]
    supports: dict[int, str] = dataclasses.field(default_factory=dict)
    bodies: tuple[NodeBody, ...] = ()
    loads: tuple[Load, ...] = ()
    gravity: tuple[float, ...] = (0.0, 0.0, 0.0)
    base: Base | None = None

    def __post_init__(self) -> None:
        poses = np.array(self.poses, dtype=float)
        if poses.ndim != 2 or poses.shape[1] != 7 or len(poses) < 2 or not np.isfinite(poses).all():
            raise InputError(
                f"beam: poses of shape {poses.shape}; expected (nodes, 7), finite, two nodes or more"
            )
        if len(self.sections) != len(poses) - 1:
            raise InputError(
                f"beam: {len(self.sections)} sections; expected {len(poses) - 1}, one for each element"
            )
        for section in dict.fromkeys(self.sections):
            _require_full(section)
        norms = np.linalg.norm(poses[:, :4], axis=1, keepdims=True)
        if not (norms > 1e-6).all():
            raise InputError("beam: a quaternion is zero; expected (w, x, y, z) of unit norm")
        poses[:, :4] /= norms
        if not (np.linalg.norm(np.diff(poses[:, 4:], axis=0), axis=1) > 0).all():
            raise InputError("beam: two neighboring nodes are at the same place")
        poses.flags.writeable = False
        object.__setattr__(self, "poses", poses)

    @staticmethod
    def straight(
        length: float,
        elements: int,
        section: Section,
        start: Sequence[float] = (0.0, 0.0, 0.0),
        direction: Sequence[float] = (1.0, 0.0, 0.0),
        y: Sequence[float] = (0.0, 1.0, 0.0),
    ) -> Beam:
        """Return a straight beam of equal elements.

        Parameters
        ----------
        length : float [m]
        elements : int
        section : Section
        start : sequence of 3 floats [m]
            Node 0.
        direction, y : sequence of 3 floats
            Directions of the beam, and of the section's y (its part across the beam counts).
        """
        _require_positive("length", length)
        _require_elements(elements)
        R = _frame(direction, y)
        along = np.linspace(0, length, elements + 1)[:, None] * R[:, 0]
        quaternions = np.tile(quaternion_of(R), (elements + 1, 1))
        return Beam(np.hstack([quaternions, np.asarray(start) + along]), (section,) * elements)

    @staticmethod
    def arc(radius: float, angle: float, elements: int, section: Section) -> Beam:
        """Return an arc of a circle from the origin along x that turns towards y, of equal elements.

        Parameters
        ----------
        radius : float [m]
        angle : float [rad]
        elements : int
        section : Section
        """
        _require_positive("radius", radius)
        _require_positive("angle", angle)
        _require_elements(elements)
        turn = np.linspace(0, angle, elements + 1)
        zero = np.zeros_like(turn)
        columns = [np.cos(turn / 2), zero, zero, np.sin(turn / 2)]
        columns += [radius * np.sin(turn), radius * (1 - np.cos(turn)), zero]
        return Beam(np.column_stack(columns), (section,) * elements)

    @property
    def nodes(self) -> int:
        return len(self.poses)

    def support(self, node: int, kind: str = "clamped") -> Beam:
        """Return the beam with a support at a node; `SUPPORTS` lists the kinds."""
        if kind not in SUPPORTS:
            raise InputError(f"beam: no support '{kind}'; {did_you_mean(kind, SUPPORTS)}")
        return dataclasses.replace(self, supports={**self.supports, self._node(node): kind})

    def body(
        self,
        node: int,
        mass: float,
        inertia: Any = ((0.0,) * 3,) * 3,
        center: Sequence[float] = (0.0, 0.0, 0.0),
    ) -> Beam:
        """Return the beam with a rigid body at a node.

        Parameters
        ----------
        node : int
        mass : float [kg]
        inertia : array, (3, 3) [kg m^2]
            About the center, in the node's axes.
        center : sequence of 3 floats [m]
            From the node, in its axes.
        """
        _require_positive("mass of a body", mass)
        J, c = np.asarray(inertia, dtype=float), np.asarray(center, dtype=float)
        if (
            J.shape != (3, 3)
            or not np.allclose(J, J.T)
            or np.linalg.eigvalsh(J).min() < -1e-12 * (1 + np.abs(J).max())
        ):
            raise InputError(
                f"beam: inertia of a body {J.tolist()}; expected (3, 3), symmetric, not negative"
            )
        return dataclasses.replace(self, bodies=(*self.bodies, NodeBody(self._node(node), float(mass), c, J)))

    def load(
        self,
        node: int,
        force: Sequence[float] = (0.0, 0.0, 0.0),
        moment: Sequence[float] = (0.0, 0.0, 0.0),
        follower: bool = False,
        history: Callable[[float], float] | None = None,
    ) -> Beam:
        """Return the beam with a force [N] and a moment [N m] at a node; see `Load`."""
        both = [tuple(map(float, each)) for each in (force, moment)]
        if any(len(each) != 3 or not np.isfinite(each).all() for each in both):
            raise InputError(
                f"beam: load with force {force!r} and moment {moment!r}; expected three numbers each"
            )
        load = Load(self._node(node), both[0], both[1], follower, history)
        return dataclasses.replace(self, loads=(*self.loads, load))

    def weighing(self, gravity: Sequence[float] = (0.0, 0.0, -9.81)) -> Beam:
        """Return the beam under gravity [m/s^2], in world axes."""
        return dataclasses.replace(self, gravity=tuple(map(float, gravity)))

    def on(self, base: Base) -> Beam:
        """Return the beam with supports that a base carries along; see `Base` and `turning`."""
        partly = [n for n, kind in self.supports.items() if kind != "clamped"]
        if partly or not self.supports:
            what = f"node {partly[0]} is not clamped" if partly else "nothing is clamped to it"
            raise InputError(f"beam: on a moving base, {what}; expected clamped supports")
        return dataclasses.replace(self, base=base)

    def _node(self, node: int) -> int:
        if not isinstance(node, (int, np.integer)) or not -self.nodes <= node < self.nodes:
            raise InputError(f"beam: no node {node!r}; expected {-self.nodes} to {self.nodes - 1}")
        return int(node) % self.nodes


def turning(
    angle: Callable[[SX], SX],
    axis: Sequence[float] = (0.0, 0.0, 1.0),
    about: Sequence[float] = (0.0, 0.0, 0.0),
) -> Base:
    """Return a base that turns about a fixed axis.

    Parameters
    ----------
    angle : callable
        From time [s] to angle [rad], on symbols (`casadi.sin`, `casadi.if_else`).
    axis : sequence of 3 floats
    about : sequence of 3 floats [m]
        A point of the axis.
    """
    n = ca.DM(np.asarray(axis, dtype=float) / np.linalg.norm(axis))
    center = ca.DM(list(about))

    def base(t: SX) -> tuple[SX, SX]:
        psi = SX(angle(t))
        c, s = ca.cos(psi), ca.sin(psi)
        turned = c * center + s * ca.cross(n, center) + (1 - c) * n * ca.dot(n, center)
        return ca.vertcat(ca.cos(psi / 2), ca.sin(psi / 2) * n), center - turned

    return base


def _frame(direction: Sequence[float], y: Sequence[float]) -> np.ndarray:
    """Return the rotation with x along `direction` and y in the half plane of `y`."""
    x = np.asarray(direction, dtype=float)
    z = np.cross(x, np.asarray(y, dtype=float))
    if not np.linalg.norm(z) > 1e-9 * np.linalg.norm(x):
        raise InputError(
            f"beam: direction {tuple(direction)} and y {tuple(y)}; expected two that are not parallel"
        )
    x, z = x / np.linalg.norm(x), z / np.linalg.norm(z)
    return np.column_stack([x, np.cross(z, x), z])


def _require_positive(name: str, value: float) -> None:
    if not (np.isfinite(value) and value > 0):
        raise InputError(f"beam: {name} = {value!r}; expected a positive number")


def _require_full(section: Section) -> None:
    """Refuse a section that leaves a motion without stiffness or inertia."""
    for name in ("mass", "EA", "EIy", "EIz", "GJ", "GAy", "GAz"):
        value = getattr(section, name)
        if not value > 0 or (np.isinf(value) and not name.startswith("GA")):
            raise InputError(f"beam: a section has {name} = {value!r}; expected a positive number")
    if not (min(section.rotary) > 0 and np.isfinite(section.rotary).all()):
        raise InputError(f"beam: a section has rotary = {section.rotary!r}; expected three positive numbers")


def _require_elements(elements: int) -> None:
    if not isinstance(elements, (int, np.integer)) or elements < 1:
        raise InputError(f"beam: elements = {elements!r}; expected an integer of at least 1")
