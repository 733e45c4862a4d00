"""A spring between two nodes at the same place, or between a node and the ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from articulus.errors import InputError
from articulus.model.mechanism.numbers import require_plain
from articulus.structure.element.base import Element, Node, points
from articulus.structure.samples import Samples


@dataclass(frozen=True)
class Spring(Element):
    """Stiffness against relative displacements and rotations.

    Parameters
    ----------
    start : str or int
        Node.
    end : str or int
        The other node, at the same place; the ground if not given.
    stiffness : six floats [N/m, N m]
        Along and about the global axes x, y, z.
    """

    start: Node
    end: Node | None = None
    stiffness: Sequence[float] = (0.0,) * 6

    def __post_init__(self) -> None:
        require_plain(f"Spring({self.start!r}, {self.end!r})", (6,), stiffness=self.stiffness)
        if len(self.stiffness) != 6 or not min(self.stiffness) >= 0:
            raise InputError(
                f"Spring({self.start!r}, {self.end!r}): stiffness = {self.stiffness}; expected six numbers that are not "
                "negative: along x, y, z and about x, y, z"
            )

    @property
    def nodes(self) -> tuple[Node, ...]:
        return (self.start,) if self.end is None else (self.start, self.end)

    def samples(self, positions: np.ndarray) -> Samples:
        eye = np.eye(6)
        strain = eye if self.end is None else np.hstack([-eye, eye])
        if self.end is not None and not np.allclose(*positions):
            raise InputError(
                f"Spring({self.start!r}, {self.end!r}): nodes at {positions[0]} and {positions[1]}; expected the same place, "
                "else rigid motion would strain it"
            )
        return points(positions[:1], strain.shape[1], strain=strain, stiffness=np.asarray(self.stiffness))
