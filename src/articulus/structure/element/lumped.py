"""A rigid body fixed to a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from articulus.errors import InputError
from articulus.model.mechanism.numbers import require_plain
from articulus.structure.element.base import Element, Node, points
from articulus.structure.samples import Samples


@dataclass(frozen=True)
class Lumped(Element):
    """Mass and inertia at a node.

    Parameters
    ----------
    node : str or int
        Node that carries it.
    mass : float [kg]
        Its mass.
    inertia : three or six floats [kg m^2]
        Ixx, Iyy, Izz, and Ixy, Ixz, Iyz about its center of mass, global axes.
    offset : three floats [m]
        Offset of its center of mass from the node, global axes.
    """

    node: Node
    mass: float
    inertia: Sequence[float] = (0.0, 0.0, 0.0)
    offset: Sequence[float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        require_plain(f"Lumped({self.node!r})", (0,), mass=self.mass)
        require_plain(f"Lumped({self.node!r})", (3, 6), inertia=self.inertia)
        require_plain(f"Lumped({self.node!r})", (3,), offset=self.offset)
        if not self.mass >= 0:
            raise InputError(
                f"Lumped({self.node!r}): mass = {self.mass}; expected a number that is not negative"
            )

    @property
    def nodes(self) -> tuple[Node]:
        return (self.node,)

    def samples(self, positions: np.ndarray) -> Samples:
        xx, yy, zz, xy, xz, yz = (*self.inertia, 0.0, 0.0, 0.0)[:6]
        c = np.asarray(self.offset, dtype=float)
        eye, none = np.eye(3), np.zeros((3, 3))
        return points(
            positions + c,
            6,
            mass=np.array([self.mass]),
            inertia=np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]),
            lever=c,
            translation=np.hstack([eye, -np.cross(c, eye).T]),
            rotation=np.hstack([none, eye]),
        )
