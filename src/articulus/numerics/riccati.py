"""Algebraic Riccati equations by structured doubling (Chu, Fan, Lin & Wang 2004; continuous: Chu, Fan & Lin 2005), by the ordered Schur form of a Hamiltonian matrix
(Laub 1979), and by Newton steps (Kleinman 1968).

The inputs are first brought to units in which their weight is one (its Cholesky factor goes into B), states and X to units in
which the Hamiltonian matrix is balanced. Doubling is nothing but products and factorizations; Newton steps bring X to the rounding of the equation
itself, one is enough as a rule, and show that it is the stabilizing solution. Where doubling does not converge soon, since a pole is too near
to the boundary of stability, or the weight of the inputs is not definite, X comes from the Schur form, which tells whether there is a solution. For that a sampled
equation becomes a Hamiltonian matrix by the bilinear transformation z = (1 + s) / (1 - s) of its extended symplectic
pencil (Mehrmann 1996): without an inverse of A or of the weight, and wherever
there is a stabilizing solution, for then no eigenvalue lies at z = -1. Where rounding puts slow poles of it onto the unit circle, doubling goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg

from articulus.errors import InputError
from articulus.numerics.lyapunov import Lyapunov, one_thread
from articulus.numerics.subspaces import stable_subspace

ACCURATE = 1e-8
"""Largest relative residual of a solution that can be trusted; rounding leaves some 1e-15."""
NEWTON_STEPS = 30
CONVERGED = 1e-7
"""Correction, over X, after which the next one is below rounding: each squares the last."""
DOUBLINGS, FEW = 60, 15
"""Most steps of doubling, of which 60 tell poles from the unit circle at a distance of 1e-16 of it; with more than the second the Schur form is as fast."""
CLEAR = 1e-10
"""Largest relative residual of a solution by few doublings: of any other the Schur form decides."""
LEAST = 1e-8
"""Root of a diagonal entry of X, over the largest, that counts as zero: the weight does not see that state."""
SINGULAR = 1e-14
"""Smallest eigenvalue of a weight with units on its diagonal that counts as zero."""


@dataclass(frozen=True)
class RiccatiSolution:
    """The stabilizing solution of an algebraic Riccati equation.

    Parameters
    ----------
    X : array, (n, n)
        Symmetric.
    gain : array, (m, n)
        K = R^-1 (B'X + S'); sampled: (R + B'XB)^-1 (B'XA + S').
    closed : array, (n, n)
        A - B K.
    residual : float
        Largest entry of the residual of the equation over that of its terms, with states in units in which it is balanced.
    sampled : bool
    """

    X: np.ndarray
    gain: np.ndarray
    closed: np.ndarray
    residual: float

    sampled: bool = False

    @cached_property
    def flow(self) -> Lyapunov:
        """Schur form of A - B K."""
        with one_thread():
            return Lyapunov(self.closed, self.sampled)

    @cached_property
    def poles(self) -> np.ndarray:
        """Eigenvalues of A - B K, (n,)."""
        return self.flow.eigenvalues


def care(
    A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, S: np.ndarray | None = None
) -> RiccatiSolution:
    """Return the stabilizing solution of A'X + XA - (XB + S) R^-1 (B'X + S') + Q = 0.

    Parameters
    ----------
    A, B : arrays, (n, n), (n, m)
    Q, R : arrays, (n, n), (m, m)
        Symmetric, definite or not; R has an inverse.
    S : array, (n, m)

    Raises
    ------
    InputError
        If there is none: the Hamiltonian matrix has an eigenvalue on the imaginary axis, or no input moves an unstable mode.
    """
    with one_thread():
        return _solve(_Continuous.of(A, B, Q, R, S))


def dare(
    A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, S: np.ndarray | None = None
) -> RiccatiSolution:
    """Return the stabilizing solution of X = A'XA - (A'XB + S)(R + B'XB)^-1 (B'XA + S') + Q; R may be singular. See `care`."""
    with one_thread():
        return _solve(_Sampled.of(A, B, Q, R, S))


def care_batch(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Return the stabilizing solutions of A'X + XA - X B R^-1 B' X + Q = 0 for many B at once, (batch, n, n).

    From the stable eigenvectors of the Hamiltonian matrices, both halves scaled alike: for small, well-conditioned equations, to some
    10 digits; without the checks of `care`. Where an equation has no stabilizing solution X is not positive, or not a number.

    Parameters
    ----------
    A : array, (n, n)
    B : array, (batch, n, m)
        Not zero.
    Q, R : arrays, (n, n), (m, m)
        Symmetric and positive; R has an inverse.
    """
    n = len(A)
    G = B @ np.linalg.solve(R, B.swapaxes(1, 2))
    scale = np.sqrt(np.linalg.norm(G, 2, axis=(1, 2)) / np.linalg.norm(Q, 2))[:, None, None]
    H = np.empty((len(B), 2 * n, 2 * n))
    H[:, :n, :n], H[:, :n, n:], H[:, n:, :n], H[:, n:, n:] = A, -G / scale, -scale * Q, -A.T
    values, vectors = np.linalg.eig(H)
    order = np.argsort(values.real, axis=1, kind="stable")[:, :n]
    V = np.take_along_axis(vectors, order[:, None, :], 2)
    X = np.linalg.solve(V[:, :n].swapaxes(1, 2), V[:, n:].swapaxes(1, 2)).real / scale
    return (X + X.swapaxes(1, 2)) / 2


@dataclass(frozen=True)
class _Equation:
    """An equation whose inputs are u = F v; B, R and S are those of v."""

    A: np.ndarray
    B: np.ndarray
    Q: np.ndarray
    R: np.ndarray
    S: np.ndarray
    F: np.ndarray

    @classmethod
    def of(
        cls, A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, S: np.ndarray | None
    ) -> _Equation:
        F, unit = cls.units(B, Q, R)
        return cls(A, B @ F, _even(Q), unit, np.zeros_like(B) if S is None else S @ F, F)

    @classmethod
    def units(cls, B: np.ndarray, Q: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return F and F'R F."""
        raise NotImplementedError

    def scale_states(self, d: np.ndarray) -> _Equation:
        """Return the equation of z, x = d z."""
        e = d[:, None]
        return replace(self, A=self.A * d / e, B=self.B / e, Q=self.Q * d * e, S=self.S * e)

    def hamiltonian(self) -> np.ndarray:
        raise NotImplementedError

    def pattern(self) -> np.ndarray:
        """Return the sizes of the entries of the Hamiltonian matrix, (2n, 2n), as far as its balance needs them."""
        raise NotImplementedError

    def gain(self, X: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def residual(self, X: np.ndarray, K: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the residual, and the largest of the terms that add up to it."""
        raise NotImplementedError

    def symplectic(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return A, G and H of X = A'X (I + G X)^-1 A + H, which has the same stabilizing solution; R is the unit."""
        raise NotImplementedError


class _Continuous(_Equation):
    sampled = False

    @classmethod
    def units(cls, B: np.ndarray, Q: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = _factor(R)
        if found is None:
            raise InputError("found a singular weight R; expected one that has an inverse")
        return found

    def hamiltonian(self) -> np.ndarray:
        signs = np.diag(self.R)  # all R has
        A = self.A - (self.B * signs) @ self.S.T
        return np.block([[A, -(self.B * signs) @ self.B.T], [(self.S * signs) @ self.S.T - self.Q, -A.T]])

    def pattern(self) -> np.ndarray:
        return np.abs(self.hamiltonian())

    def gain(self, X: np.ndarray) -> np.ndarray:
        return np.diag(self.R)[:, None] * (X @ self.B + self.S).T

    def residual(self, X: np.ndarray, K: np.ndarray) -> tuple[np.ndarray, float]:
        flow, out = X @ self.A, (X @ self.B + self.S) @ K
        return _even(flow + flow.T + self.Q - out), _largest(flow, self.Q, out)

    def symplectic(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        # z = (s + rate) / (s - rate); poles near the rate converge first, and it is the mean of all
        A, G, Q, eye = (
            self.A - self.B @ self.S.T,
            self.B @ self.B.T,
            _even(self.Q - self.S @ self.S.T),
            np.eye(len(self.A)),
        )
        rate = np.exp(np.linalg.slogdet(np.block([[A, -G], [-Q, -A.T]]))[1] / (2 * len(A)))
        inverse = np.linalg.inv(A - rate * eye)
        within = inverse @ G
        whole = np.linalg.inv((A - rate * eye).T + Q @ within)
        return (
            eye + 2 * rate * whole.T,
            _even(2 * rate * within @ whole),
            _even(2 * rate * whole @ Q @ inverse),
        )


class _Sampled(_Equation):
    sampled = True

    @classmethod
    def units(cls, B: np.ndarray, Q: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = _factor(R)
        if found is not None:
            return found
        sizes = np.abs(np.diag(R)) + np.abs(np.diag(B.T @ Q @ B))
        F = np.diag(1.0 / np.sqrt(np.where(sizes > 0.0, sizes, 1.0)))
        return F, _even(F @ R @ F)

    def hamiltonian(self) -> np.ndarray:
        n = len(self.A)
        eye, none = np.eye(n), np.zeros((n, n))
        plus = [
            [self.A + eye, none, self.B],
            [-self.Q, eye + self.A.T, -self.S],
            [self.S.T, -self.B.T, self.R],
        ]
        minus = [[self.A - eye, none], [-self.Q, eye - self.A.T], [self.S.T, self.B.T]]
        try:
            return np.linalg.solve(np.block(plus), np.block(minus))[: 2 * n]
        except np.linalg.LinAlgError:
            raise InputError(
                "there is no stabilizing solution: an eigenvalue of the symplectic pencil is -1"
            ) from None

    def pattern(self) -> np.ndarray:
        A = np.abs(self.A)
        return np.block([[A, np.abs(self.B @ self.B.T)], [np.abs(self.Q), A.T]])

    def gain(self, X: np.ndarray) -> np.ndarray:
        XB = X @ self.B
        return np.linalg.solve(self.R + self.B.T @ XB, XB.T @ self.A + self.S.T)

    def residual(self, X: np.ndarray, K: np.ndarray) -> tuple[np.ndarray, float]:
        step = self.A - np.eye(len(X))  # A'XA - X without the difference of two large matrices
        flow, out = X @ step, (self.A.T @ (X @ self.B) + self.S) @ K
        both = step.T @ flow
        return _even(flow + flow.T + both + self.Q - out), _largest(flow, both, self.Q, out)

    def symplectic(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.A - self.B @ self.S.T, self.B @ self.B.T, _even(self.Q - self.S @ self.S.T)


def _solve(given: Any) -> RiccatiSolution:
    if not len(given.A):
        return RiccatiSolution(given.A, given.F @ given.S.T, given.A, 0.0, given.sampled)
    d = _scales(given.pattern())
    equation = given.scale_states(d)
    X, K, residual = _by_doubling(equation, FEW) or _by_schur_form(equation)
    closed = equation.A - equation.B @ K
    e = d[:, None]
    return RiccatiSolution(X / (d * e), given.F @ K / d, closed * e / d, residual, given.sampled)


def _first(equation: Any) -> np.ndarray:
    """Return X from the stable subspace of the Hamiltonian matrix."""
    H, n = equation.hamiltonian(), len(equation.A)
    space = stable_subspace(H)
    if space is None:
        raise InputError(f"there is no stabilizing solution: {_on_boundary(H, equation.sampled)}")
    U1, U2 = space.basis[:n], space.basis[n:]
    if np.linalg.cond(U1) > 1.0 / np.finfo(float).eps:
        raise InputError("there is no stabilizing solution: no input moves a mode that is not stable")
    return _even(np.linalg.solve(U1.T, U2.T))


def _by_schur_form(equation: Any) -> tuple[np.ndarray, np.ndarray, float]:
    """Return X, the gain and the residual; of a sampled equation by doubling where its pencil does not give them.

    Slow poles in short periods lie so near to the unit circle that rounding may put them onto it.
    """
    if not equation.sampled:
        return _refine(equation, _first(equation))
    found, cause = None, None
    try:
        found = _refine(equation, _first(equation))
        if found[2] <= ACCURATE:
            return found
    except InputError as error:
        cause = error
    tried = [each for each in (found, _by_doubling(equation, DOUBLINGS)) if each is not None]
    if not tried:
        assert cause is not None
        raise cause
    return min(tried, key=lambda each: each[2])


def _by_doubling(equation: Any, most: int) -> tuple[np.ndarray, np.ndarray, float] | None:
    """Return X, the gain and the residual by at most so many doublings; None if X does not converge, is not stabilizing or, with few, not accurate."""
    if not np.array_equal(equation.R, np.eye(len(equation.R))):
        return None
    try:
        A, G, H = equation.symplectic()
        X = _double(A, G, H, most)
        found = None if X is None else _refine(equation, X)
    except (InputError, np.linalg.LinAlgError):
        return None
    return found if found is not None and (most > FEW or found[2] <= CLEAR) else None


def _double(A: np.ndarray, G: np.ndarray, H: np.ndarray, most: int) -> np.ndarray | None:
    """Return the limit of H; None if it is not near after the most steps, or cannot be.

    Each step squares the closed loop; no eigenvalue has to be told from one on the unit circle.
    """
    eye, size = np.eye(len(A)), float(np.linalg.norm(A))
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(most):
            within = np.linalg.solve(eye + G @ H, np.hstack([A, G]))
            step = _even(A.T @ H @ within[:, : len(A)])
            G, H, A = _even(G + A @ within[:, len(A) :] @ A.T), H + step, A @ within[:, : len(A)]
            if not np.isfinite(H).all():
                return None
            if _size(step, H) < CONVERGED:
                return H
            size, last = float(np.linalg.norm(A)), size
            # A shrinks by the 2^k-th power of the slowest pole, and has to by 1e-7
            if FEW // 2 < k < FEW == most and size > last * 10.0 ** (-7.0 / 2.0 ** (most - k)):
                return None
    return None


def _refine(equation: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return X after Newton steps, the gain and the relative residual."""
    last = np.inf
    for _ in range(NEWTON_STEPS):
        K = equation.gain(X)
        flow = Lyapunov((equation.A - equation.B @ K).T, equation.sampled)
        if not flow.poles.real.max() < 0.0:
            raise InputError("there is no stabilizing solution: a pole stays on the boundary of stability")
        step = flow.solve(equation.residual(X, K)[0])
        X = _even(X + step)
        size = _size(step, X)
        if size < CONVERGED or size > 0.1 * last:  # what is left is rounding
            break
        last = size
    K = equation.gain(X)
    off, largest = equation.residual(X, K)
    return X, K, float(np.abs(off).max() / largest)


def _size(step: np.ndarray, X: np.ndarray) -> float:
    """Return the largest entry of a change of X, each over the geometric mean of the diagonal entries of X."""
    sizes = np.sqrt(np.abs(np.diag(X)))
    sizes = np.maximum(sizes, LEAST * max(sizes.max(), np.finfo(float).tiny))
    return float(np.max(np.abs(step) / sizes / sizes[:, None]))


def _largest(*terms: np.ndarray) -> float:
    return max(np.finfo(float).tiny, *(float(np.abs(term).max()) for term in terms))


def _scales(pattern: np.ndarray) -> np.ndarray:
    """Return d (n,), powers of two: diag(1 / d, d) H diag(d, 1 / d) is balanced, as far as a symplectic scaling can do it."""
    n = len(pattern) // 2
    np.fill_diagonal(pattern, 0.0)
    scale = np.log2(scipy.linalg.matrix_balance(pattern, permute=False, separate=True)[1][0])
    return 2.0 ** np.round(0.5 * (scale[:n] - scale[n:]))


def _factor(R: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return F and F'R F = diag(+-1); None if R is singular."""
    R = _even(R)
    d = np.sqrt(np.abs(np.diag(R)))
    d = np.where(d > 0.0, d, np.sqrt(np.abs(R).max(initial=0.0)) or 1.0)
    unit = R / d / d[:, None]
    for sign in (1.0, -1.0):
        try:
            L = np.linalg.cholesky(sign * unit)
        except np.linalg.LinAlgError:
            continue
        if np.diag(L).min(initial=1.0) ** 2 > SINGULAR:
            inverse = scipy.linalg.solve_triangular(L, np.eye(len(R)), lower=True) if len(R) else L
            return inverse.T / d[:, None], sign * np.eye(len(R))
    values, vectors = np.linalg.eigh(unit)
    if np.abs(values).min(initial=1.0) <= SINGULAR:
        return None
    return vectors / np.sqrt(np.abs(values)) / d[:, None], np.diag(np.sign(values))


def _on_boundary(H: np.ndarray, sampled: bool) -> str:
    """Return which eigenvalue of the Hamiltonian matrix lies nearest to the boundary of stability, in words."""
    values = np.linalg.eigvals(H)
    s = 1j * abs(values[np.argmin(np.abs(values.real))].imag)
    if sampled:
        return f"the symplectic pencil has the eigenvalue {(1 + s) / (1 - s):.6g} on the unit circle"
    return f"the Hamiltonian matrix has the eigenvalue {s:.6g} on the imaginary axis"


def _even(matrix: np.ndarray) -> np.ndarray:
    return 0.5 * (matrix + matrix.T)
