"""Robust performance: how much uncertainty a bound of the gain bears (`robgain` and `robustperf` in MATLAB)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from articulus.control.analysis.norms import hinfnorm
from articulus.control.design import Check
from articulus.control.plant import Group
from articulus.control.robust.mu_peak import MAX_INTERVALS
from articulus.control.robust.performance import PerformanceProblem, SkewPeak
from articulus.errors import InputError, doubtful
from articulus.linear import LinearModel

FARTHEST, SIZES = 30.0, 20
"""Sizes of perturbations that are tried, over the margin that is shown, and how many."""


@dataclass(frozen=True, eq=False)
class RobustPerformance:
    """How large perturbations may become until a gain exceeds its bound.

    Parameters
    ----------
    margin : float [-]
        All perturbations smaller than this keep the bound; 0 if the system does not keep it without any.
    violated : float [-]
        Size of the perturbation found that reaches the bound; infinite if none was found.
    gain : float
        The bound of the gain at the size `violated`.
    frequency : float [rad/s]
        Where it is reached.
    delta : complex array, (rows, columns)
        The perturbation at its frequency.
    perturbation : LinearModel or None
        The same as a stable real system, constant but for complex blocks.
    worst : dict of name to float
        Values of named real parameters there, in their units; outside their ranges if `violated` is above 1.
    everywhere : bool
        Whether the margin is shown for all frequencies, between those of the grid, too.
    checks : tuple of Check
    extrapolated : bool
        Whether the worst values lie outside the ranges of a model that was fitted within them and is not exact.
    """

    margin: float
    violated: float
    gain: float
    frequency: float
    delta: np.ndarray
    perturbation: LinearModel | None
    worst: Mapping[str, float] = field(default_factory=dict)
    everywhere: bool = True
    checks: tuple[Check, ...] = ()
    extrapolated: bool = False

    @property
    def robust(self) -> bool:
        """Whether every perturbation of size up to 1 keeps the bound."""
        return self.everywhere and self.margin > 1.0

    def __str__(self) -> str:
        reach = "at all frequencies" if self.everywhere else "at the frequencies of the grid only"
        worst = (
            f"one of size {self.violated:.6g} leads to {self.gain:.6g} at {self.frequency:.6g} rad/s"
            if np.isfinite(self.violated)
            else "none that exceeds it was found"
        )
        lines = [f"perturbations smaller than {self.margin:.6g} keep the bound ({reach}); {worst}"]
        lines += [f"  {name} = {value:.6g}" for name, value in self.worst.items()]
        if self.extrapolated:
            lines.append("  these lie outside the ranges in which the model was fitted")
        return "\n".join(lines + [f"  {check}" for check in self.checks])


def robgain(
    system: Any,
    gain: float,
    inputs: Group = None,
    outputs: Group = None,
    *,
    blocks: Any = None,
    omega: Any = None,
    max_intervals: int = MAX_INTERVALS,
) -> RobustPerformance:
    """Return the size of perturbations up to which the Hinf norm of an uncertain system stays below a gain.

    1 is the given uncertainty: a margin of 0.6 says that 60 % of it keep the bound. The peak of the skewed mu of Delta is one over
    the margin.

    Parameters
    ----------
    system, inputs, outputs, blocks, omega, max_intervals
        See `wcgain`.
    gain : float
        Bound of the norm from inputs to outputs.
    """
    return _margin(system, gain, (inputs, outputs), blocks, omega, max_intervals, "robgain", together=False)


def robustperf(
    system: Any,
    gain: float = 1.0,
    inputs: Group = None,
    outputs: Group = None,
    *,
    blocks: Any = None,
    omega: Any = None,
    max_intervals: int = MAX_INTERVALS,
) -> RobustPerformance:
    """Return the factor by which uncertainty and performance can grow together: sizes below m keep the norm below gain / m.

    One over the peak of mu of Delta beside the block of the performance (Doyle, Wall & Stein 1982): the margin that mu synthesis makes
    large.

    Parameters
    ----------
    system, inputs, outputs, blocks, omega, max_intervals
        See `wcgain`.
    gain : float
        Bound of the norm from inputs to outputs at the factor 1.
    """
    return _margin(system, gain, (inputs, outputs), blocks, omega, max_intervals, "robustperf", together=True)


@threadpool_limits.wrap(limits=1, user_api="blas")  # many small matrices: threads only wait for each other
def _margin(
    system: Any,
    gain: float,
    channels: tuple[Group, Group],
    blocks: Any,
    omega: Any,
    max_intervals: int,
    method: str,
    together: bool,
) -> RobustPerformance:
    if not 0.0 < gain < np.inf:
        raise InputError(f"{method}: found the gain {gain!r}; expected a positive number")
    given = PerformanceProblem.read(system, blocks, *channels, method)
    performance = given.performance_rows
    problem = given.divide_outputs(np.where(performance, gain, 1.0))
    peak = SkewPeak(problem, np.ones_like(performance) if together else ~performance, max_intervals)
    peak.find(omega)
    margin = np.inf if peak.value == 0.0 else 1.0 / peak.value
    if margin > 0.0 and not peak.everywhere and np.isfinite(margin):
        doubtful(
            f"{method}: the margin {margin:.4g} is shown at {len(peak.omega)} frequencies, not between all of them; raise max_intervals"
        )
    none = np.zeros((problem.structure.rows, problem.structure.columns), dtype=complex)
    if margin == 0.0 or np.isinf(margin):
        size, delta, at = 0.0 if margin == 0.0 else np.inf, none, float(peak.omega[np.argmax(peak.bounds)])
    else:
        size, delta, at = _least(peak, margin, together)
    return _result(given, gain, margin, size, delta, at, peak.everywhere, together)


def _least(peak: SkewPeak, margin: float, together: bool) -> tuple[float, np.ndarray, float]:
    """Return the least size found at which the bound is reached, the perturbation, and its frequency."""
    problem, performance = peak.problem, peak.problem.performance_rows
    scale = np.where(performance, margin if together else 1.0, margin)
    peak.problem, peak.M = problem.divide_outputs(1.0 / scale), peak.M * scale[:, None]
    inner = peak.problem  # size 1 is the margin, gain 1 the bound there
    best: tuple[float, np.ndarray, float] = (
        np.inf,
        np.zeros((problem.structure.rows, problem.structure.columns), complex),
        0.0,
    )
    for direction, k in peak.directions():
        at = float(peak.omega[k])

        def reach(t: float, direction: np.ndarray = direction, at: float = at) -> float:
            pair = inner.perturb(t * direction, at)
            gain = np.inf if pair is None else float(hinfnorm(pair[1]))
            return gain * (t if together else 1.0)

        nearer = best[0] / margin * (1.0 - 1e-6)
        if np.isfinite(nearer) and reach(nearer) < 1.0:
            continue
        t = _first(reach, min(FARTHEST, nearer))
        if t * margin < best[0]:
            best = t * margin, t * margin * direction, at
    return best


def _first(reach: Callable[[float], float], farthest: float) -> float:
    """Return the least size, over the margin, found at which a gain reaches 1; infinite if there is none."""
    sizes = np.geomspace(1.0, farthest, SIZES)
    low = 1.0
    for t in sizes:
        if reach(float(t)) >= 1.0:
            high = float(t)
            break
        low = float(t)
    else:
        return np.inf
    while high - low > 1e-8 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if reach(middle) >= 1.0 else (middle, high)
    return high


def _result(
    problem: PerformanceProblem,
    gain: float,
    margin: float,
    size: float,
    delta: np.ndarray,
    at: float,
    everywhere: bool,
    together: bool,
) -> RobustPerformance:
    bound = gain / size if together and size > 0 else gain
    pair = problem.perturb(delta, at) if np.isfinite(size) else None
    checks: tuple[Check, ...] = ()
    frequency = at
    if pair is not None:
        norm = hinfnorm(pair[1])
        frequency = float(norm.omega) if np.isfinite(norm) else at
        checks = (
            Check(
                "norm of the perturbed system, at least",
                float(norm),
                bound,
                bool(norm >= bound * (1.0 - 1e-6)),
            ),
        )
    return RobustPerformance(
        margin, size, bound, frequency, delta, pair[0] if pair else None, problem.values(delta),
        everywhere, checks, problem.is_extrapolated(delta),
    )  # fmt: skip
