"""Frequency response of the second-order form, one sparse factorization for each frequency."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from articulus.errors import InputError
from articulus.structure.structure import Structure


def frequency_response(structure: Structure, omega: np.ndarray) -> np.ndarray:
    """Return outputs for unit inputs, (len(omega), p, m), complex: (H + i w H_rate) (K + i w D - w^2 M)^-1 B.

    Parameters
    ----------
    structure : Structure
        With inputs and outputs.
    omega : array [rad/s]
        Circular frequencies.
    """
    s, omega = structure, np.atleast_1d(np.asarray(omega, dtype=float))
    if not (s.inputs and s.outputs):
        raise InputError(
            f"frequency response: {len(s.inputs)} inputs and {len(s.outputs)} outputs; name some by with_input and with_output"
        )
    out = np.empty((len(omega), len(s.outputs), len(s.inputs)), dtype=complex)
    for i, w in enumerate(omega):
        A = sp.csc_array(s.K + 1j * w * s.D - w**2 * s.M)
        out[i] = (s.H + 1j * w * s.H_rate) @ splu(A).solve(s.B.astype(complex))
    return out
