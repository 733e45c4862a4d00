"""A linear system with sampled parts over one period of the whole: the transition of a multirate system.

Between instants z' = F (z, d, u) with held values d and inputs u; at the instants of part k, d <- R_k (z, d, u). Over the
least common multiple of all periods this is a product of matrix exponentials and of the maps R_k in the order in which
they work.

Source: Kalman & Bertram 1959.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np

from articulus.errors import UnsupportedOperation

MOST_INSTANTS = 100_000
"""Instants within one period of the whole beyond which a system is refused."""


def over_period(
    rate: np.ndarray, updates: Sequence[np.ndarray], periods: Sequence[int], h: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the transition of (z, d, u) over one period of the whole, and over its first instant alone.

    Parameters
    ----------
    rate : array, (nz, nz + nd + nu)
        F.
    updates : sequence of arrays, (nd, nz + nd + nu)
        R_k, in the order in which they work.
    periods : sequence of int
        One for each update, in parts of h.
    h : float [s]
    """
    whole = math.lcm(*periods)
    if sum(whole // m for m in periods) > MOST_INSTANTS:
        raise UnsupportedOperation(
            f"linear: the sampling periods repeat only after {whole * h:g} s, with more than {MOST_INSTANTS} instants in "
            "between; expected periods with a small common multiple"
        )

    from scipy.linalg import expm  # late: its import would slow down every first run

    @functools.cache
    def flow(steps: int) -> np.ndarray:
        n = rate.shape[1]
        return expm(np.vstack([rate, np.zeros((n - len(rate), n))]) * (steps * h))

    instants = sorted({k for m in periods for k in range(0, whole, m)})
    first = _instant(0, rate, updates, periods)
    total = flow((instants[1:] or [whole])[0]) @ first
    for k, after in zip(instants[1:], [*instants[2:], whole]):
        total = flow(after - k) @ _instant(k, rate, updates, periods) @ total
    return total, first


def _instant(k: int, rate: np.ndarray, updates: Sequence[np.ndarray], periods: Sequence[int]) -> np.ndarray:
    """Return what the parts that are due do to (z, d, u)."""
    nz, n = rate.shape
    total = np.eye(n)
    for update, period in zip(updates, periods):
        if k % period == 0:
            step = np.eye(n)
            step[nz : nz + len(update)] = update
            total = step @ total
    return total


def needed_states(A: np.ndarray, C: np.ndarray, first: int) -> list[int]:
    """Return the states that matter: all before `first`, and those after it that a later state or an output rests on."""
    kept = list(range(len(A)))
    while True:
        needed = [k for k in kept if k < first or A[kept, k].any() or C[:, k].any()]
        if needed == kept:
            return kept
        kept = needed
