"""`check`: whether records can tell the parameters that are asked for, before any fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from articulus.design.fits.experiment import Experiment, as_experiments
from articulus.design.fits.problem import Problem, starting_values
from articulus.errors import Finding, InputError

NULL = 1e-6
"""Singular value of the sensitivities, over the largest, below which a direction is one that the data do not tell [-]."""
WEAK = 1e4
"""Condition number above which estimates are said to be strongly tied to each other [-]."""
FELT = 1e-9
"""Change of the prediction by a whole change of a parameter, over what was measured, below which it has no effect [-]."""
SURE = 5.0
"""Delay, over its standard deviation, from which on it is no chance."""
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
    """

    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    names: tuple[str, ...]
    condition: float
    null_directions: tuple[dict[str, float], ...]
    delay: float
    delay_deviation: float

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
    given = as_experiments(experiments)
    names, start, lower, upper = starting_values(given, parameters, bounds)
    problem = plain_problem(given, names, start, lower, upper)
    findings, notes = _of_bounds(problem), _of_samples(given)
    inside = np.clip(start, lower, upper)
    _, J = problem.residuals(inside)
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
                f"a direction that the records cannot tell: {text} (of their sizes)",
                "fix one of them, or add an experiment that moves it apart",
            )
        )
    if not null and condition > WEAK:
        notes.append(
            f"parameters are tied to each other: condition number {condition:.2g}; expect wide and correlated estimates"
        )
    delay, deviation = (0.0, np.inf) if findings else _delay(problem)
    interval = max(e.record.interval for e in given)
    if abs(delay) > max(SURE * deviation, 0.2 * interval):
        findings.append(
            Finding("clock", f"the records are {'late' if delay > 0 else 'early'} by {abs(delay):.3g} +- {deviation:.2g} s",
                    "records on the clock of the loop: record.shift(-delay), or delay=True in the fit; a loop that lacks something may look late, too")
        )  # fmt: skip
    return RecordCheck(tuple(findings), tuple(notes), names, condition, null, delay, deviation)


def plain_problem(
    given: list[Experiment], names: tuple[str, ...], start: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> Problem:
    """Return the problem with all samples, each measured entry in units of its own spread."""
    used = [~np.isnan(e.measured) for e in given]
    spread = [_spread(e) for e in given]
    if not sum(u.sum() for u in used) > len(names):
        raise InputError(
            f"fit: found {sum(u.sum() for u in used)} samples for {len(names)} parameters; expected more samples"
        )
    return Problem(given, names, start, lower, upper, used, spread)


def _spread(e: Experiment) -> np.ndarray:
    s = np.nanstd(e.measured, axis=0)
    if not (s > 0).all():
        entry = e.entries[int(np.flatnonzero(~(s > 0))[0])]
        raise InputError(
            f"fit: the record '{e.record.name}' holds one value for '{entry}' throughout; expected a signal that moves"
        )
    return s


def _of_bounds(problem: Problem) -> list[Finding]:
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
    _, s, V = np.linalg.svd(A[:, seen] / size[seen], full_matrices=False)
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


def _delay(problem: Problem) -> tuple[float, float]:
    """Return the delay of the records, fitted together with the parameters, and its standard deviation [s]."""
    found = replace(problem, delayed=True).solve(np.clip(problem.start, problem.lower, problem.upper), 15)
    m, n = found.jacobian.shape
    noise = float(found.residuals @ found.residuals) / max(m - n, 1)
    scale = np.maximum(np.linalg.norm(found.jacobian, axis=0), 1e-300)
    covariance = np.linalg.pinv((found.jacobian / scale).T @ (found.jacobian / scale)) * noise
    return float(found.x[-1]), float(np.sqrt(max(covariance[-1, -1], 0.0)) / scale[-1])
