"""What an element is: points at which its displacements, strains and forces are known functions of its nodes' degrees of freedom."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from articulus.structure.samples import Samples

Node = str | int
"""A node by name or by number."""


class Element(ABC):
    """Base of all elements."""

    @property
    @abstractmethod
    def nodes(self) -> tuple[Node, ...]:
        """Nodes it joins."""

    @abstractmethod
    def samples(self, positions: np.ndarray) -> Samples:
        """Return its points for nodes at `positions` (k, 3); degrees of freedom are (translation, rotation) of each node, global axes."""

    @classmethod
    def samples_of(
        cls,
        elements: Sequence[Element],
        positions: Sequence[np.ndarray],
        columns: Sequence[np.ndarray],
        count: int,
    ) -> Samples:
        """Return the points of several elements of this class.

        Parameters
        ----------
        elements : sequence of Element
        positions : sequence of arrays, (k, 3) [m]
            Positions of the nodes of each.
        columns : sequence of arrays, (6 k,)
            Numbers of the degrees of freedom of each among `count` ones.
        """
        each = zip(elements, positions, columns, strict=True)
        return Samples.join([e.samples(x).spread(c, count) for e, x, c in each])


def points(
    position: np.ndarray,
    dofs: int,
    *,
    mass: np.ndarray | None = None,
    inertia: np.ndarray | None = None,
    lever: np.ndarray | None = None,
    translation: np.ndarray | None = None,
    rotation: np.ndarray | None = None,
    strain: np.ndarray | None = None,
    stiffness: np.ndarray | None = None,
    length: np.ndarray | None = None,
    direction: np.ndarray | None = None,
    derivative: np.ndarray | None = None,
    force: np.ndarray | None = None,
    own: np.ndarray | None = None,
) -> Samples:
    """Return the points of one element; what is not given is zero."""
    P = len(position)

    def array(given: np.ndarray | None, *shape: int) -> np.ndarray:
        return np.zeros(shape) if given is None else np.asarray(given, dtype=float).reshape(shape)

    def rows(given: np.ndarray | None, count: int, columns: int) -> sp.csr_array:
        return sp.csr_array(array(given, count, columns))

    return Samples(
        position=array(position, P, 3),
        mass=array(mass, P),
        inertia=array(inertia, P, 3, 3),
        lever=array(lever, P, 3),
        translation=rows(translation, 3 * P, dofs),
        rotation=rows(rotation, 3 * P, dofs),
        strain=rows(strain, 6 * P, dofs),
        stiffness=array(stiffness, 6 * P),
        length=array(length, P),
        direction=array(direction, P, 3),
        derivative=rows(derivative, 6 * P, dofs),
        force=rows(force, 6 * P, dofs),
        own=rows(own, 6 * P, 3 * P),
        area=np.zeros(P),
        lag=np.zeros(P),
    )


def axes_along(start: np.ndarray, end: np.ndarray, up: Sequence[float] | None) -> tuple[float, np.ndarray]:
    """Return length and axes (rows x, y, z) of an element; z is `up` made square to x.

    `up` is the global z axis if not given, or the global x axis for an element along z.
    """
    along = end - start
    length = float(np.linalg.norm(along))
    x = along / length if length else along
    if up is None:
        up = (0.0, 0.0, 1.0) if abs(x[2]) < 0.999 else (1.0, 0.0, 0.0)
    z = np.asarray(up, dtype=float) - np.dot(up, x) * x
    size = float(np.linalg.norm(z))
    z = z / size if size > 1e-9 else np.zeros(3)
    return length, np.array([x, np.cross(z, x), z])
