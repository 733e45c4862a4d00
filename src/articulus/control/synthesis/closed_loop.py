"""Norms and poles of a closed loop as functions of the controller, with exact gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from articulus.control.analysis.norms import hinfnorm
from articulus.control.plant import Partition, of_matrices
from articulus.linear import LinearModel


class ClosedLoop:
    """Closed loop as a function of K: A = A0 + Bu K Cy, B = B0 + Bu K Dw, C = C0 + Dz K Cy, D = D0 + Dz K Dw."""

    def __init__(self, part: Partition, order: int):
        pad = scipy.linalg.block_diag
        self.part = part
        self.A0 = pad(part.A, np.zeros((order, order)))
        self.Bu = pad(part.B2, np.eye(order)) if order else part.B2
        self.Cy = pad(part.C2, np.eye(order)) if order else part.C2
        self.B0 = np.vstack([part.B1, np.zeros((order, len(part.w)))])
        self.C0 = np.hstack([part.C1, np.zeros((len(part.z), order))])
        self.Dz = np.hstack([part.D12, np.zeros((len(part.z), order))])
        self.Dw = np.vstack([part.D21, np.zeros((order, len(part.w)))])
        self.D0 = part.D11

    def of(self, K: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        left, right = self.Bu @ K, self.Dz @ K
        return (
            self.A0 + left @ self.Cy,
            self.B0 + left @ self.Dw,
            self.C0 + right @ self.Cy,
            self.D0 + right @ self.Dw,
        )

    def back(self, dA: Any = 0.0, dB: Any = 0.0, dC: Any = 0.0, dD: Any = 0.0) -> np.ndarray:
        """Return the gradient by K from those by A, B, C, D."""
        n, w, z = len(self.A0), self.B0.shape[1], len(self.C0)
        dA, dB, dC, dD = (
            np.broadcast_to(x, s) for x, s in ((dA, (n, n)), (dB, (n, w)), (dC, (z, n)), (dD, (z, w)))
        )
        return self.Bu.T @ (dA @ self.Cy.T + dB @ self.Dw.T) + self.Dz.T @ (dC @ self.Cy.T + dD @ self.Dw.T)

    def model(self, K: np.ndarray) -> LinearModel:
        return of_matrices(*self.of(K))

    def square(self, K: np.ndarray, rows: np.ndarray | None = None) -> tuple[float, np.ndarray]:
        """Return the square of the H2 norm, of some errors only, and its gradient by K."""
        A, B, C, D = self.of(K)
        C, D = (C, D) if rows is None else (C[rows], D[rows])
        if np.abs(D).max(initial=0.0) > 1e-12:
            return np.inf, np.zeros_like(K)
        P = scipy.linalg.solve_continuous_lyapunov(A, -B @ B.T)
        Q = scipy.linalg.solve_continuous_lyapunov(A.T, -C.T @ C)
        dC = np.zeros_like(self.C0)
        dC[slice(None) if rows is None else rows] = 2 * C @ P
        return float(np.trace(C @ P @ C.T)), self.back(2 * Q @ P, 2 * Q @ B, dC)

    def peak(self, K: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the Hinf norm and its gradient by K, from the singular vectors at the peak."""
        found = hinfnorm(self.model(K))
        if not np.isfinite(found.value):
            return np.inf, np.zeros_like(K)
        A, B, C, D = self.of(K)
        if not np.isfinite(found.omega):
            U, s, Vh = np.linalg.svd(D)
            return float(s[0]), self.back(dD=np.outer(U[:, 0], Vh[0]))
        resolvent = np.linalg.inv(1j * found.omega * np.eye(len(A)) - A)
        U, s, Vh = np.linalg.svd(C @ resolvent @ B + D)
        u, v = U[:, 0], Vh[0].conj()
        left, right = (C @ resolvent).conj().T @ u, resolvent @ (B @ v)
        outer = [np.outer(a.conj(), b).real for a, b in ((left, right), (left, v), (u, right), (u, v))]
        return float(s[0]), self.back(*outer)

    def pole(
        self, K: np.ndarray, measure: Callable[[np.ndarray], np.ndarray], turn: Callable[[complex], complex]
    ) -> tuple[float, np.ndarray]:
        """Return the largest of a measure of the poles, and its gradient by K; `turn` is its derivative (d/dx - j d/dy)."""
        A = self.of(K)[0]
        values, left, right = scipy.linalg.eig(A, left=True)
        k = int(np.argmax(measure(values)))
        y, x = left[:, k], right[:, k]
        rate = np.outer(y.conj(), x) / (y.conj() @ x)
        return float(measure(values)[k]), self.back((turn(complex(values[k])) * rate).real)
