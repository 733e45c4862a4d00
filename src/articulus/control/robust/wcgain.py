"""Worst-case gain of an uncertain system, and the perturbation that comes near it (`wcgain` in MATLAB)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from articulus.control.analysis.norms import Norm, hinfnorm
from articulus.control.connect import select
from articulus.control.design import Check
from articulus.control.figure import over_frequency
from articulus.control.plant import Group
from articulus.control.robust.mu_peak import LEVEL, MAX_INTERVALS
from articulus.control.robust.performance import PerformanceProblem, SkewPeak, polish
from articulus.control.robust.robstab import robstab
from articulus.errors import doubtful
from articulus.linear import LinearModel

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class WorstCaseGain:
    """The largest gain over all frequencies and all perturbations of size up to 1, between bounds.

    Parameters
    ----------
    upper : float
        No perturbation leads to a larger gain; infinite if some may destabilize.
    lower : float
        Hinf norm of the system with `perturbation`; infinite if that is unstable.
    frequency : float [rad/s]
        Where the system with the perturbation has its peak.
    omega, upper_bounds, lower_bounds : arrays (f,) [rad/s], gains
        Frequencies that were examined, the bound at each, and the largest gain of the perturbations that were tried.
    delta : complex array, (rows, columns)
        The perturbation at its frequency.
    perturbation : LinearModel or None
        The same as a stable real system, constant but for complex blocks.
    worst : dict of name to float
        Values of named real parameters there, in their units.
    everywhere : bool
        Whether the upper bound is shown for all frequencies, between those of the grid, too.
    checks : tuple of Check
    reason : str
        Why a bound is infinite.
    """

    upper: float
    lower: float
    frequency: float
    omega: np.ndarray
    upper_bounds: np.ndarray
    lower_bounds: np.ndarray
    delta: np.ndarray
    perturbation: LinearModel | None
    worst: Mapping[str, float] = field(default_factory=dict)
    everywhere: bool = True
    checks: tuple[Check, ...] = ()
    reason: str = ""

    def __str__(self) -> str:
        reach = "at all frequencies" if self.everywhere else "at the frequencies of the grid only"
        lines = [
            f"worst-case gain at most {self.upper:.6g} ({reach})"
            + (f": {self.reason}" if self.reason else "")
        ]
        lines.append(f"  a perturbation leads to {self.lower:.6g} at {self.frequency:.6g} rad/s")
        lines += [f"  {name} = {value:.6g}" for name, value in self.worst.items()]
        return "\n".join(lines + [f"  {check}" for check in self.checks])

    def plot(self) -> Figure:
        """Return a figure: the bound over frequency and the largest gain that was found."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7, 4), layout="constrained")
        axes = figure.subplots()
        shown = (self.omega > 0) & np.isfinite(self.omega)
        for values, label, style in (
            (self.upper_bounds, "upper bound", "-"),
            (self.lower_bounds, "largest found", "--"),
        ):
            axes.loglog(self.omega[shown], values[shown], style, label=label)
        axes.set_ylabel("gain")
        over_frequency((axes,), linear=())
        return figure


