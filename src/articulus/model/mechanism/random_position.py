"""Random positions within the limits of the joints."""

from __future__ import annotations

import math

import numpy as np

from articulus.errors import Finding, InputError
from articulus.model.mechanism.description import Description
from articulus.model.mechanism.joint import Joint
from articulus.model.mechanism.named import limit_arrays

MOST = 10**9
"""Largest count of numbers, 8 GB."""


def random_position(
    d: Description, seed: int | np.random.Generator, size: int | tuple[int, ...] = (), reach: float = 1.0
) -> np.ndarray:
    """Return random positions, (*size, nq) [rad, m]; modal coordinates are zero.

    Parameters
    ----------
    d : Description
    seed : int or numpy Generator
    size : int or tuple of int
        Leading axes.
    reach : float [m]
        Slides without limits are between -reach and reach.
    """
    if not 0 <= reach < math.inf:
        raise InputError(f"random_position: reach = {reach!r}; expected a length of zero or more")
    lead = _lead(size)
    try:
        rng = np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise InputError(
            Finding("random_position", f"seed {seed!r}", "a whole number, not below 0, or a numpy Generator")
        ) from None
    if math.prod(lead) * max(1, d.nq) > MOST:
        raise InputError(Finding("random_position", f"size {lead}", f"at most {MOST} numbers in all"))
    out, limits = np.broadcast_to(d.neutral, (*lead, d.nq)).copy(), limit_arrays(d)
    for c in d.connections:
        at = d.q_slices[c.name]
        if at.stop == at.start:
            continue
        low, high = _range(c.joint, limits.lower[at], limits.upper[at], reach)
        out[..., at] = rng.uniform(low, high, (*lead, at.stop - at.start))
        if c.joint.nq != c.joint.nv:  # a quaternion first; normal numbers have no direction
            turn = rng.normal(size=(*lead, 4))
            out[..., at.start : at.start + 4] = turn / np.linalg.norm(turn, axis=-1, keepdims=True)
    return out


def _lead(size: int | tuple[int, ...]) -> tuple[int, ...]:
    """Return leading axes; raise InputError for what is none."""
    given = (size,) if isinstance(size, (int, np.integer)) else size
    whole = isinstance(given, (tuple, list)) and all(
        isinstance(n, (int, np.integer)) and n >= 0 for n in given
    )
    if not whole or any(isinstance(n, bool) for n in given):
        raise InputError(Finding("random_position", f"size {size!r}", "whole numbers, not below 0"))
    return tuple(int(n) for n in given)


def _range(joint: Joint, lower: np.ndarray, upper: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the range of each coordinate, finite ones."""
    turning = (
        (True,) * 4 + (False,) * (joint.nq - 4) if joint.nq != joint.nv else joint.rotational[: joint.nv]
    )
    half = np.where(turning, math.pi, reach)
    low = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2 * half, -half))
    high = np.where(np.isfinite(upper), upper, np.where(np.isfinite(lower), lower + 2 * half, half))
    return low, high
