"""Hinf norm by levels of a Hamiltonian matrix."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from articulus.control.analysis.scaling import scaled
from articulus.control.synthesis.bilinear import to_continuous
from articulus.linear import LinearModel


def peak(model: LinearModel, tolerance: float = 1e-7) -> float:
    """Return the largest singular value of the response of a stable model over all frequencies, to a relative tolerance."""
    m = scaled(to_continuous(model, "peak"))[0]
    T, Z = scipy.linalg.schur(m.A, output="complex", check_finite=False)
    left, right = m.C @ Z, Z.conj().T @ m.B
    eye = np.eye(len(T))

    def at(omega: np.ndarray) -> float:
        most = 0.0
        for w in omega:
            G = left @ scipy.linalg.solve_triangular(1j * w * eye - T, right, check_finite=False) + m.D
            most = max(most, float(np.linalg.norm(G, 2)))
        return most

    values = np.diag(T)
    upper = values[values.imag >= 0]
    low = max(float(np.linalg.norm(m.D, 2)), at(np.unique(np.r_[0.0, np.abs(upper), upper.imag])))
    if not low > 0.0:
        return 0.0
    while True:
        level = low * (1 + tolerance)
        omega = _crossings(m, level)
        higher = at(0.5 * (omega[1:] + omega[:-1]))
        if higher <= level:
            return max(low, higher)
        low = higher


def _crossings(m: LinearModel, level: float) -> np.ndarray:
    R = level**2 * np.eye(m.D.shape[1]) - m.D.T @ m.D
    RB = np.linalg.solve(R, np.hstack([m.D.T @ m.C, m.B.T]))
    n = len(m.A)
    H = np.block([[m.A, np.zeros((n, n))], [-m.C.T @ m.C, -m.A.T]])
    H += np.vstack([m.B, -m.C.T @ m.D]) @ RB
    G, Q = np.linalg.norm(H[:n, n:]), np.linalg.norm(H[n:, :n])
    s = np.sqrt(Q / G) if G > 0 and Q > 0 else 1.0
    H[:n, n:] *= s
    H[n:, :n] /= s
    values = np.linalg.eigvals(H)
    near = np.abs(values.real) < 1e-6 * np.abs(values) + 1e-14 * np.abs(values).max(initial=0.0)
    return np.sort(values[near & (values.imag >= 0)].imag)
