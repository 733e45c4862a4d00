"""Riccati and Lyapunov equations with sparse matrices: low-rank solutions by the RADI iteration.

The equation

    A'X E + E'X A + C'C - E'X B B'X E = 0

with few rows of C and few columns of B has a solution X = Z Z' of low numerical rank, however many states there are. Each step
takes a shift s in the left half plane and solves one sparse system with A' + s E':

    V = sqrt(-2 Re s) (A' - K B' + s E')^-1 R,   X <- X + V Y^-1 V',   R <- R + sqrt(-2 Re s) E'V Y^-1,   K <- K + E'V Y^-1 V'B

from R = C', K = 0; the residual of the equation is R R'. A pair of conjugate shifts is taken in one step in real numbers. With
B = 0 it is the alternating-direction method for Lyapunov equations. Shifts are the eigenvalues of the closed loop on the space
of the last V that the residual excites most.

Source: Benner, Bujanovic, Kürschner & Saak 2018 (RADI, real arithmetic: their section 4); for Lyapunov equations Benner, Kürschner
& Saak 2013.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg

from articulus.errors import NumericalError
from articulus.numerics.riccati import care

TOLERANCE = 1e-9
"""Residual of the equation over its constant term at which a solution is accepted."""
MOST_SHIFTS = 600
MODES = 120
"""Modes of a structure whose closed-loop poles are the first shifts."""
SPACE = 4
"""Blocks V of the past steps on which shifts are looked for."""


class Pencil(Protocol):
    """The sparse matrices A and E of a descriptor system, as what the iteration asks of them."""

    @property
    def size(self) -> int:
        """States."""

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Return A'X."""

    def apply_mass(self, X: np.ndarray) -> np.ndarray:
        """Return E'X."""

    def solver(self, shift: complex) -> Callable[[np.ndarray], np.ndarray]:
        """Return the function that gives (A' + shift E')^-1 of columns."""

    def size_of(self, R: np.ndarray) -> float:
        """Return the norm by which residuals are judged, of R R'."""

    def first_shifts(self, B: np.ndarray, R: np.ndarray) -> list[complex]:
        """Return shifts to begin with; none where nothing is known."""


class SecondOrderPencil:
    """M q'' + D q' + K q = 0 as E x' = A x with x = (q, q'), E = diag(K, M), A = [0 K; -K -D]; M, D, K symmetric.

    In this form x'E x is twice the energy and A + A' = -2 diag(0, D): projections on any space stay stable. A shifted system
    costs one factorization of s^2 M - s D + K, half the size.
    """

    def __init__(self, M: sp.sparray, D: sp.sparray, K: sp.sparray):
        self.M, self.D, self.K = M, D, K
        self._compliance, self._mobility = _factorize(K), _factorize(M)

    @property
    def size(self) -> int:
        return 2 * int(self.M.shape[0])

    def apply(self, X: np.ndarray) -> np.ndarray:
        n = self.M.shape[0]
        return np.concatenate([-(self.K @ X[n:]), self.K @ X[:n] - self.D @ X[n:]])

    def apply_mass(self, X: np.ndarray) -> np.ndarray:
        n = self.M.shape[0]
        return np.concatenate([self.K @ X[:n], self.M @ X[n:]])

    def size_of(self, R: np.ndarray) -> float:
        """Return the norm of R'E^-1 R: of outputs for states of unit energy."""
        n = self.M.shape[0]
        return float(np.linalg.norm(R[:n].T @ self._compliance(R[:n]) + R[n:].T @ self._mobility(R[n:])))

    def first_shifts(self, B: np.ndarray, R: np.ndarray) -> list[complex]:
        """Return poles of the closed loop of the lowest modes, those that matter most first."""
        n = self.M.shape[0]
        count = min(MODES, n - 2)
        if count < 1:
            return []
        start = np.random.default_rng(0).standard_normal(n)
        squares, shapes = scipy.sparse.linalg.eigsh(self.K, count, self.M, sigma=0.0, v0=start)
        rates = np.sqrt(squares)
        # modal states (rate * q, q'), in which x'x is twice the energy
        A = np.block(
            [[np.zeros((count, count)), np.diag(rates)], [-np.diag(rates), -shapes.T @ (self.D @ shapes)]]
        )
        b = np.concatenate([np.zeros((count, B.shape[1])), shapes.T @ B[n:]])
        c = np.concatenate([(shapes / rates).T @ R[:n], shapes.T @ R[n:]])
        closed = A - b @ care(A, b, c @ c.T, np.eye(b.shape[1])).gain if b.size else A
        values, left, right = scipy.linalg.eig(closed, left=True, right=True)
        seen = np.linalg.norm(c.T @ right, axis=0) * np.linalg.norm(left, axis=0)
        seen /= np.abs((left.conj() * right).sum(axis=0)) * np.sqrt(np.abs(values.real))
        order = [k for k in np.argsort(-seen) if values[k].imag >= 0 and values[k].real < 0]
        return [complex(values[k]) for k in order]

    def solver(self, shift: complex) -> Callable[[np.ndarray], np.ndarray]:
        # s K x1 - K x2 = r1 and K x1 + (s M - D) x2 = r2
        n = self.M.shape[0]
        solve = _factorize(shift * shift * self.M - shift * self.D + self.K)

        def solve_states(R: np.ndarray) -> np.ndarray:
            x2 = solve(shift * R[n:] - R[:n])
            rest = self._compliance(R[n:] - (shift * (self.M @ x2) - self.D @ x2))
            return np.concatenate([rest, x2])

        return solve_states


