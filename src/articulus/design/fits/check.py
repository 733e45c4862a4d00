"""`check`: whether records can tell the parameters that are asked for, before any fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from articulus.design.fits.experiment import Experiment, as_experiments
from articulus.design.fits.least_squares import triangle
from articulus.design.fits.problem import FitProblem, starting_values
from articulus.errors import Finding, InputError

NULL = 1e-6
"""Singular value of the sensitivities, over the largest, below which a direction is one that the data do not tell [-]."""
WEAK = 1e4
"""Condition number above which estimates are said to be strongly tied to each other [-]."""
FELT = 1e-9
"""Change of the prediction by a whole change of a parameter, over what was measured, below which it has no effect [-]."""
SURE = 5.0
"""Delay, over its standard deviation, from which on it is no chance."""
ROUGH = 0.1
"""Part of the standard deviations to which estimates are found before a delay is asked for."""
NAMED = 0.1
"""Share of a direction from which on a parameter is named in it."""


@dataclass(frozen=True, eq=False)
class RecordCheck:
    """What was found before a fit.

    Parameters
    ----------
    findings : tuple of Finding
        What forbids a fit.
    notes : tuple of str
        What does not.
    names : tuple of str
    condition : float
        Condition number of the sensitivities, each column of unit length.
    null_directions : tuple of dict of name to float
        Changes of the parameters, over their sizes, that change no prediction.
    delay : float [s]
        By which the records are late, as far as the loop can tell.
    delay_deviation : float [s]
    values : array, (names,)
        Estimates from all samples, from which a fit continues; the start where a finding forbids it.
    """

    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    names: tuple[str, ...]
    condition: float
    null_directions: tuple[dict[str, float], ...]
    delay: float
    delay_deviation: float
    values: np.ndarray

    @property
    def ok(self) -> bool:
        """Whether nothing forbids a fit."""
        return not self.findings

    def __str__(self) -> str:
        head = "a fit can be done" if self.ok else "a fit is refused"
        return "\n".join(
            [f"check: {head}; condition number {self.condition:.3g}", *map(str, self.findings), *self.notes]
        )


def check(
    experiments: Experiment | Sequence[Experiment],
    parameters: Sequence[str] | Mapping[str, float],
    bounds: Mapping[str, tuple[float, float]] | None = None,
) -> RecordCheck:
    """Return whether records can tell parameters: gaps, sampling, delay, excitation, null directions, bounds.

    Parameters
    ----------
    experiments : Experiment or sequence of Experiment
    parameters : sequence of str, or dict of str to float
        Names, or names with the values to start from.
    bounds : dict of str to (float, float)
    """
    listed = as_experiments(experiments)
    names, start, lower, upper = starting_values(listed, parameters, bounds)
    problem = plain_problem(listed, names, start, lower, upper)
    findings, notes = _of_bounds(problem), _of_samples(listed)
    values = np.clip(start, lower, upper)
    _, J = problem.residuals(values)
    effect = np.linalg.norm(J * problem.size, axis=0) / np.sqrt(len(J))
    for name, felt in zip(names, effect):
        if felt <= FELT:
            findings.append(
                Finding(
                    name,
                    "no effect on what was measured",
                    "a parameter that moves one of the outputs",
                    field=name,
                )
            )
    condition, null = _directions(J * problem.size, names)
    for direction in null:
        text = " ".join(f"{x:+.2g} {n}" for n, x in direction.items())
        findings.append(
            Finding(
                "parameters",
                f"a combination that the records cannot identify: {text} (relative to their sizes)",
                "fix one of them, or add an experiment that separates them",
            )
        )
    if not null and condition > WEAK:
        notes.append(
            f"parameters are tied to each other: condition number {condition:.2g}; expect wide and correlated estimates"
        )
    interval = max(e.record.interval for e in listed)
    delay, deviation = 0.0, np.inf
    if not findings:
        values, delay, deviation = _delay(problem, values, 0.2 * interval)
    if abs(delay) > max(SURE * deviation, 0.2 * interval):
        findings.append(
            Finding("clock", f"the records are {'late' if delay > 0 else 'early'} by {abs(delay):.3g} +- {deviation:.2g} s",
                    "records on the clock of the loop: record.shift(-delay), or delay=True in the fit; a loop that lacks something may look late, too")
        )  # fmt: skip
    return RecordCheck(tuple(findings), tuple(notes), names, condition, null, delay, deviation, values)


def plain_problem(
    given: list[Experiment], names: tuple[str, ...], start: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> FitProblem:
    """Return the problem with all samples, each measured entry in units of its own spread."""
    used = [~np.isnan(e.measured) for e in given]
    spread = [_spread(e) for e in given]
    if not sum(u.sum() for u in used) > len(names):
        raise InputError(
            f"fit: found {sum(u.sum() for u in used)} samples for {len(names)} parameters; expected more samples"
        )
    return FitProblem(given, names, start, lower, upper, used, spread)


def _spread(e: Experiment) -> np.ndarray:
    s = np.nanstd(e.measured, axis=0)
    if not (s > 0).all():
        entry = e.entries[int(np.flatnonzero(~(s > 0))[0])]
        raise InputError(
            f"fit: the record '{e.record.name}' holds one value for '{entry}' throughout; expected a signal that moves"
        )
    return s


def _of_bounds(problem: FitProblem) -> list[Finding]:
    found = []
    for name, x, low, high in zip(problem.names, problem.start, problem.lower, problem.upper):
        if not low < x < high:
            where = "at the edge of" if x in (low, high) else "outside"
            found.append(
                Finding(
                    name,
                    f"a start of {x:g} {where} its bounds {low:g} to {high:g}",
                    "a start inside",
                    field=name,
                )
            )
    return found


def _of_samples(given: list[Experiment]) -> list[str]:
    notes = []
    for e in given:
        r = e.record
        gaps = [g for g in r.gaps if g.column in ("", *dict(e.outputs).values())]  # type: ignore[arg-type]
        if gaps:
            notes.append(
                f"record '{r.name}': {len(gaps)} gaps, the first {gaps[0]}; missing samples do not count"
            )
        if r.jitter > 0.01:
            notes.append(
                f"record '{r.name}': times are uneven by {100 * r.jitter:.2g} % of the interval; predictions are interpolated"
            )
    return notes


def _directions(A: np.ndarray, names: tuple[str, ...]) -> tuple[float, tuple[dict[str, float], ...]]:
    """Return the condition number of columns of unit length, and the directions without effect."""
    size = np.linalg.norm(A, axis=0)
    seen = size > 0
    T = triangle(A[:, seen] / np.where(size[seen] > 0, size[seen], 1.0), np.zeros(len(A)))[:, :-1]
    _, s, V = np.linalg.svd(T, full_matrices=False)
    if not s.size:
        return np.inf, ()
    null = []
    for value, row in zip(s, V):
        if value <= NULL * s[0]:
            change = row / size[seen]
            change /= np.abs(change).max()
            own = [n for n, k in zip(names, seen) if k]
            null.append({n: float(x) for n, x in zip(own, change) if abs(x) >= NAMED})
    return float(s[0] / s[-1]) if s[-1] > 0 else np.inf, tuple(null)


def _delay(problem: FitProblem, x: np.ndarray, least: float) -> tuple[np.ndarray, float, float]:
    """Return estimates, the delay of the records, and its standard deviation [s].

    Whether there is a delay is asked at the estimates without one, by the step that least squares would take with it (Rao 1948); only a
    sure one longer than `least` is fitted together with the parameters.
    """
    plain = problem.solve(x, 15, ROUGH)
    late = replace(problem, delayed=True)
    r, J = late.residuals(np.append(plain.x, 0.0))
    step, deviation = _last_step(r, J)
    if abs(step) <= max(SURE * deviation, least):
        return plain.x, step, deviation
    found = late.solve(np.append(plain.x, 0.0), 15)
    _, deviation = _last_step(found.residuals, found.jacobian)
    return plain.x, float(found.x[-1]), deviation


def _last_step(r: np.ndarray, J: np.ndarray) -> tuple[float, float]:
    """Return the step of least squares of the last column, and its standard deviation."""
    scale = np.maximum(np.linalg.norm(J, axis=0), 1e-300)
    T = triangle(J / scale, r)
    A, b = T[:, :-1], T[:, -1]
    step = -np.linalg.lstsq(A, b, rcond=1e-12)[0]
    left = float(np.sum((A @ step + b) ** 2)) / max(len(r) - len(step), 1)
    variance = float(np.linalg.pinv(A.T @ A)[-1, -1]) * left
    return float(step[-1] / scale[-1]), float(np.sqrt(max(variance, 0.0)) / scale[-1])
