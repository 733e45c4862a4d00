"""Exudyn's error and time beside a converged run: what rows about flexible bodies share."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np

from articulus.bench import exudyn
from articulus.bench.models import Array
from articulus.bench.row import Measurement
from articulus.bench.rows import Effort


def beside_exudyn(
    row: Callable[..., Measurement],
    run: Callable[[], tuple[Any, float]],
    exact: Array,
    allowed: float,
    effort: Effort,
) -> Measurement | tuple[float, float]:
    """Return Exudyn's largest error [m] and its least time [us], or a row that says why there are none.

    Parameters
    ----------
    row : callable
        Makes a row; ours is in it.
    run : callable
        Gives what Exudyn finds, like `exact`, and the time of its solver [s].
    exact : array [m]
    allowed : float [m]
        Largest error with which its time counts.
    effort : Effort
    """
    if not exudyn.is_installed():
        return row(note="Exudyn is not installed (extra `bench`)")
    try:
        found = [run() for _ in range(1 if effort.quick else 3)]
    except subprocess.CalledProcessError as error:
        return row(note=f"Exudyn failed: {error.stderr.strip()[-200:]}")
    gap = float(np.abs(np.array(found[0][0]) - exact).max())
    if not gap <= allowed:
        return row(ours_us=None, failed=True, note=too_far("Exudyn's tip", gap, allowed))
    return gap, 1e6 * min(seconds for _, seconds in found)


def too_far(what: str, gap: float, allowed: float) -> str:
    """Return the note of a row that is not timed."""
    return f"error of {what} {gap:.1e} m, more than {allowed:g}: not timed"
