"""A reduced structure: the full one on a few shapes (Ritz), so that it stays second order, symmetric and definite."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from articulus.structure.solution.statics import rigid_motions
from articulus.structure.structure import Structure


@dataclass(frozen=True, eq=False)
class Reduction:
    """A structure whose degrees of freedom are q = basis x.

    Parameters
    ----------
    structure : Structure
        The full one.
    basis : array, (n, r)
        Degrees of freedom for unit reduced coordinates.
    names : tuple of str
        Names of the reduced coordinates.
    """

    structure: Structure
    basis: np.ndarray
    names: tuple[str, ...]

    @property
    def M(self) -> np.ndarray:
        """Mass matrix, (r, r)."""
        return self.basis.T @ (self.structure.M @ self.basis)

    @property
    def K(self) -> np.ndarray:
        """Stiffness matrix, (r, r)."""
        return self.basis.T @ (self.structure.K @ self.basis)

    @property
    def D(self) -> np.ndarray:
        """Damping matrix, (r, r)."""
        return self.basis.T @ (self.structure.D @ self.basis)

    @property
    def B(self) -> np.ndarray:
        """Forces on the reduced coordinates for unit inputs, (r, m)."""
        return self.basis.T @ self.structure.B

    @property
    def H(self) -> np.ndarray:
        """Outputs for unit reduced coordinates, (p, r)."""
        return self.structure.H @ self.basis

    @property
    def H_rate(self) -> np.ndarray:
        """Outputs for unit rates of the reduced coordinates, (p, r)."""
        return self.structure.H_rate @ self.basis

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return self.structure.inputs

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs."""
        return self.structure.outputs

    @property
    def omega(self) -> np.ndarray:
        """Circular frequencies of the reduced structure [rad/s]."""
        return np.sqrt(np.maximum(eigh(self.K, self.M, eigvals_only=True), 0.0))

    def in_normal_modes(self) -> Reduction:
        """Return the same reduction in its own normal modes, rigid motions of the whole left out: what `modes_of` takes."""
        M, N = self.structure.M, rigid_motions(self.structure)
        basis = self.basis / np.sqrt(np.einsum("nk,nk->k", self.basis, M @ self.basis))
        basis = basis - N @ (N.T @ (M @ basis))
        shares, X = np.linalg.eigh(basis.T @ (M @ basis))
        basis = basis @ X[:, shares > 1e-10]
        _, X = eigh(basis.T @ (self.structure.K @ basis), basis.T @ (M @ basis))
        names = tuple(f"mode{k + 1}" for k in range(X.shape[1]))
        return Reduction(self.structure, basis @ X, names)
