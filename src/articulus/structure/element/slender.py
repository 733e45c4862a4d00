"""Straight elements between two nodes, by Gauss quadrature of their shape functions.

All elements of the family give the same rows at four points, enough to integrate the square of a cubic exactly, and the
product of rotations with the section forces that a linear field of acceleration makes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import block_diag

from articulus.errors import InputError
from articulus.structure.element.base import Element, Node, axes_along, points
from articulus.structure.samples import Samples
from articulus.structure.section import Section

_GAUSS, _WEIGHT = np.polynomial.legendre.leggauss(4)
XI, WEIGHT = (_GAUSS + 1) / 2, _WEIGHT / 2


@dataclass(frozen=True)
class ShapeRows:
    """Shape functions at one point, element axes; columns are (translation, rotation) of both ends, (.., 12)."""

    displacement: np.ndarray
    """(6, 12) Translation and rotation."""
    strain: np.ndarray
    """(6, 12) See `STRAINS`."""
    derivative: np.ndarray
    """(6, 12) Derivatives of translation and rotation along x."""
    bending_rate: np.ndarray
    """(2, 12) Derivatives of the bending about y and z along x."""


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

    bends: ClassVar[bool] = True
    """Whether loads between the ends bend it."""

    @property
    def nodes(self) -> tuple[Node, Node]:
        return self.start, self.end

    @abstractmethod
    def rows(self, xi: float, length: float) -> ShapeRows:
        """Return the shape functions at xi = x / length."""

    @abstractmethod
    def stiffness(self) -> np.ndarray:
        """Return the stiffness per unit length against each strain, (6,)."""

    def samples(self, positions: np.ndarray) -> Samples:
        length, axes = axes_along(positions[0], positions[1], self.up)
        self._check(length, axes)
        turn = block_diag(*(axes,) * 4)
        at = [self.rows(xi, length) for xi in XI]
        move, derivative = (
            np.array([getattr(r, name) for r in at]) for name in ("displacement", "derivative")
        )
        strain = np.array([r.strain for r in at])
        s, share = self.section, WEIGHT * length
        glob = block_diag(axes.T, axes.T)
        return points(
            positions[0] + np.outer(XI, positions[1] - positions[0]),
            12,
            mass=s.mass * share,
            inertia=np.multiply.outer(share, axes.T @ np.diag(s.rotary) @ axes),
            translation=axes.T @ move[:, :3] @ turn,
            rotation=axes.T @ move[:, 3:] @ turn,
            strain=strain @ turn,
            stiffness=np.outer(share, self.stiffness()),
            length=share,
            direction=np.tile(axes[0], (len(XI), 1)),
            derivative=glob @ derivative @ turn,
            force=glob @ np.array([self._force(r) for r in at]) @ turn,
            own=np.einsum("ab,pbgc,cd->pagd", glob, own_forces(length, self.bends), axes),
        )

    def _force(self, r: ShapeRows) -> np.ndarray:
        """Return section forces and moments, element axes, (6, 12); shear forces balance the change of the moments."""
        s = self.section
        return np.array(
            [
                s.EA * r.strain[0],
                -s.EIz * r.bending_rate[1],
                s.EIy * r.bending_rate[0],
                s.GJ * r.strain[3],
                s.EIy * r.strain[4],
                s.EIz * r.strain[5],
            ]
        )

    def _check(self, length: float, axes: np.ndarray) -> None:
        name = f"{type(self).__name__}({self.start!r}, {self.end!r})"
        if not length > 0:
            raise InputError(
                f"{name}: both nodes are at the same place; join them by a Spring or make them one node"
            )
        if not axes[2].any():
            raise InputError(f"{name}: up = {self.up} points along the element; give a direction across it")


def linear_rows(xi: float, length: float) -> ShapeRows:
    """Return linear interpolation of every degree of freedom, with stretch and twist; no bending, no shear."""
    displacement = np.hstack([(1 - xi) * np.eye(6), xi * np.eye(6)])
    derivative = np.hstack([-np.eye(6), np.eye(6)]) / length
    strain = np.zeros((6, 12))
    strain[0], strain[3] = derivative[0], derivative[3]
    return ShapeRows(displacement, strain, derivative, np.zeros((2, 12)))


def own_forces(length: float, bends: bool) -> np.ndarray:
    """Return section forces at the points by unit forces on the points, ends clamped, element axes, (4, 6, 4, 3).

    N' = -q, V' = -q, Mz'' = q_y, My'' = -q_z; no stretch, no rotation and no deflection is left over the whole element, so
    that N has zero mean and M zero mean and zero first moment.
    """
    out = np.zeros((4, 6, 4, 3))
    out[:, 0, :, 0] = AXIAL
    if bends:
        out[:, 1, :, 1] = out[:, 2, :, 2] = -SHEAR
        out[:, 5, :, 1], out[:, 4, :, 2] = length * MOMENT, -length * MOMENT
    return out


def _held_ends() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return N, M and M' at the points for unit forces on the points of an element of unit length with held ends, (4, 4)."""
    axial, moment, shear = np.zeros((3, 4, 4))
    for g in range(4):
        others = np.delete(XI, g)
        load = np.poly1d(others, r=True) / (np.prod(XI[g] - others) * WEIGHT[g])
        pull, bend = -load.integ(), load.integ(2)
        bend = bend - np.poly1d(np.polyfit(XI, bend(XI), 1, w=np.sqrt(WEIGHT)))
        axial[:, g] = pull(XI) - WEIGHT @ pull(XI)
        moment[:, g], shear[:, g] = bend(XI), bend.deriv()(XI)
    return axial, moment, shear


AXIAL, MOMENT, SHEAR = _held_ends()
