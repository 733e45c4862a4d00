"""Structures whose members have sizes: mass and stiffness matrices as polynomials of the sizes, with exact derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from articulus.errors import InputError
from articulus.structure import Structure

AFFINE = 1e-9
"""Relative error up to which matrices count as affine in the sizes."""


@dataclass(frozen=True, eq=False)
class Terms:
    """A matrix that is a polynomial of sizes: sum over t of matrices[t] times the product of sizes ** powers[t].

    Parameters
    ----------
    matrices : array, (terms, n, n)
    powers : array, (terms, sizes)
    """

    matrices: np.ndarray
    powers: np.ndarray

    def at(self, sizes: np.ndarray) -> np.ndarray:
        """Return the matrix, (n, n)."""
        return np.tensordot(self._products(sizes), self.matrices, 1)

    def slopes(self, sizes: np.ndarray, adjoint: np.ndarray) -> np.ndarray:
        """Return the derivatives by the sizes, (sizes,), of what changes by the sum of adjoint * dmatrix."""
        shares = self._products(sizes) * np.tensordot(self.matrices, adjoint, 2)
        return shares @ self.powers / sizes

    def _products(self, sizes: np.ndarray) -> np.ndarray:
        return np.prod(sizes**self.powers, axis=1)


class DampingLaw(Protocol):
    """How the damping matrix follows from mass and stiffness, and how it changes with them."""

    def matrix(self, M: np.ndarray, K: np.ndarray) -> np.ndarray:
        """Return D, (n, n)."""
        ...

    def slopes(self, M: np.ndarray, K: np.ndarray, adjoint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what multiplies dM and dK in the change of the sum of adjoint * dD."""
        ...


