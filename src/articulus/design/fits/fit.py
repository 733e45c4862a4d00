"""`fit`: named parameters of a loop from measured runs, with what can be said about them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from articulus.design.fits.check import RecordCheck, check, plain_problem
from articulus.design.fits.experiment import Experiment, as_experiments
from articulus.design.fits.least_squares import LeastSquares, triangle
from articulus.design.fits.problem import FitProblem, starting_values
from articulus.design.whiteness import RANDOM, whiteness
from articulus.errors import InputError, did_you_mean, doubtful
from articulus.model.files.storage import write_text

WORSE = 1.5
"""Root-mean-square error of what was held out, over that of what was fitted, above which a fit does not carry over."""
ROUNDS = 4
"""Times that the noise of each entry is estimated from the residuals and the fit done again."""


@dataclass(frozen=True, eq=False)
class ParameterFit:
    """Fitted parameters.

    Parameters
    ----------
    names : tuple of str
    values, deviations : array, (names,)
        Estimates, and their standard deviations for white residuals.
    correlation : array, (names, names)
    start : array, (names,)
    delay : float [s]
        By which the records are late; 0 where that was not fitted.
    training, validation : dict of str to float
        Root-mean-square error of each measured entry, in its unit, over the samples that were fitted and those held out.
    shares : dict of str to float
        Part of the variance of each entry that the loop explains, over the samples held out (or fitted, without these).
    whiteness : dict of str to float
        Probability that residuals of each entry as correlated as these are white (Ljung & Box).
    iterations : int
    check : RecordCheck
    warnings : tuple of str
        Reasons to doubt.
    scope : str
        What the verdict is about.
    experiments : tuple of Experiment
    """

    names: tuple[str, ...]
    values: np.ndarray
    deviations: np.ndarray
    correlation: np.ndarray
    start: np.ndarray
    delay: float
    training: dict[str, float]
    validation: dict[str, float]
    shares: dict[str, float]
    whiteness: dict[str, float]
    iterations: int
    check: RecordCheck
    warnings: tuple[str, ...]
    scope: str
    experiments: tuple[Experiment, ...] = ()

    def __getitem__(self, name: str) -> float:
        """Return the estimate of a parameter."""
        if name not in self.names:
            raise InputError(f"fit: no parameter '{name}'; {did_you_mean(name, self.names)}")
        return float(self.values[self.names.index(name)])

    @property
    def params(self) -> dict[str, float]:
        """The estimates as `params` of runs."""
        return dict(zip(self.names, self.values.tolist()))

    @property
    def ok(self) -> bool:
        """Whether there is no reason to doubt."""
        return not self.warnings

    @property
    def verdict(self) -> str:
        """What may be said of the fit, and of what it may not."""
        return f"{'good' if self.ok else 'doubtful'}, {self.scope}"

    def __str__(self) -> str:
        width = max(map(len, self.names))
        rows = [
            f"  {n:<{width}}  {x: .6g} +- {s:.2g}  (from {a:.4g})"
            for n, x, s, a in zip(self.names, self.values, self.deviations, self.start)
        ]
        errors = [
            f"  {e}: error {self.training[e]:.3g} fitted, {self.validation.get(e, np.nan):.3g} held out"
            for e in self.training
        ]
        return "\n".join([f"fit: {self.verdict}", *rows, *errors, *(f"  doubt: {w}" for w in self.warnings)])

    def record(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        return {
            "verdict": self.verdict, "ok": self.ok, "warnings": list(self.warnings),
            "parameters": {n: {"value": x, "deviation": s, "start": a} for n, x, s, a in zip(self.names, self.values.tolist(), self.deviations.tolist(), self.start.tolist())},
            "correlation": self.correlation.tolist(), "delay": self.delay, "training": self.training, "validation": self.validation,
            "shares": self.shares, "whiteness": self.whiteness, "iterations": self.iterations, "condition": self.check.condition, "notes": list(self.check.notes),
        }  # fmt: skip

    def to_json(self, path: str | Path) -> None:
        """Write the record of the fit."""
        write_text(path, json.dumps(self.record(), indent=1) + "\n")

    def to_html(self, path: str | Path, beside: Mapping[str, ParameterFit] | None = None) -> None:
        """Write a page with verdict, estimates, errors, correlation and histories; `beside` has other fits, by what to call them."""
        from articulus.design.fit_report import fit_page

        write_text(path, fit_page({"fit": self, **(beside or {})}))


def fit(
    experiments: Experiment | Sequence[Experiment],
    parameters: Sequence[str] | Mapping[str, float],
    bounds: Mapping[str, tuple[float, float]] | None = None,
    *,
    validation: float = 0.2,
    delay: bool = False,
    force: bool = False,
) -> ParameterFit:
    """Return named parameters that make a loop explain measured runs.

    Weighted least squares by Gauss-Newton with the exact sensitivities of the runs; the noise of every measured entry is estimated from
    its residuals.

    Parameters
    ----------
    experiments : Experiment or sequence of Experiment
        With one loop, or loops that share the parameters.
    parameters : sequence of str, or dict of str to float
        Names, or names with the values to start from.
    bounds : dict of str to (float, float)
        Declared ranges of the parameters where none are given.
    validation : float [-]
        Last part of every record that is held out to judge the fit; 0 for none.
    delay : bool
        Whether the delay of the records is fitted, too.
    force : bool
        Go on though `check` found what forbids a fit.

    Raises
    ------
    InputError
        What `check` found.
    """
    listed = as_experiments(experiments)
    if not 0 <= validation < 1:
        raise InputError(
            f"fit: validation = {validation!r}; expected the fraction of each record reserved for validation, from 0 to below 1"
        )
    looked = check(listed, parameters, bounds)
    serious = [f for f in looked.findings if not (delay and f.where == "clock")]
    if serious and not force:
        raise InputError([*serious])
    names, start, lower, upper = starting_values(listed, parameters, bounds)
    whole = plain_problem(listed, names, start, lower, upper)
    problem = replace(
        whole,
        used=[_first(e, u, validation) for e, u in zip(listed, whole.used)],
        delayed=delay,
        start=np.clip(start, lower, upper),
    )
    x = np.append(looked.values, [0.0] * delay)
    for _ in range(ROUNDS):
        problem = replace(problem, deviations=_noise(problem, x))
        solution = problem.solve(x)
        if solution.evaluations == 1:
            break
        x = solution.x
    return _summarize(problem, whole, solution, looked, start, validation)


def _first(e: Experiment, used: np.ndarray, held_out: float) -> np.ndarray:
    """Return the samples that are fitted: those of the first part of the time."""
    t = e.record.t
    return used & (t <= t[0] + (1 - held_out) * (t[-1] - t[0]))[:, None]


def _errors(problem: FitProblem, x: np.ndarray, used: list[np.ndarray]) -> list[np.ndarray]:
    """Return prediction minus record of every experiment, NaN where a sample does not count."""
    n = len(problem.names)
    out = []
    for e, u in zip(problem.experiments, used):
        y, *_ = e.predict(problem.names, x[:n], float(x[n]) if problem.delayed else 0.0)
        out.append(np.where(u, y - e.measured, np.nan))
    return out


def _rms(errors: list[np.ndarray], experiments: list[Experiment]) -> dict[str, float]:
    """Return the root-mean-square error of every entry over all experiments."""
    squares: dict[str, list[np.ndarray]] = {}
    for e, x in zip(experiments, errors):
        for k, entry in enumerate(e.entries):
            squares.setdefault(entry, []).append(x[:, k][~np.isnan(x[:, k])] ** 2)
    return {n: float(np.sqrt(np.concatenate(s).mean())) for n, s in squares.items() if sum(map(len, s))}


def _noise(problem: FitProblem, x: np.ndarray) -> list[np.ndarray]:
    """Return the deviation of each entry's residuals, of all experiments together; not below rounding of what was measured."""
    rms = _rms(_errors(problem, x, problem.used), problem.experiments)
    floor = {
        n: 1e-12 * np.nanmax(np.abs(e.measured[:, k]))
        for e in problem.experiments
        for k, n in enumerate(e.entries)
    }
    return [np.array([max(rms[n], floor[n], 1e-300) for n in e.entries]) for e in problem.experiments]


