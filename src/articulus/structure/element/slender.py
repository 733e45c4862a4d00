"""Straight elements between two nodes, by Gauss quadrature of their shape functions.

All elements of the family give the same rows at four points, enough to integrate the square of a cubic exactly, and the
square of a slope times the quadratic axial force that a linear field of acceleration makes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag

from articulus.errors import InputError
from articulus.structure.element.base import Element, Node, axes_along, points
from articulus.structure.samples import Samples
from articulus.structure.section import Section

_GAUSS, _WEIGHT = np.polynomial.legendre.leggauss(4)
XI, WEIGHT = (_GAUSS + 1) / 2, _WEIGHT / 2


@dataclass(frozen=True)
class Rows:
    """Shape functions at one point, element axes; columns are (translation, rotation) of both ends, (.., 12)."""

    displacement: np.ndarray
    """(6, 12) Translation and rotation."""
    strain: np.ndarray
    """(6, 12) See `STRAINS`."""
    slope: np.ndarray
    """(2, 12) Slopes of the deflections along y and z."""


@dataclass(frozen=True)
class Slender(Element):
    """A straight element of constant section.

    Parameters
    ----------
    start, end : str or int
        Nodes.
    section : Section
        Its cross-section.
    up : three floats
        Direction of the section's z axis, made square to the element; global z if not given (x for an element along z).
    """

    start: Node
    end: Node
    section: Section
    up: Sequence[float] | None = None

    @property
    def nodes(self) -> tuple[Node, Node]:
        return self.start, self.end

    @abstractmethod
    def rows(self, xi: float, length: float) -> Rows:
        """Return the shape functions at xi = x / length."""

    @abstractmethod
    def stiffness(self) -> np.ndarray:
        """Return the stiffness of a unit of length against each strain, (6,)."""

    def samples(self, positions: np.ndarray) -> Samples:
        length, axes = axes_along(positions[0], positions[1], self.up)
        self._check(length, axes)
        turn = block_diag(*(axes,) * 4)
        at = [self.rows(xi, length) for xi in XI]
        move = np.array([r.displacement for r in at]) @ turn
        s, share = self.section, WEIGHT * length
        return points(
            positions[0] + np.outer(XI, positions[1] - positions[0]),
            12,
            mass=s.mass * share,
            inertia=np.multiply.outer(share, axes.T @ np.diag(s.rotary) @ axes),
            translation=axes.T @ move[:, :3],
            rotation=axes.T @ move[:, 3:],
            strain=np.array([r.strain for r in at]) @ turn,
            stiffness=np.outer(share, self.stiffness()),
            length=share,
            slope=np.array([r.slope for r in at]) @ turn,
            own=np.kron(OWN / WEIGHT, axes[0]),
        )

    def _check(self, length: float, axes: np.ndarray) -> None:
        name = f"{type(self).__name__}({self.start!r}, {self.end!r})"
        if not length > 0:
            raise InputError(
                f"{name}: both nodes are at the same place; join them by a Spring or make them one node"
            )
        if not axes[2].any():
            raise InputError(f"{name}: up = {self.up} points along the element; give a direction across it")


def linear_rows(xi: float, length: float) -> Rows:
    """Return linear interpolation of every freedom, with stretch and twist; no bending, no shear."""
    displacement = np.hstack([(1 - xi) * np.eye(6), xi * np.eye(6)])
    derivative = np.hstack([-np.eye(6), np.eye(6)]) / length
    strain = np.zeros((6, 12))
    strain[0], strain[3] = derivative[0], derivative[3]
    return Rows(displacement, strain, derivative[1:3].copy())


def _own_forces() -> np.ndarray:
    """Return A: axial force at the points, ends held, is A q L for the axial load q per length at the points.

    N' = -q with zero mean of N, because the stretch of a uniform element between held ends is zero.
    """
    out = np.zeros((len(XI), len(XI)))
    for g in range(len(XI)):
        others = np.delete(XI, g)
        load = np.poly1d(others, r=True) / np.prod(XI[g] - others)
        force = -load.integ()
        out[:, g] = force(XI) - WEIGHT @ force(XI)
    return out


OWN = _own_forces()