@threadpool_limits.wrap(limits=1, user_api="blas")  # many small matrices: threads only wait for each other
def wcgain(
    system: Any,
    inputs: Group = None,
    outputs: Group = None,
    *,
    blocks: Any = None,
    omega: Any = None,
    max_intervals: int = MAX_INTERVALS,
) -> WorstCaseGain:
    """Return the largest Hinf norm of an uncertain system over all perturbations of size up to 1, as two bounds.

    The upper bound is the peak of the skewed mu of the performance channel, shown between the frequencies of the grid by Hamiltonian
    matrices as in `robstab`. The lower bound is the norm of the system with a perturbation: corners of the box of real parameters and
    those that mu finds, raised along the gradient of the gain, and at last over all frequencies.

    Parameters
    ----------
    system : UncertainModel, or a plant (see `as_plant`) with blocks
        If it is a plant, the first inputs and outputs are those of Delta.
    inputs, outputs : names or numbers
        From and to which the gain is taken, of the plant without Delta; all if not given.
    blocks : sequence of pairs or `Block`
        See `mussv`; not for an `UncertainModel`, which has its own.
    omega : array [rad/s]
        Grid; chosen from the poles if not given.
    max_intervals : int
        Intervals of frequency after which the bound is returned with a warning, as in `robstab`.
    """
    problem = PerformanceProblem.read(system, blocks, inputs, outputs, "wcgain")
    peak = SkewPeak(problem, problem.performance_rows, max_intervals, curve=True)
    peak.find(omega)
    if np.isinf(peak.value):
        return _infinite(problem, peak, max_intervals)
    gain, delta, at = _largest(problem, peak)
    if gain > peak.value * (1.0 + LEVEL):
        doubtful(
            f"wcgain: a perturbation leads to a gain of {gain:.6g} at {gain.omega:.6g} rad/s, where the bound is {peak.value:.6g}; likely the "
            "model is ill-conditioned (fast and slow states); the bound is raised to that"
        )
    elif not peak.everywhere:
        doubtful(
            f"wcgain: the bound {peak.value:.4g} is shown at {len(peak.omega)} frequencies, not between all of them; raise max_intervals"
        )
    return _result(problem, peak, max(peak.value, gain), gain, delta, at)


def _largest(problem: PerformanceProblem, peak: SkewPeak) -> tuple[Norm, np.ndarray, float]:
    """Return the largest gain that was found, its perturbation, and the frequency at which that is meant."""
    best, chosen, at = Norm(-1.0), np.zeros((problem.structure.rows, problem.structure.columns), complex), 0.0
    for delta, k in peak.directions():
        pair = problem.perturb(delta, float(peak.omega[k]))
        if pair is None:
            continue
        gain = hinfnorm(pair[1])
        if gain > best:
            best, chosen, at = gain, delta, float(peak.omega[k])
    best, chosen = polish(problem, chosen, best)
    return best, chosen, at


def _infinite(problem: PerformanceProblem, peak: SkewPeak, max_intervals: int) -> WorstCaseGain:
    """Return bounds where some perturbation of size 1 may destabilize: the lower one is infinite if one does."""
    k, m = problem.structure.rows, problem.structure.columns
    stability = robstab(
        select(problem.model, range(k), range(m)), problem.structure, max_intervals=max_intervals
    )
    reason = f"stability is shown only for perturbations below a size of {stability.margin:.4g}"
    if stability.lower >= 1.0:
        frequency = stability.frequency
        return WorstCaseGain(
            np.inf, np.inf, frequency, peak.omega, peak.bounds, np.full(len(peak.omega), np.nan),
            stability.delta, stability.perturbation, problem.values(stability.delta), stability.everywhere,
            stability.checks, f"one of size {1 / stability.lower:.4g} destabilizes",
        )  # fmt: skip
    gain, delta, at = _largest(problem, peak)
    return _result(problem, peak, np.inf, gain, delta, at, reason)


def _result(
    problem: PerformanceProblem,
    peak: SkewPeak,
    upper: float,
    gain: Norm,
    delta: np.ndarray,
    at: float,
    reason: str = "",
) -> WorstCaseGain:
    pair = problem.perturb(delta, at)
    checks = []
    lower = problem.gains(peak.M, np.zeros_like(delta))
    if pair is not None and np.isfinite(gain):
        exact = (
            float(np.linalg.norm(pair[1].response(gain.omega)[0], 2))
            if np.isfinite(gain.omega)
            else float(gain)
        )
        checks.append(
            Check(
                "gain of the perturbed system at that frequency",
                exact,
                float(gain),
                abs(exact - gain) <= 1e-6 * gain,
            )
        )
        finite = np.isfinite(peak.omega)
        lower[finite] = np.maximum(
            lower[finite], np.linalg.norm(pair[1].response(peak.omega[finite]), 2, axis=(1, 2))
        )
    return WorstCaseGain(
        float(upper), float(gain), float(gain.omega), peak.omega, peak.bounds, lower, delta,
        pair[0] if pair else None, problem.values(delta), peak.everywhere, tuple(checks), reason or gain.reason,
    )  # fmt: skip