@dataclass(frozen=True)
class RayleighDamping:
    """D = mass M + stiffness K.

    Parameters
    ----------
    mass : float [1/s]
    stiffness : float [s]
    """

    mass: float
    stiffness: float

    def matrix(self, M: np.ndarray, K: np.ndarray) -> np.ndarray:
        return self.mass * M + self.stiffness * K

    def slopes(self, M: np.ndarray, K: np.ndarray, adjoint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.mass * adjoint, self.stiffness * adjoint


@dataclass(frozen=True)
class ModalRatio:
    """The same damping ratio for every mode: D = 2 ratio M sqrt(M^-1 K); rigid motions are not damped.

    Parameters
    ----------
    ratio : float [-]

    With X'MX = 1, X'KX = diag(omega^2): X' dD X = 2 ratio (omega_i omega_j X' dM X + X' dK X) / (omega_i + omega_j), entry by entry,
    from the Sylvester equation S dS + dS S = d(M^-1 K) of the square root S.
    """

    ratio: float

    def matrix(self, M: np.ndarray, K: np.ndarray) -> np.ndarray:
        omega, _, MX = self._modes(M, K)
        return 2 * self.ratio * (MX * omega) @ MX.T

    def slopes(self, M: np.ndarray, K: np.ndarray, adjoint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        omega, X, MX = self._modes(M, K)
        sums = omega[:, None] + omega
        rigid = sums == 0.0
        seen = 2 * self.ratio * np.where(rigid, 0.0, MX.T @ adjoint @ MX / np.where(rigid, 1.0, sums))
        return X @ (seen * omega[:, None] * omega) @ X.T, X @ seen @ X.T

    def _modes(self, M: np.ndarray, K: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        squares, X = eigh(K, M)
        squares[squares < 1e-12 * squares[-1]] = 0.0
        return np.sqrt(squares), X, M @ X


@dataclass(frozen=True, eq=False)
class SizedStructure:
    """M(a) r'' + D(a) r' + K(a) r = G u + W w, outputs H r + H_rate r', with sizes a.

    Parameters
    ----------
    names : tuple of str
        Names of the sizes.
    M, K : Terms
        Mass and stiffness matrices, (n, n).
    weights : array, (sizes,) [kg per unit of size]
        Mass of the structure is weights @ sizes.
    G : array, (n, controls)
        Forces for unit controls.
    W : array, (n, disturbances)
        Forces for unit disturbances, white and of unit intensity each.
    H, H_rate : array, (outputs, n)
        Outputs for unit displacements and rates.
    damping : DampingLaw
    """

    names: tuple[str, ...]
    M: Terms
    K: Terms
    weights: np.ndarray
    G: np.ndarray
    W: np.ndarray
    H: np.ndarray
    H_rate: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    damping: DampingLaw = RayleighDamping(0.0, 0.0)

    def __post_init__(self) -> None:
        if not self.H_rate.size:
            object.__setattr__(self, "H_rate", np.zeros_like(self.H))
        n = self.M.matrices.shape[1]
        shapes = {
            "G": self.G.shape[0],
            "W": self.W.shape[0],
            "H": self.H.shape[1],
            "H_rate": self.H_rate.shape[1],
        }
        for name, found in shapes.items():
            if found != n:
                raise InputError(
                    f"sized structure: {name} has {found} degrees of freedom; expected {n}, as M"
                )
        if self.weights.shape != (len(self.names),):
            raise InputError(
                f"sized structure: {self.weights.size} weights; expected {len(self.names)}, one for each size"
            )

    @staticmethod
    def of(
        build: Callable[[np.ndarray], Structure],
        names: Sequence[str],
        at: Sequence[float] | np.ndarray,
        *,
        controls: Sequence[str],
        disturbances: Sequence[str],
        outputs: Sequence[str],
        weights: Sequence[float] | np.ndarray,
        damping: DampingLaw,
    ) -> SizedStructure:
        """Return the sized structure of a function of the sizes whose matrices are affine in them, such as a truss with its areas.

        Parameters
        ----------
        build : function
            Returns the `Structure` of sizes (an array); inputs and outputs do not depend on the sizes.
        names : sequence of str
            Names of the sizes.
        at : array, (sizes,)
            Sizes of common magnitude, none of them zero.
        controls, disturbances, outputs : sequence of str
            Inputs and outputs of the structure.
        weights : array, (sizes,) [kg per unit of size]
        damping : DampingLaw
            `RayleighDamping` or `ModalRatio`; that of the structure is not used.

        Raises
        ------
        InputError
            If mass or stiffness is not affine in the sizes.
        """
        sizes = np.asarray(at, dtype=float)
        base = build(sizes)
        columns = [_place(base.inputs, name, "inputs") for name in (*controls, *disturbances)]
        rows = [_place(base.outputs, name, "outputs") for name in outputs]
        moved = [build(sizes * np.where(np.arange(sizes.size) == j, 2.0, 1.0)) for j in range(sizes.size)]
        far = build(sizes * np.linspace(0.5, 3.0, sizes.size))
        matrices: list[Terms] = []
        for letter in ("M", "K"):
            start = getattr(base, letter).toarray()
            slopes = [(getattr(s, letter).toarray() - start) / a for s, a in zip(moved, sizes)]
            rest = start - np.tensordot(sizes, slopes, 1)
            terms = Terms(np.array([rest, *slopes]), np.vstack([np.zeros(sizes.size), np.eye(sizes.size)]))
            true = getattr(far, letter).toarray()
            if (
                np.abs(terms.at(sizes * np.linspace(0.5, 3.0, sizes.size)) - true).max()
                > AFFINE * np.abs(true).max()
            ):
                raise InputError(
                    f"sized structure: {letter} is not affine in the sizes; give `SizedStructure` its Terms, which are polynomials"
                )
            matrices.append(terms)
        return SizedStructure(
            tuple(names), matrices[0], matrices[1], np.asarray(weights, dtype=float), base.B[:, columns[: len(controls)]],
            base.B[:, columns[len(controls) :]], base.H[rows], base.H_rate[rows], damping,
        )  # fmt: skip

    @property
    def count(self) -> int:
        """Number of degrees of freedom."""
        return self.M.matrices.shape[1]

    def mass(self, sizes: np.ndarray) -> float:
        """Return the mass of the structure [kg]."""
        return float(self.weights @ sizes)

    def plant(self, sizes: np.ndarray) -> SizedPlant:
        """Return the equations of first order at some sizes."""
        return SizedPlant(self, np.asarray(sizes, dtype=float))


@dataclass(frozen=True, eq=False)
class SizedPlant:
    """x' = A x + B u + E w, z = C x with x = (r, r'), of a structure at some sizes."""

    structure: SizedStructure
    sizes: np.ndarray

    def __post_init__(self) -> None:
        if self.sizes.shape != self.structure.weights.shape or not (self.sizes > 0).all():
            raise InputError(f"sizes {self.sizes}; expected {self.structure.weights.size} positive numbers")

    @cached_property
    def M(self) -> np.ndarray:
        """Mass matrix."""
        return self.structure.M.at(self.sizes)

    @cached_property
    def K(self) -> np.ndarray:
        """Stiffness matrix."""
        return self.structure.K.at(self.sizes)

    @cached_property
    def D(self) -> np.ndarray:
        """Damping matrix."""
        return self.structure.damping.matrix(self.M, self.K)

    @cached_property
    def _lower(self) -> np.ndarray:
        """M^-1 (-K, -D, G, W)."""
        s = self.structure
        return self.solve_mass(np.hstack([-self.K, -self.D, s.G, s.W]))

    def solve_mass(self, right: np.ndarray) -> np.ndarray:
        """Return M^-1 right."""
        return cho_solve(self._factor, right, check_finite=False)

    @cached_property
    def _factor(self) -> tuple[np.ndarray, bool]:
        return cho_factor(self.M, check_finite=False)

    @cached_property
    def A(self) -> np.ndarray:
        """System matrix, (2n, 2n)."""
        n = self.structure.count
        out = np.zeros((2 * n, 2 * n))
        out[:n, n:] = np.eye(n)
        out[n:] = self._lower[:, : 2 * n]
        return out

    @cached_property
    def B(self) -> np.ndarray:
        """Inputs of the controls, (2n, controls)."""
        return self._input(
            slice(2 * self.structure.count, 2 * self.structure.count + self.structure.G.shape[1])
        )

    @cached_property
    def E(self) -> np.ndarray:
        """Inputs of the disturbances, (2n, disturbances)."""
        return self._input(slice(2 * self.structure.count + self.structure.G.shape[1], None))

    @cached_property
    def C(self) -> np.ndarray:
        """Outputs, (outputs, 2n)."""
        return np.hstack([self.structure.H, self.structure.H_rate])

    def _input(self, columns: slice) -> np.ndarray:
        lower = self._lower[:, columns]
        return np.vstack([np.zeros_like(lower), lower])

    def slopes(
        self,
        A: np.ndarray,
        B: np.ndarray,
        E: np.ndarray,
        M: np.ndarray | float = 0.0,
        K: np.ndarray | float = 0.0,
    ) -> np.ndarray:
        """Return the derivatives by the sizes, (sizes,), of what changes by <A, dA> + <B, dB> + <E, dE> + <M, dM> + <K, dK>."""
        n = self.structure.count
        lower = np.hstack([A[n:], B[n:], E[n:]])
        forces = self.solve_mass(lower)
        by_M = M - forces @ np.hstack([self.A[n:], self.B[n:], self.E[n:]]).T
        by_K, by_D = K - forces[:, :n], -forces[:, n : 2 * n]
        more_M, more_K = self.structure.damping.slopes(self.M, self.K, by_D)
        return self.structure.M.slopes(self.sizes, by_M + more_M) + self.structure.K.slopes(
            self.sizes, by_K + more_K
        )


def _place(known: Sequence[str], name: str, kind: str) -> int:
    if name not in known:
        raise InputError(
            f"sized structure: found no '{name}' among the {kind}; expected one of {', '.join(known)}"
        )
    return list(known).index(name)
