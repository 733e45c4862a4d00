"""Descent on functions with kinks: quasi-Newton with a weak Wolfe line search (Lewis & Overton 2013)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

FAR, PART = 1e16, 1e-2
"""A first step of the gradient itself that promises this many times the value, or so small a part of it, has units of its own: it is
replaced by one that promises a part of the value."""
SMALL = 1e-9
"""Relative gain of an iteration below which it counts as idle; five in a row end the search."""


def descend(
    function: Callable[[np.ndarray], tuple[float, np.ndarray]],
    x: np.ndarray,
    iterations: int,
    enough: float = -np.inf,
) -> tuple[np.ndarray, float, bool]:
    """Return a local minimum by the quasi-Newton method with a weak Wolfe line search, its value, and whether it is one.

    The search ends at `enough`, where nothing lower is found, or unfinished after so many iterations.
    """
    value, slope = function(x)
    H = np.eye(x.size)
    idle, start = 0, 1.0
    promised = float(slope @ slope)
    if promised > 0.0 and np.isfinite(value) and not abs(value) / FAR <= promised <= abs(value) * FAR:
        start = PART * abs(value) / promised or 1.0
    for _ in range(iterations):
        if value <= enough or not np.isfinite(value):
            return x, value, True
        direction = -H @ slope
        if direction @ slope >= 0.0:
            H, direction = np.eye(x.size), -slope
        step = _weak_wolfe(function, x, value, slope, direction, start)
        if step is None:
            if np.array_equal(H, np.eye(x.size)):
                return x, value, True
            H = np.eye(x.size)
            continue
        (new, after, turned), start = step, 1.0
        s, y = new - x, turned - slope
        if s @ y > 1e-14 * np.linalg.norm(s) * np.linalg.norm(y):
            if np.array_equal(H, np.eye(x.size)):
                H = H * (s @ y) / (y @ y)
            rho = 1.0 / (s @ y)
            V = np.eye(x.size) - rho * np.outer(s, y)
            H = V @ H @ V.T + rho * np.outer(s, s)
        idle = idle + 1 if value - after <= SMALL * abs(value) else 0
        x, value, slope = new, after, turned
        if idle >= 5:
            return x, value, True
    return x, value, False


def _weak_wolfe(
    function: Callable, x: np.ndarray, value: float, slope: np.ndarray, direction: np.ndarray, t: float
) -> tuple[np.ndarray, float, np.ndarray] | None:
    """Return a point lower along the direction whose slope is less steep, with value and gradient; None if there is none. t: first step."""
    low, high = 0.0, np.inf
    down = slope @ direction
    best = None
    for _ in range(40):
        there = x + t * direction
        after, turned = function(there)
        if not after < value + 1e-4 * t * down:
            high = t
        elif turned @ direction < 0.9 * down:
            low, best = t, (there, after, turned)
        else:
            return there, after, turned
        t = 0.5 * (low + high) if np.isfinite(high) else 2.0 * t
    return best
