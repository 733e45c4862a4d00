"""A structure seen at its integration points: where its mass is, how it is strained, how it is loaded.

Mass and stiffness matrices, the inertia integrals of flexible bodies, geometric stiffness and section forces are all sums
over these points; with the numbers of points that the elements choose they are exact integrals of the shape functions.

Geometric stiffness. With the displacement u, the rotation vector theta and the direction e of an element, the strains of a
geometrically exact beam have, beside their linear parts u' - theta x e and theta', the parts of second order

    gamma2 = -theta x u' + theta x (theta x e) / 2        kappa2 = -theta x theta' / 2

on which section forces n and moments m do work: 1/2 q' K_G q is the integral of n . gamma2 + m . kappa2. For a bent beam
under an axial force N it is N (v'^2 + w'^2) / 2.

Points of a shell have an area instead of a length. There the two derivatives are u_1 and u_2 along the x and y axis of the
plate, the section forces are N_xx, N_yy, N_xy and M_xx, M_yy, M_xy per unit length in these axes, and the strains of second
order those of Green, eps2_ab = u_a . u_b / 2; moments do no work on what is of second order in the curvatures, which a thin
shell may leave out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from articulus.structure.vectors import skew

STRAINS = ("stretch", "shear_y", "shear_z", "twist", "bend_y", "bend_z")
"""Generalized strains at a point, in the axes of its element."""

ROWS = ("translation", "rotation", "strain", "derivative", "force")
"""What is known at the points for unit degrees of freedom."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Integration points. `n` degrees of freedom, `P` points.

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
        Displacement and rotation of the points for unit degrees of freedom.
    strain : sparse array, (6 P, n)
        Strains (see `STRAINS`) for unit degrees of freedom.
    stiffness : array, (6 P,)
        Elastic energy is 1/2 sum stiffness strain^2.
    length : array, (P,) [m]
        Share of each point in its element's length; zero for points that are not within an element.
    direction : array, (P, 3)
        Along the element.
    derivative : sparse array, (6 P, n)
        Derivatives of displacement and rotation along the element, global axes, for unit degrees of freedom.
    force : sparse array, (6 P, n)
        Section forces and moments (of the part ahead on the part behind), global axes, for unit degrees of freedom.
    own : sparse array, (6 P, 3 P)
        Section forces and moments by forces on the points of the same element, its ends held.
    area : array, (P,) [m^2]
        Share of each point in the surface of a shell; zero for all others.
    lag : array, (P,) [s]
        sqrt(mass D) / S of a thin shell whose transverse shear is known but left out: waves of the circular frequency omega have
        D k^2 / S = omega lag. Zero for all others.
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
    direction: np.ndarray
    derivative: sp.csr_array
    force: sp.csr_array
    own: sp.csr_array
    area: np.ndarray
    lag: np.ndarray

    @staticmethod
    def join(parts: Sequence[Samples]) -> Samples:
        """Return the points of all elements, which have the same degrees of freedom."""
        joined = {name: sp.vstack([getattr(p, name) for p in parts], format="csr") for name in ROWS}
        arrays = ("position", "mass", "inertia", "lever", "stiffness", "length", "direction", "area", "lag")
        stacked = {name: np.concatenate([getattr(p, name) for p in parts]) for name in arrays}
        return Samples(**joined, **stacked, own=sp.csr_array(sp.block_diag([p.own for p in parts])))

    def over(self, T: sp.sparray) -> Samples:
        """Return the same points for other degrees of freedom x, where the present ones are T x."""
        return dataclasses.replace(self, **{name: sp.csr_array(getattr(self, name) @ T) for name in ROWS})

    def spread(self, columns: np.ndarray, count: int) -> Samples:
        """Return the same points with the present degrees of freedom as `columns` among `count` ones."""
        rows = {}
        for name in ROWS:
            A = getattr(self, name)
            rows[name] = sp.csr_array((A.data, columns[A.indices], A.indptr), (A.shape[0], count))
        return dataclasses.replace(self, **rows)

    def mass_matrix(self) -> sp.csr_array:
        """Return the consistent mass matrix, (n, n)."""
        weight = sp.diags_array(np.repeat(self.mass, 3))
        inertia = _block_diagonal(self.inertia)
        return sp.csr_array(
            self.translation.T @ weight @ self.translation + self.rotation.T @ inertia @ self.rotation
        )

    def stiffness_matrix(self) -> sp.csr_array:
        """Return the stiffness matrix, (n, n)."""
        return sp.csr_array(self.strain.T @ sp.diags_array(self.stiffness) @ self.strain)

    def section_forces(self, displacement: np.ndarray, forces: np.ndarray) -> np.ndarray:
        """Return section forces and moments at the points, global axes, (6 P, ...) [N, N m].

        Parameters
        ----------
        displacement : array, (n, ...)
            Static displacements of the degrees of freedom.
        forces : array, (3 P, ...) [N]
            Forces on the points among the loads: they make section forces vary within an element.
        """
        return self.force @ displacement + self.own @ forces

    def geometric_stiffness(self, section_forces: np.ndarray) -> sp.csr_array:
        """Return the stiffness that section forces and moments (6 P,) bring, (n, n)."""
        rows = self._gradients(sp.eye_array(self.force.shape[1], format="csr"))
        weights = _block_diagonal(self._weights(section_forces))
        return sp.csr_array(rows.T @ weights @ rows)

    def geometric_work(self, section_forces: np.ndarray, basis: np.ndarray) -> np.ndarray:
        """Return phi_k' K_G phi_l for shapes (n, k) and several sets of section forces (6 P, loads), (loads, k, k)."""
        rows = self._gradients(basis)
        each = rows.reshape(len(self.mass), 9, basis.shape[1])
        out = [rows.T @ (self._weights(f) @ each).reshape(rows.shape) for f in section_forces.T]
        return np.array(out).reshape(section_forces.shape[1], basis.shape[1], basis.shape[1])

    def _gradients(self, columns: np.ndarray | sp.csr_array) -> np.ndarray | sp.csr_array:
        """Return (theta, u', theta') at the points for some displacements (n, k), (9 P, k)."""
        P = len(self.mass)
        order = np.arange(9 * P).reshape(3, P, 3).transpose(1, 0, 2).ravel()
        three = np.arange(6 * P).reshape(P, 2, 3)
        parts = (self.rotation, self.derivative[three[:, 0].ravel()], self.derivative[three[:, 1].ravel()])
        return (sp.vstack(parts, format="csr")[order]) @ columns

    def _weights(self, section_forces: np.ndarray) -> np.ndarray:
        """Return the quadratic forms in (theta, u', theta') at the points, times their lengths, (P, 9, 9)."""
        n, m = section_forces.reshape(-1, 2, 3).transpose(1, 0, 2)
        e, N = self.direction, skew(n)
        out = np.zeros((len(n), 9, 9))
        en = e[:, :, None] * n[:, None, :]
        along = np.einsum("pi,pi->p", n, e)[:, None, None]
        out[:, :3, :3] = 0.5 * (en + en.swapaxes(1, 2)) - along * np.eye(3)
        out[:, :3, 3:6], out[:, 3:6, :3] = N, -N
        half = 0.5 * skew(m)
        out[:, :3, 6:], out[:, 6:, :3] = half, -half
        out *= self.length[:, None, None]
        sheet = self.area[:, None] * n
        for i in range(3):
            out[:, 3 + i, 3 + i] += sheet[:, 0]
            out[:, 6 + i, 6 + i] += sheet[:, 1]
            out[:, 3 + i, 6 + i] += sheet[:, 2]
            out[:, 6 + i, 3 + i] += sheet[:, 2]
        return out


def _block_diagonal(blocks: np.ndarray) -> sp.csr_array:
    """Return blocks (P, k, k) along a diagonal, (P k, P k)."""
    count, k, _ = blocks.shape
    each = np.arange(count + 1)
    return sp.csr_array(sp.bsr_array((blocks, each[:-1], each), (count * k, count * k)))