def _factorize(matrix: sp.sparray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function that solves with the matrix; complex where it is."""
    csc = sp.csc_array(matrix)
    if np.iscomplexobj(csc.data) and not csc.data.imag.any():
        csc = csc.real
    factor = scipy.sparse.linalg.splu(csc, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    if np.iscomplexobj(csc.data):
        return lambda R: factor.solve(np.ascontiguousarray(R, dtype=complex))

    def solve(R: np.ndarray) -> np.ndarray:
        if np.iscomplexobj(R):
            return factor.solve(np.ascontiguousarray(R.real)) + 1j * factor.solve(
                np.ascontiguousarray(R.imag)
            )
        return factor.solve(np.ascontiguousarray(R))

    return solve


@dataclass(frozen=True)
class LowRankSolution:
    """X = Z Z', the stabilizing solution of a sparse Riccati (or Lyapunov) equation.

    Parameters
    ----------
    Z : array, (n, r)
    gain : array, (m, n)
        B'X E; the feedback u = -gain x makes A - B gain stable.
    residual : float
        Residual of the equation over C'C, Frobenius.
    shifts : int
        Sparse factorizations.
    """

    Z: np.ndarray
    gain: np.ndarray
    residual: float
    shifts: int


def low_rank_care(
    pencil: Pencil, B: np.ndarray, C: np.ndarray, *, tolerance: float = TOLERANCE, most: int = MOST_SHIFTS
) -> LowRankSolution:
    """Return the stabilizing solution of A'X E + E'X A + C'C - E'X B B'X E = 0.

    Parameters
    ----------
    pencil : Pencil
        A and E; every finite eigenvalue in the left half plane.
    B : array, (n, m)
        Few columns; none for a Lyapunov equation.
    C : array, (p, n)
        Few rows.
    tolerance : float
        Residual over C'C to be reached.
    most : int
        Shifts after which NumericalError is raised.
    """
    n = pencil.size
    B, R = np.asarray(B, dtype=float).reshape(n, -1), np.array(C, dtype=float).T.reshape(n, -1)
    K = np.zeros_like(B)
    blocks: list[np.ndarray] = []
    bases: list[np.ndarray] = []
    first = pencil.size_of(R)
    known = pencil.first_shifts(B, R)
    residual, count = 1.0 if first > 0 else 0.0, 0
    while residual > tolerance:
        if count >= most:
            raise NumericalError(
                f"low_rank_care: the residual is {residual:.3g} of C'C after {count} shifts; expected {tolerance:g}. "
                "Where many modes are hardly damped the solution is not low in rank: reduce the structure to its modes "
                "first, or give a larger `tolerance`."
            )
        shift = known.pop(0) if known else _next_shift(pencil, B, R, K, bases)
        block, basis, R, K = _step(pencil, B, R, K, shift)
        blocks.append(block)
        bases = [*bases[-SPACE + 1 :], basis]
        count += 1
        residual = pencil.size_of(R) / first
        if not np.isfinite(residual):
            raise NumericalError(
                "low_rank_care: the iteration overflowed; is a mode of the structure not damped?"
            )
    Z = _compress(np.concatenate(blocks, axis=1)) if blocks else np.zeros((n, 0))
    return LowRankSolution(Z, K.T, residual, count)


def _step(
    pencil: Pencil, B: np.ndarray, R: np.ndarray, K: np.ndarray, shift: complex
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the new columns of Z, the directions they span, the residual factor R and the gain K after one shift or a pair."""
    p, m = R.shape[1], B.shape[1]
    scale = np.sqrt(-2 * shift.real)
    solve = pencil.solver(shift if shift.imag else shift.real)
    solved = solve(np.concatenate([R, K], axis=1))
    V, W = scale * solved[:, :p], solved[:, p:]
    if m:  # A' - K B' + s E' by the formula of Sherman, Morrison and Woodbury
        V = V + W @ np.linalg.solve(np.eye(m) - B.T @ W, B.T @ V)
    if not shift.imag:
        V = V.real
        seen = V.T @ B
        Y = np.eye(p) - seen @ seen.T / (2 * shift.real)
        basis = V
    else:
        a, b, square = shift.real, shift.imag, abs(shift) ** 2
        basis = np.concatenate([V.real, V.imag], axis=1)
        r, i = V.real.T @ B, V.imag.T @ B
        seen = np.concatenate([r, i])
        F1 = np.concatenate([-a * r - b * i, b * r - a * i])
        F3 = np.concatenate([b * np.eye(p), a * np.eye(p)])
        Y = np.diag(np.repeat([1.0, 0.5], p)) - F1 @ F1.T / (4 * square * a) - seen @ seen.T / (4 * a)
        Y -= F3 @ F3.T / (2 * square)
    # X <- X + basis Y^-1 basis', with Y symmetric and positive definite
    lower = np.linalg.cholesky((Y + Y.T) / 2)
    block = scipy.linalg.solve_triangular(lower, basis.T, lower=True).T
    right = scipy.linalg.cho_solve(
        (lower, True), np.concatenate([np.eye(len(Y))[:, :p] * scale, seen], axis=1)
    )
    change = pencil.apply_mass(basis @ right)
    return block, basis, R + change[:, :p], K + change[:, p:]


def _next_shift(
    pencil: Pencil, B: np.ndarray, R: np.ndarray, K: np.ndarray, bases: list[np.ndarray]
) -> complex:
    """Return the stable eigenvalue of the projected residual Hamiltonian whose vector has the largest part in X."""
    space = np.concatenate(bases, axis=1) if bases else _first_space(pencil, R)
    Q, upper, _ = scipy.linalg.qr(space, mode="economic", pivoting=True)
    kept = np.abs(np.diag(upper)) > 1e-12 * max(abs(upper[0, 0]), np.finfo(float).tiny)
    Q = Q[:, : max(int(kept.sum()), 1)]
    E = Q.T @ pencil.apply_mass(Q)
    A = np.linalg.solve(E, Q.T @ pencil.apply(Q) - (Q.T @ K) @ (B.T @ Q)).T
    b, r = Q.T @ B, np.linalg.solve(E, Q.T @ R)
    H = np.block([[A, b @ b.T], [r @ r.T, -A.T]])
    values, vectors = np.linalg.eig(H)
    weight = np.linalg.norm(vectors[len(A) :], axis=0) * (values.real < 0)
    value = complex(values[int(weight.argmax())])
    if not value.real < 0:
        value = complex(-abs(value))
    return complex(value.real, abs(value.imag) if abs(value.imag) > 1e-10 * abs(value) else 0.0)


def _first_space(pencil: Pencil, R: np.ndarray) -> np.ndarray:
    """Return directions to begin with: A'^-1 R, in which slow motions stand out, and R."""
    return np.concatenate([R, pencil.solver(0.0)(R).real], axis=1)


def _compress(Z: np.ndarray) -> np.ndarray:
    """Return columns with the same Z Z' to rounding, as few as the numerical rank has."""
    Q, upper = np.linalg.qr(Z)
    U, s, _ = np.linalg.svd(upper, full_matrices=False)
    rank = int((s > 1e-15 * s[0]).sum()) if len(s) else 0
    return Q @ (U[:, :rank] * s[:rank])
