"""A structure seen at its integration points: where its mass is, how it is strained, how it is stretched.

Mass and stiffness matrices, the inertia integrals of flexible bodies, geometric stiffness and section forces are all sums
over these points; with the numbers of points that the elements choose they are exact integrals of the shape functions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

STRAINS = ("stretch", "shear_y", "shear_z", "twist", "bend_y", "bend_z")
"""Generalised strains at a point, in the axes of its element."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Integration points. `n` freedoms, `P` points.

    Parameters
    ----------
    position : array, (P, 3) [m]
        Undeformed.
    mass : array, (P,) [kg]
        Share of each point.
    inertia : array, (P, 3, 3) [kg m^2]
        Rotary inertia of each point about itself.
    lever : array, (P, 3) [m]
        From the node that carries the point rigidly; zero for points within elements.
    translation, rotation : sparse array, (3 P, n)
        Displacement and rotation of the points for unit freedoms.
    strain : sparse array, (6 P, n)
        Strains (see `STRAINS`) for unit freedoms.
    stiffness : array, (6 P,)
        Elastic energy is 1/2 sum stiffness strain^2.
    length : array, (P,) [m]
        Share of each point in its element's length; zero where there is no axial force.
    slope : sparse array, (2 P, n)
        Slopes of the two deflections across the element.
    own : sparse array, (P, 3 P)
        Axial force at the points by forces on the points of the same element, its ends held.
    """

    position: np.ndarray
    mass: np.ndarray
    inertia: np.ndarray
    lever: np.ndarray
    translation: sp.csr_array
    rotation: sp.csr_array
    strain: sp.csr_array
    stiffness: np.ndarray
    length: np.ndarray
    slope: sp.csr_array
    own: sp.csr_array

    @staticmethod
    def join(parts: Sequence[Samples]) -> Samples:
        """Return the points of all elements, which have the same freedoms."""
        rows = ("translation", "rotation", "strain", "slope")
        joined = {name: sp.vstack([getattr(p, name) for p in parts], format="csr") for name in rows}
        arrays = ("position", "mass", "inertia", "lever", "stiffness", "length")
        stacked = {name: np.concatenate([getattr(p, name) for p in parts]) for name in arrays}
        return Samples(**joined, **stacked, own=sp.csr_array(sp.block_diag([p.own for p in parts])))

    def over(self, T: sp.sparray) -> Samples:
        """Return the same points for other freedoms x, where the present ones are T x."""
        rows = ("translation", "rotation", "strain", "slope")
        return dataclasses.replace(self, **{name: sp.csr_array(getattr(self, name) @ T) for name in rows})

    def mass_matrix(self) -> sp.csr_array:
        """Return the consistent mass matrix, (n, n)."""
        weight = sp.diags_array(np.repeat(self.mass, 3))
        inertia = sp.block_diag(list(self.inertia), format="csr")
        return sp.csr_array(
            self.translation.T @ weight @ self.translation + self.rotation.T @ inertia @ self.rotation
        )

    def stiffness_matrix(self) -> sp.csr_array:
        """Return the stiffness matrix, (n, n)."""
        return sp.csr_array(self.strain.T @ sp.diags_array(self.stiffness) @ self.strain)

    def tension(self, displacement: np.ndarray, forces: np.ndarray | None = None) -> np.ndarray:
        """Return axial forces at the points (P, ...) [N].

        Parameters
        ----------
        displacement : array, (n, ...)
            Static displacements of the freedoms.
        forces : array, (3 P, ...) [N]
            Forces on the points which caused them: they make the axial force vary within an element.
        """
        stretching = np.divide(
            self.stiffness[::6], self.length, out=np.zeros_like(self.length), where=self.length > 0
        )
        held = sp.diags_array(stretching) @ (self.strain[::6] @ displacement)
        return held if forces is None else held + self.own @ forces

    def geometric_stiffness(self, tension: np.ndarray) -> sp.csr_array:
        """Return the stiffness that axial forces (P,) [N] bring, (n, n)."""
        return sp.csr_array(self.slope.T @ sp.diags_array(np.repeat(self.length * tension, 2)) @ self.slope)
