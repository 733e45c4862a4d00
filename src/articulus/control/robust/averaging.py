"""Slow adaptation: the averaged equations of x' = e f(t, x), their equilibria and stability, region of attraction by simulation.

Where a parameter estimate x moves slowly beside a signal of period T, the mean over a period f_av(x) = 1/T int f(t, x) dt
decides: for small gains e the estimate stays near the solution of x' = e f_av(x), and an equilibrium of f_av whose Jacobian is
stable has a stable periodic motion beside it, an unstable one an unstable (Sastry & Bodson 1989, chapter 4). In discrete
time, x_k+1 = x_k + e f(k, x_k).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.errors import InputError, NumericalError

SAMPLES = 64
"""Samples of a period of a continuous signal: the mean of a smooth periodic function is exact to rounding with few."""


@dataclass(frozen=True, eq=False)
class Averaged:
    """Equilibrium of the averaged equations.

    Parameters
    ----------
    equilibrium : array, (n,)
    jacobian : array, (n, n)
        Jacobian of f_av there.
    rates : complex array, (n,) [1/s, or 1 per sample]
        Eigenvalues of the Jacobian: e times them are the rates of adaptation.
    stable : bool
    largest_gain : float
        In discrete time the gain e up to which the averaged recursion is stable; infinite in continuous time. Averaging itself
        says nothing about large gains.
    """

    equilibrium: np.ndarray
    jacobian: np.ndarray
    rates: np.ndarray
    stable: bool
    largest_gain: float

    def __str__(self) -> str:
        rates = ", ".join(f"{s:.4g}" for s in self.rates)
        text = "stable" if self.stable else "not stable"
        return f"equilibrium {np.array2string(self.equilibrium, precision=5)}, {text}; rates {rates} times the gain"


def average_law(
    f: Callable[[Any, np.ndarray], Any], period: float, *, discrete: bool = False
) -> Callable[[Any], np.ndarray]:
    """Return f_av, the mean over a period of an adaptation law f(t, x), or f(k, x) in discrete time.

    Parameters
    ----------
    f : function of t and x (n,)
        Without its gain. Periodic in t. The signals in it are those with x held: let filters settle first.
    period : float [s] or int [samples]
    """
    if not (np.isfinite(period) and period > 0) or (discrete and int(period) != period):
        raise InputError(
            f"averaged: found the period {period!r}; expected a positive number of seconds, or of whole samples if discrete"
        )
    times = np.arange(int(period)) if discrete else period * np.arange(SAMPLES) / SAMPLES

    def mean(x: Any) -> np.ndarray:
        point = np.atleast_1d(np.asarray(x, dtype=float))
        return np.mean([np.atleast_1d(np.asarray(f(t, point), dtype=float)) for t in times], axis=0)

    return mean


def average_stability(
    f: Callable[[Any, np.ndarray], Any], period: float, x0: Any, *, discrete: bool = False
) -> Averaged:
    """Return the equilibrium of the averaged equations near x0, and whether slow adaptation is stable there.

    Parameters
    ----------
    f, period, discrete : see `average_law`
    x0 : array, (n,)
        Estimate of the equilibrium.
    """
    mean = average_law(f, period, discrete=discrete)
    x = np.atleast_1d(np.asarray(x0, dtype=float)).copy()
    size = float(np.abs(x).max(initial=0.0)) or 1.0
    first = float(np.abs(mean(x)).max(initial=0.0))
    for _ in range(60):
        value, J = mean(x), _jacobian(mean, x, size)
        step = np.linalg.lstsq(J, -value, rcond=1e-12)[0]
        x = x + step
        if np.abs(step).max() <= 1e-11 * max(size, np.abs(x).max()):
            break
    off = float(np.abs(mean(x)).max())
    if not off <= 1e-7 * max(first, float(np.abs(J).max()) * size):
        raise NumericalError(
            f"average_stability: no equilibrium of the averaged equations found near {np.asarray(x0).tolist()}: the rate left is {off:.3g}; "
            "expected zero; try another estimate"
        )
    J = _jacobian(mean, x, size)
    rates = np.linalg.eigvals(J).astype(complex)
    stable = bool((rates.real < 0).all())
    with np.errstate(divide="ignore"):
        limit = float(np.min(-2.0 * rates.real / np.abs(rates) ** 2)) if stable and discrete else np.inf
    return Averaged(x, J, rates, stable, limit if stable else 0.0)


def attraction_region(
    f: Callable[[Any, np.ndarray], Any],
    period: float,
    found: Averaged,
    starts: Any,
    *,
    discrete: bool = False,
) -> np.ndarray:
    """Return from which starts (k, n) the averaged equations lead to an equilibrium: an estimate of its region of attraction.

    The averaged equations are followed for 20 of their slowest time constants; an estimate that leaves 30 times the distance of
    the farthest start counts as lost.
    """
    mean = average_law(f, period, discrete=discrete)
    if not found.stable:
        raise InputError(
            "attracted: found an equilibrium that is not stable; expected a stable one: it attracts nothing"
        )
    points = np.atleast_2d(np.asarray(starts, dtype=float))
    span = 20.0 / np.abs(found.rates.real).min()
    far = 30.0 * float(np.linalg.norm(points - found.equilibrium, axis=1).max())
    return np.array([_reaches(mean, x, found.equilibrium, span, far) for x in points])


def _reaches(
    mean: Callable[[Any], np.ndarray], x: np.ndarray, target: np.ndarray, span: float, far: float
) -> bool:
    import scipy.integrate

    lost: Any = lambda t, y: far - np.linalg.norm(y - target)  # noqa: E731
    lost.terminal = True
    start = float(np.linalg.norm(x - target))
    if start == 0.0:
        return True
    run = scipy.integrate.solve_ivp(
        lambda t, y: mean(y), (0.0, span), x, events=lost, rtol=1e-6, atol=1e-6 * start
    )
    return bool(run.status == 0 and np.linalg.norm(run.y[:, -1] - target) < 1e-3 * start)


def _jacobian(mean: Callable[[Any], np.ndarray], x: np.ndarray, size: float) -> np.ndarray:
    """Return the derivative by central differences; `size` is that of states that are zero."""
    columns = []
    for i in range(len(x)):
        h = 1e-5 * max(size, abs(x[i]))
        step = h * np.eye(len(x))[i]
        columns.append((mean(x + step) - mean(x - step)) / (2.0 * h))
    return np.array(columns).T
