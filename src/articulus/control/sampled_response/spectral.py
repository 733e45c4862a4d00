"""Spectral factors of sampled spectra: H = F* F with F and its inverse stable.

Scalar: F = exp {ln H}_+. Matrix: the Newton iteration of Davis and Dickinson in the form of W. H. Bennett, Frequency Response Modeling and
Control of Flexible Structures: Computational Methods, 3rd Annual Conference on Aerospace Computational Control, JPL, 1989, eqs. 3.3, 3.4.
"""

from __future__ import annotations

import numpy as np

from articulus.control.sampled_response.grid import FrequencyGrid
from articulus.errors import InputError, NumericalError

ROUNDS = 60
CONVERGED = 1e-11
"""Largest entry of F^-* H F^-1 - I at which the iteration ends."""


def spectral_factor(H: np.ndarray, grid: FrequencyGrid) -> tuple[np.ndarray, list[float]]:
    """Return samples of F with H = F* F (F* the conjugate transpose), and the residual of each iteration.

    Parameters
    ----------
    H : array, (frequencies,) or (frequencies, n, n)
        Hermitian and positive definite at every frequency of the grid, with a finite limit.
    grid : FrequencyGrid
    """
    H = np.asarray(H, dtype=complex)
    if H.ndim == 1:
        if not (H.real > 0).all() or np.abs(H.imag).max() > 1e-9 * np.abs(H).max():
            raise InputError(
                "spectral factor: found a spectrum that is not real and positive at every frequency; expected one above zero"
            )
        return np.exp(grid.causal(np.log(H.real).astype(complex))), []
    if H.shape[1:] != (H.shape[1], H.shape[1]):
        raise InputError(
            f"spectral factor: found samples of shape {H.shape}; expected (count,) or (count, n, n)"
        )
    least = np.linalg.eigvalsh(H)[:, 0].min()
    if not least > 0:
        raise InputError(
            f"spectral factor: found a spectrum with the eigenvalue {least:.3g}; expected a definite one at every frequency"
        )
    n = H.shape[1]
    inverse = np.zeros_like(H)
    for i in range(n):
        inverse[:, i, i] = 1.0 / spectral_factor(H[:, i, i].real, grid)[0]
    residuals: list[float] = []
    for _ in range(ROUNDS):
        off = np.conj(np.swapaxes(inverse, 1, 2)) @ H @ inverse - np.eye(n)
        residuals.append(float(np.abs(off).max()))
        if residuals[-1] < CONVERGED or (
            len(residuals) > 4 and residuals[-1] > 0.5 * residuals[-2] and residuals[-1] < 1e-6
        ):
            break
        inverse = inverse @ np.linalg.inv(np.eye(n) + grid.causal(off))
    if residuals[-1] > 1e-6:
        raise NumericalError(
            f"spectral factor: the iteration ended at a residual of {residuals[-1]:.2g}; expected more frequencies, or another scale of the grid",
            result=np.linalg.inv(inverse),
        )
    return np.linalg.inv(inverse), residuals