def _summarize(
    problem: FitProblem,
    whole: FitProblem,
    found: LeastSquares,
    looked: RecordCheck,
    start: np.ndarray,
    validation: float,
) -> ParameterFit:
    """Return the fit with its statistics and reasons to doubt."""
    names, n = problem.names, len(problem.names)
    m = len(found.residuals)
    scale = np.maximum(np.linalg.norm(found.jacobian, axis=0), 1e-300)
    A = triangle(found.jacobian / scale, np.zeros(m))[:, :-1]
    variance = float(found.residuals @ found.residuals) / max(m - A.shape[1], 1)
    covariance = variance * np.linalg.pinv(A.T @ A) / np.outer(scale, scale)
    deviations = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    correlation = covariance / np.maximum(np.outer(deviations, deviations), 1e-300)
    errors = _errors(problem, found.x, problem.used)
    rest = _errors(problem, found.x, [w & ~u for w, u in zip(whole.used, problem.used)])
    training, validation_errors = _rms(errors, problem.experiments), _rms(rest, problem.experiments)
    spread = _rms(
        [
            np.where(u, e.measured - np.nanmean(e.measured, axis=0), np.nan)
            for e, u in zip(problem.experiments, whole.used)
        ],
        problem.experiments,
    )
    judged = validation_errors or training
    shares = {e: 1 - (x / spread[e]) ** 2 for e, x in judged.items()}
    white = _whiteness(errors, problem.experiments)
    doubts = _doubts(found, names, training, validation_errors, white, shares, spread)
    for text in doubts:
        doubtful(f"fit: {text}")
    count = len(problem.experiments)
    scope = f"for motions like those of {count} record{'s' if count > 1 else ''}, " + (
        f"judged on the last {100 * validation:.0f} % of each"
        if validation_errors
        else "judged on the samples that were fitted"
    )
    return ParameterFit(
        names, found.x[:n], deviations[:n], correlation[:n, :n], start, float(found.x[n]) if problem.delayed else 0.0, training, validation_errors,
        shares, white, found.iterations, looked, tuple(doubts), scope, tuple(problem.experiments),
    )  # fmt: skip


