"""Norms and poles of a closed loop as functions of the controller, with exact gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.linalg

from articulus.control.analysis.norms import hinfnorm
from articulus.control.plant import PlantPartition, of_matrices
from articulus.control.synthesis.finite_time import FiniteTime, Sinusoid, mean_square, sinusoid_ratio
from articulus.linear import LinearModel
from articulus.numerics.lyapunov import Lyapunov

BROKEN = 1e-4
"""Difference of the two ways to compute the square of an H2 norm, over it, from which on rounding decides about it."""


class ClosedLoop:
    """Closed loop as a function of K: A = A0 + Bu K' Cy, B = B0 + Bu K' Dw, C = C0 + Dz K' Cy, D = D0 + Dz K' Dw.

    K' = K (I - D22 K)^-1 is the controller with the plant's feedthrough from commands to measured outputs around it.
    """

    def __init__(self, part: PlantPartition, order: int):
        pad = scipy.linalg.block_diag
        self.part, self.period = part, part.model.period
        self.D22 = pad(part.D22, np.zeros((order, order))) if part.D22.any() else None
        self.A0 = pad(part.A, np.zeros((order, order)))
        self.Bu = pad(part.B2, np.eye(order)) if order else part.B2
        self.Cy = pad(part.C2, np.eye(order)) if order else part.C2
        self.B0 = np.vstack([part.B1, np.zeros((order, len(part.w)))])
        self.C0 = np.hstack([part.C1, np.zeros((len(part.z), order))])
        self.Dz = np.hstack([part.D12, np.zeros((len(part.z), order))])
        self.Dw = np.vstack([part.D21, np.zeros((order, len(part.w)))])
        self.D0 = part.D11

    def around(self, K: np.ndarray) -> np.ndarray:
        """Return K (I - D22 K)^-1."""
        return K if self.D22 is None else np.linalg.solve(np.eye(len(K)) - K @ self.D22, K)

    def of(self, K: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        K = self.around(K)
        left, right = self.Bu @ K, self.Dz @ K
        return (
            self.A0 + left @ self.Cy,
            self.B0 + left @ self.Dw,
            self.C0 + right @ self.Cy,
            self.D0 + right @ self.Dw,
        )

    def back(self, K: np.ndarray, dA: Any = 0.0, dB: Any = 0.0, dC: Any = 0.0, dD: Any = 0.0) -> np.ndarray:
        """Return the gradient by K from those by A, B, C, D."""
        n, w, z = len(self.A0), self.B0.shape[1], len(self.C0)
        dA, dB, dC, dD = (
            np.broadcast_to(x, s) for x, s in ((dA, (n, n)), (dB, (n, w)), (dC, (z, n)), (dD, (z, w)))
        )
        slope = self.Bu.T @ (dA @ self.Cy.T + dB @ self.Dw.T) + self.Dz.T @ (dC @ self.Cy.T + dD @ self.Dw.T)
        if self.D22 is None:
            return slope
        left, right = np.eye(len(K)) - K @ self.D22, np.eye(K.shape[1]) - self.D22 @ K
        return np.linalg.solve(left.T, np.linalg.solve(right, slope.T).T)

    def model(self, K: np.ndarray) -> LinearModel:
        return of_matrices(*self.of(K), self.period)

    def finite(
        self, K: np.ndarray, h2: float, hinf: float, index: FiniteTime, waves: Sequence[Sinusoid]
    ) -> tuple[float, np.ndarray]:
        """Return the weighted sum of the finite-time indices and its gradient by K; that of weight `hinf` is of the worst of some waves."""
        A, B, C, D = self.of(K)
        if not np.isfinite(A).all():
            return np.inf, np.zeros_like(K)
        total, slope = 0.0, np.zeros_like(K)
        if h2:
            if np.abs(D).max(initial=0.0) > 1e-12:
                return np.inf, np.zeros_like(K)
            value, by = mean_square(A, B, C, index)
            total, slope = total + h2 * value, slope + h2 * self.back(K, *by)
        if hinf and waves:
            found = [sinusoid_ratio(A, B, C, D, index, wave) for wave in waves]
            value, slopes = max(found, key=lambda pair: pair[0])
            total, slope = total + hinf * value, slope + hinf * self.back(K, *slopes)
        return total, slope

    def outside(self, K: np.ndarray) -> float:
        """Return the largest real part of the poles, or their largest size less one: negative where the loop is stable."""
        values = np.linalg.eigvals(self.of(K)[0])
        return float(np.max(values.real if self.period is None else np.abs(values) - 1.0, initial=-np.inf))

    def square(self, K: np.ndarray, rows: np.ndarray | None = None) -> tuple[float, np.ndarray]:
        """Return the square of the H2 norm, of some errors only, and its gradient by K; infinite where rounding leaves no digit of it."""
        A, B, C, D = self.of(K)
        C, D = (C, D) if rows is None else (C[rows], D[rows])
        sampled = self.period is not None
        if not sampled and self._passes_noise(K, D, slice(None) if rows is None else rows):
            return np.inf, np.zeros_like(K)
        P, Q = Lyapunov(A, sampled).solve(B @ B.T), Lyapunov(A.T, sampled).solve(C.T @ C)
        value, other = float(np.sum((C @ P) * C)), float(np.sum((Q @ B) * B))
        if not abs(value - other) <= BROKEN * max(value, other) or value < 0.0:
            return np.inf, np.zeros_like(K)
        dC, dD = np.zeros_like(self.C0), np.zeros_like(self.D0)
        dC[slice(None) if rows is None else rows] = 2 * C @ P
        if sampled:
            dD[slice(None) if rows is None else rows] = 2 * D
            return value + float(np.sum(D**2)), self.back(K, 2 * Q @ A @ P, 2 * Q @ B, dC, dD)
        return value, self.back(K, 2 * Q @ P, 2 * Q @ B, dC)

    def _passes_noise(self, K: np.ndarray, D: np.ndarray, rows: Any) -> bool:
        """Return whether the feedthrough from disturbances to errors is more than what rounding leaves of its terms."""
        terms = np.abs(self.D0) + np.abs(self.Dz) @ np.abs(self.around(K)) @ np.abs(self.Dw)
        return bool((np.abs(D) > 1e-12 * terms[rows]).any())

    def peak(self, K: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the Hinf norm and its gradient by K, from the singular vectors at the peak."""
        found = hinfnorm(self.model(K))
        if not np.isfinite(found.value):
            return np.inf, np.zeros_like(K)
        if not np.isfinite(found.omega):
            U, s, Vh = np.linalg.svd(self.of(K)[3])
            return float(s[0]), self.back(K, dD=np.outer(U[:, 0], Vh[0]))
        return self.gain_at(K, found.omega)[:2]

    def gain_at(self, K: np.ndarray, omega: float) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the largest singular value at a frequency [rad/s], its gradient by K, and the direction of the disturbances."""
        A, B, C, D = self.of(K)
        at = 1j * omega if self.period is None else np.exp(1j * omega * self.period)
        resolvent = np.linalg.inv(at * np.eye(len(A)) - A)
        U, s, Vh = np.linalg.svd(C @ resolvent @ B + D)
        u, v = U[:, 0], Vh[0].conj()
        left, right = (C @ resolvent).conj().T @ u, resolvent @ (B @ v)
        outer = [np.outer(a.conj(), b).real for a, b in ((left, right), (left, v), (u, right), (u, v))]
        return float(s[0]), self.back(K, *outer), v

    def pole(
        self, K: np.ndarray, measure: Callable[[np.ndarray], np.ndarray], turn: Callable[[complex], complex]
    ) -> tuple[float, np.ndarray]:
        """Return the largest of a measure of the poles s, and its gradient by K; `turn` is its derivative (d/dx - j d/dy).

        For a sampled loop s = log(z) / period.
        """
        A = self.of(K)[0]
        values, left, right = scipy.linalg.eig(A, left=True)
        inner = np.ones(len(values))
        if self.period is not None:
            z = np.where(values == 0.0, np.finfo(float).tiny, values)
            values, inner = np.log(z.astype(complex)) / self.period, 1.0 / (z * self.period)
        k = int(np.argmax(measure(values)))
        y, x = left[:, k], right[:, k]
        rate = np.outer(y.conj(), x) / (y.conj() @ x)
        return float(measure(values)[k]), self.back(K, (turn(complex(values[k])) * inner[k] * rate).real)
