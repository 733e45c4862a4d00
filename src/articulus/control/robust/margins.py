"""Multivariable stability margins for one-sided, two-sided and real uncertainties, and the Perron bound.

Upper bounds of 1 / K_m of a loop that is closed with a diagonal Delta (Tekawy, Safonov & Chiang 1989); I - M Delta is regular
for all Delta of the kind that are smaller than the margin K_m. Of a loop with negative feedback M is minus its transfer function.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from articulus.control.robust.blocks import BlockStructure
from articulus.control.robust.centers import least_ratio
from articulus.control.robust.mu_upper import osborne, search_space, upper
from articulus.errors import InputError

MOST_SIGNS = 12
"""Most real uncertainties for which all sign matrices are tried."""


def two_sided(M: Any) -> Any:
    """Return min over D of sigma_max(D M D^-1): 1 / K_m for |Delta_i| < K_m, complex; equal to 1 / K_m up to three of them.

    Parameters
    ----------
    M : complex array, (n, n) or (f, n, n)

    Returns
    -------
    float or array, (f,)
    """
    matrices, structure = _read_matrix(M, "two_sided")
    return _like(M, upper(matrices, structure).bound)


def one_sided(M: Any) -> Any:
    """Return max(0, min over D of lam_max(D M D^-1 + (D M D^-1)*) / 2): 1 / K_m for Delta_i in the sector [0, K_m].

    The sector is the disk with [0, K_m] as diameter: losses of effectiveness, saturation; 0 means an infinite margin. See
    `two_sided` for arguments.
    """
    matrices, structure = _read_matrix(M, "one_sided")
    return _like(M, np.maximum(_least_half(matrices, structure), 0.0))


def real_two_sided(M: Any) -> Any:
    """Return the bound of 1 / K_m for real Delta_i, |Delta_i| < K_m: the largest one-sided bound of M phi over sign matrices phi.

    See `two_sided` for arguments; 2^n one-sided problems are solved for each matrix.
    """
    matrices, structure = _read_matrix(M, "real_two_sided")
    n = matrices.shape[-1]
    if n > MOST_SIGNS:
        raise InputError(
            f"real_two_sided: found {n} uncertainties; expected at most {MOST_SIGNS}, for 2^n sign matrices; take mussv"
        )
    signs = np.array(list(itertools.product((1.0, -1.0), repeat=n)))
    turned = (matrices[:, None] * signs[:, None, :]).reshape(-1, n, n)
    found = _least_half(turned, structure).reshape(len(matrices), len(signs))
    return _like(M, np.maximum(found.max(axis=1), 0.0))


def perron(M: Any) -> Any:
    """Return the Perron root of |M|, entry by entry: an upper bound of `two_sided` that takes one eigenvalue.

    Its eigenvectors x, y give the scaling D = diag(sqrt(y_i / x_i)), with which sigma_max(D M D^-1) is at most that large.
    See `two_sided` for arguments.
    """
    matrices, _ = _read_matrix(M, "perron")
    return _like(M, np.abs(np.linalg.eigvals(np.abs(matrices))).max(axis=-1))


def _least_half(matrices: np.ndarray, structure: BlockStructure) -> np.ndarray:
    """Return min over D of lam_max(He(D M D^-1)), He(N) = (N + N*) / 2."""
    scale = np.exp(osborne(matrices, structure))
    N = scale[:, :, None] * matrices / scale[:, None, :]
    size = np.maximum(np.linalg.norm(N, 2, axis=(-2, -1)), np.finfo(float).tiny)
    N = N / size[:, None, None]
    E, _, cones, start = search_space(structure)
    product = E @ N[:, None]
    P = 0.5 * (product + product.conj().swapaxes(-1, -2))
    _, ratios = least_ratio(P, E, cones, np.tile(start, (len(N), 1)))
    return size * ratios


def _read_matrix(M: Any, method: str) -> tuple[np.ndarray, BlockStructure]:
    found = np.asarray(M, dtype=complex)
    if found.ndim not in (2, 3) or found.shape[-1] != found.shape[-2] or not found.size:
        raise InputError(f"{method}: found M of shape {found.shape}; expected (n, n) or (f, n, n)")
    if not np.isfinite(found).all():
        raise InputError(f"{method}: found entries of M that are not finite; likely a pole at a frequency")
    return found.reshape(-1, *found.shape[-2:]), BlockStructure.of([(1, 1)] * found.shape[-1], method)


def _like(M: Any, found: np.ndarray) -> Any:
    return found if np.ndim(M) == 3 else float(found[0])