def _whiteness(errors: list[np.ndarray], experiments: list[Experiment]) -> dict[str, float]:
    """Return the probability of each entry's residuals under white noise, the smallest of all experiments (Ljung & Box 1978)."""
    out: dict[str, float] = {}
    for e, x in zip(experiments, errors):
        for k, entry in enumerate(e.entries):
            r = x[:, k][~np.isnan(x[:, k])]
            if len(r) >= 5 and r.any():
                out[entry] = min(out.get(entry, 1.0), float(whiteness(r)))
    return out


def _doubts(
    solution: LeastSquares, names: tuple[str, ...], training: dict[str, float], validation: dict[str, float], white: dict[str, float],
    shares: dict[str, float], spread: dict[str, float],
) -> list[str]:  # fmt: skip
    """Return reasons to doubt a fit."""
    doubts = []
    if not solution.converged:
        doubts.append(f"no least squares were reached in {solution.iterations} iterations")
    doubts += [
        f"'{n}' stays at its bound {x:g}: the truth may lie beyond"
        for n, x, b in zip(names, solution.x, solution.at_bound)
        if b
    ]
    for entry, p in white.items():
        if p < RANDOM and training[entry] > 1e-9 * spread[entry]:
            doubts.append(
                f"residuals of '{entry}' are no white noise (probability {p:.1g}): the loop lacks something, and the deviations are too small"
            )
    for entry, x in validation.items():
        if x > WORSE * training[entry] and x > 1e-9 * spread[entry]:
            doubts.append(
                f"'{entry}' is {x / training[entry]:.3g} times as wrong on what was held out as on what was fitted"
            )
    doubts += [
        f"only {100 * max(s, 0.0):.0f} % of the variance of '{e}' is explained"
        for e, s in shares.items()
        if s < 0.5
    ]
    return doubts
