"""Impulses: sudden changes of velocity along given directions.

Impulses P along the rows R of a motion change the velocities by M^-1 R' P. Those that bring R v by `targets` further are

    P = (R M^-1 R')^+ targets,   change of v = M^-1 R' P,

of all changes that do so the one with the least kinetic energy (Gauss); rows that depend on each other share the impulse.
"""

from __future__ import annotations

import numpy as np

DEPENDENT = 1e-10
"""Share of the largest singular value of R M^-1 R' below which one counts as zero [-]."""


def velocity_change(M: np.ndarray, rows: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the change of v by impulses along the rows that changes rows @ v by the targets, and these impulses.

    Parameters
    ----------
    M : array, (nv, nv)
        Mass matrix.
    rows : array, (m, nv)
    targets : array, (m,)

    Returns
    -------
    array, (nv,)
    array, (m,) [N s or N m s]
    """
    response = np.linalg.solve(M, rows.T)
    impulses = np.linalg.lstsq(rows @ response, targets, rcond=DEPENDENT)[0]
    return response @ impulses, impulses
