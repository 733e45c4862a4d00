"""A spring between single components of two nodes, wherever they are, or of a node and the ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from articulus.errors import InputError
from articulus.model.mechanism.numbers import require_plain
from articulus.structure.element.base import Element, Node, points
from articulus.structure.samples import Samples


@dataclass(frozen=True)
class ScalarSpring(Element):
    """Stiffness against the difference of two components (Nastran's CELAS2).

    Between nodes at different places it may resist rigid motion, which no part of a mechanism does; where that is not
    meant, put the nodes at the same place or along the spring.

    Parameters
    ----------
    stiffness : float [N/m, N m]
    start : str or int
        Node.
    direction : six floats
        Weights of its translations and rotations in its component, global axes.
    end : str or int
        The other node; the ground if not given.
    end_direction : six floats
        The same for the other node; `direction` if not given.
    """

    stiffness: float
    start: Node
    direction: Sequence[float]
    end: Node | None = None
    end_direction: Sequence[float] | None = None

    def __post_init__(self) -> None:
        name = f"ScalarSpring({self.start!r}, {self.end!r})"
        require_plain(name, (0,), stiffness=self.stiffness)
        require_plain(
            name, (6,), direction=self.direction, end_direction=self.end_direction or self.direction
        )
        if not self.stiffness >= 0:
            raise InputError(f"{name}: stiffness = {self.stiffness}; expected a number that is not negative")

    @property
    def nodes(self) -> tuple[Node, ...]:
        return (self.start,) if self.end is None else (self.start, self.end)

    def samples(self, positions: np.ndarray) -> Samples:
        row = np.asarray(self.direction, dtype=float)
        if self.end is not None:
            other = np.asarray(self.end_direction or self.direction, dtype=float)
            row = np.concatenate([row, -other])
        strain = np.zeros((6, len(row)))
        strain[0] = row
        return points(
            positions[:1], len(row), strain=strain, stiffness=np.array([self.stiffness, 0, 0, 0, 0, 0])
        )
