"""Frequencies at which a Hermitian form of a transfer function becomes singular, from the eigenvalues of a Hamiltonian matrix."""

from __future__ import annotations

import numpy as np

from articulus.linear import LinearModel

ON_AXIS = 1e-7
"""Real part of an eigenvalue, over its size (or the norm of the matrix times 1e-6), that counts as zero."""


def continuous(model: LinearModel) -> tuple[np.ndarray, ...]:
    """Return (A, B, C, D) of a model in continuous time; a sampled one by z = (1 + s) / (1 - s), which keeps its values."""
    if model.period is None:
        return model.A, model.B, model.C, model.D
    n = len(model.A)
    inverse = np.linalg.solve(model.A + np.eye(n), np.eye(n))
    root = np.sqrt(2.0)
    return (
        inverse @ (model.A - np.eye(n)),
        root * inverse @ model.B,
        root * model.C @ inverse,
        model.D - model.C @ inverse @ model.B,
    )


def singular_frequencies(
    matrices: tuple[np.ndarray, ...], form: np.ndarray, on_axis: float = ON_AXIS
) -> np.ndarray:
    """Return the frequencies w >= 0, sorted, at which [H; I]* form [H; I] is singular, H = C (j w I - A)^-1 B + D.

    Parameters
    ----------
    matrices : A, B, C, D
    form : complex array, (p + m, p + m)
        Hermitian; [D; I]* form [D; I] must be regular (that is the form at infinite frequency).
    on_axis : float
        Real part of an eigenvalue, over its size, that counts as zero. More than rounding gives candidates, not all of them singular.
    """
    A, B, C, D = matrices
    p = len(C)
    Q = C.T @ form[:p, :p] @ C
    S = C.T @ (form[:p, :p] @ D + form[:p, p:])
    cross = D.T @ form[:p, p:]
    R = D.T @ form[:p, :p] @ D + cross + cross.conj().T + form[p:, p:]
    inverse = np.linalg.inv(R)
    inner = A - B @ inverse @ S.conj().T
    H = np.block([[inner, -B @ inverse @ B.T], [-Q + S @ inverse @ S.conj().T, -inner.conj().T]])
    values = np.linalg.eigvals(H)
    limit = on_axis * np.maximum(np.abs(values), 1e-6 * np.linalg.norm(H))
    found = values[np.abs(values.real) <= limit].imag
    return np.sort(found[found >= 0.0])


def positive(matrices: tuple[np.ndarray, ...], form: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """Tell whether [H; I]* form [H; I] is positive definite, at each of some frequencies."""
    A, B, C, D = matrices
    H = C @ np.linalg.solve(1j * omega[:, None, None] * np.eye(len(A)) - A, B[None].astype(complex)) + D
    tall = np.concatenate(
        [H, np.broadcast_to(np.eye(B.shape[1]), (len(omega), B.shape[1], B.shape[1]))], axis=1
    )
    return np.linalg.eigvalsh(np.conj(np.swapaxes(tall, 1, 2)) @ form @ tall)[:, 0] > 0
