"""Points and other numbers that users give."""

from __future__ import annotations

from typing import Any

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError

Point = tuple[float, float, float]


def point_of(given: Any, what: str) -> Point:
    """Return three plain numbers; raise InputError for anything else."""
    try:
        found = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (3,) or not np.isfinite(found).all():
        raise InputError(f"{what}: found {given!r}; expected three numbers")
    return float(found[0]), float(found[1]), float(found[2])


def numbers(given: Any, *what: str) -> np.ndarray:
    """Return an array of numbers; raise InputError, which begins with the words `what`, for anything else."""
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{''.join(what)}: found {given!r}; expected numbers") from None


def require_joints(mechanism: Mechanism | None, n: int) -> Mechanism | None:
    """Return the mechanism of a motion of n joints; raise InputError unless it has these alone, each with a motor that determines its motion."""
    if mechanism is None:
        return None
    if mechanism.constraint_names or mechanism.description.flexible or not mechanism.nq == mechanism.nv == n:
        raise InputError(
            f"mechanism: found '{mechanism.name}' with {mechanism.nv} degrees of freedom; expected {n} joints of one degree of freedom each, "
            "rigid bodies and no closed loops"
        )
    return mechanism
