"""The driven internal dynamics of a desired motion as a boundary value problem on a padded interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from articulus.errors import InputError, NumericalError
from articulus.motion.inversion.stable.equilibrium import End, EquilibriumSolver, end
from articulus.motion.inversion.stable.normal_form import NormalForm
from articulus.motion.inversion.stable.wanted import Wanted
from articulus.numerics.newton import newton

LEAST_DECAY = 1e-2
"""What may be left of the slowest internal motion at the ends of an interval that the user chose."""
AT_REST = 1e-12
"""Rate of the internal coordinates at rest, over its derivative by them and their size."""
STATIONS = 33
"""Outputs along the motion at which the state of rest is found, for the first estimate."""


@dataclass(frozen=True, eq=False)
class BoundedProblem:
    """eta' = p(t, eta), bounded for all times, between `first` and `last`.

    Parameters
    ----------
    form : NormalForm
    wanted : Wanted
    before, after : End
        Equilibria that the motion leaves and reaches.
    first, last : float [s]
        The interval: the motion and what is added before and after it.
    stations : array, (S,) [s]
    estimate : array, (S, n)
        States of rest along the motion at these times.
    """

    form: NormalForm
    wanted: Wanted
    before: End
    after: End
    first: float
    last: float
    stations: np.ndarray
    estimate: np.ndarray

    def states(self, t: np.ndarray, eta: np.ndarray, guess: np.ndarray | None = None) -> np.ndarray:
        """Return x (N, n) with the desired outputs at times t (N,) and the internal coordinates eta (N, k)."""
        if guess is None:
            guess = np.array([np.interp(t, self.stations, column) for column in self.estimate.T]).T
        return self.form.state(self._xi(self.wanted(t)), eta, guess)

    def rate(
        self, t: np.ndarray, eta: np.ndarray, guess: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return p (N, k), its derivative by eta (N, k, k), and the states (N, n)."""
        y = self.wanted(t)
        if guess is None:
            guess = np.array([np.interp(t, self.stations, column) for column in self.estimate.T]).T
        x = self.form.state(self._xi(y), eta, guess)
        return (*self.form.inside(x, self.top(y)), x)

    def inputs(self, t: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return u (N, m) at states x on the desired motion."""
        return self.form.input(x, self.top(self.wanted(t)))

    def first_eta(self, t: np.ndarray) -> np.ndarray:
        """Return the internal coordinates of rest along the motion, (N, k)."""
        guess = np.array([np.interp(t, self.stations, column) for column in self.estimate.T]).T
        return self.form.coordinates(guess)[1]

    def _xi(self, y: np.ndarray) -> np.ndarray:
        degrees = self.form.relative_degree
        return np.concatenate([y[:, :r, j] for j, r in enumerate(degrees)], axis=1)

    def top(self, y: np.ndarray) -> np.ndarray:
        """Return y^(r) (N, m) out of derivatives (N, order + 1, m)."""
        return np.stack([y[:, r, j] for j, r in enumerate(self.form.relative_degree)], axis=1)


def boundary_problem(
    form: NormalForm,
    wanted: Wanted,
    x0: np.ndarray,
    tolerance: float,
    pre: float | None,
    post: float | None,
) -> BoundedProblem:
    """Return the problem of a desired motion; finds the states of rest, refuses zeros on the axis and intervals too short.

    Parameters
    ----------
    x0 : array, (n,)
        Estimate of the state of rest before the motion.
    tolerance : float [-]
        What may be left of the internal motion at the ends of the interval.
    pre, post : float [s]
        How much is added before and after the motion; by the slowest zeros if not given.
    """
    wanted.require_smooth(form.relative_degree, form.system.output_names)
    stations = np.linspace(wanted.t0, wanted.t_end, STATIONS)
    goals = wanted(stations)[:, 0]
    rest = EquilibriumSolver(form.system)
    x, u = rest(goals[0], x0, np.zeros(goals.shape[1]))
    along = _along(form, goals, x, rest)
    last_u = form.input(along[-1:], np.zeros((1, goals.shape[1])))[0]
    duration = wanted.t_end - wanted.t0
    before, after = end(form, x, u, duration, "start"), end(form, along[-1], last_u, duration, "end")
    counts = [int((e.zeros.real > 0).sum()) for e in (before, after)]
    if counts[0] != counts[1]:
        raise NumericalError(
            f"{form.system.name}: {counts[0]} unstable zeros at the start of the motion and {counts[1]} at its end; expected as many: the zeros "
            "cross the imaginary axis on the way, so choose a motion between poses of one kind"
        )
    leaves = before.zeros.real[before.zeros.real > 0]
    dies = -after.zeros.real[after.zeros.real < 0]
    first = wanted.t0 - _pad(leaves, tolerance, pre, "pre", form.system.name)
    last = wanted.t_end + _pad(dies, tolerance, post, "post", form.system.name)
    return BoundedProblem(form, wanted, before, after, first, last, stations, along)


def _along(form: NormalForm, goals: np.ndarray, x: np.ndarray, last: EquilibriumSolver) -> np.ndarray:
    """Return states of rest (S, n) for outputs along the motion; a straight line where there are none on the way."""
    returns = np.abs(goals[-1] - goals[0]).max() <= 1e-12 * np.abs(goals).max()
    found = [x]
    try:
        for y in goals[1:]:
            found.append(_at_rest(form, y, found[-1]))
    except (NumericalError, np.linalg.LinAlgError):
        final = x if returns else last(goals[-1], x, np.zeros(goals.shape[1]))[0]
        return x + np.linspace(0.0, 1.0, len(goals))[:, None] * (final - x)
    if returns:
        found[-1] = x
    return np.array(found)


def _at_rest(form: NormalForm, y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the state of rest (n,) with outputs y next to x: Newton's method on the internal coordinates."""
    xi = np.concatenate([[value] + [0.0] * (r - 1) for value, r in zip(y, form.relative_degree)])[None]
    v, x = np.zeros((1, len(y))), x[None]

    def state(eta: np.ndarray) -> np.ndarray:
        return form.state(xi, eta, x)

    eta = form.coordinates(x)[1]
    if form.internal:
        size = np.maximum(np.abs(form.inside(state(eta), v)[1]).max(), 1e-300) * (1 + np.abs(eta).max())
        eta, history = newton(
            eta,
            lambda eta: form.inside(state(eta), v)[0] / size,
            lambda eta, off: np.linalg.solve(form.inside(state(eta), v)[1], -size * off[..., None])[..., 0],
            np.add,
            AT_REST,
        )
        if not history[-1] <= AT_REST:
            raise NumericalError("no state of rest on the way")
    return state(eta)[0]


def _pad(rates: np.ndarray, tolerance: float, given: float | None, name: str, system: str) -> float:
    """Return the length [s] that is added at one side."""
    if not len(rates):
        return 0.0 if given is None else float(given)
    slowest = float(rates.min())
    if given is None:
        return math.log(1.0 / tolerance) / slowest
    if given < 0 or math.exp(-slowest * given) > LEAST_DECAY:
        raise InputError(
            f"{system}: {name} = {given:g} s is too short for the zero with real part {slowest:.4g} rad/s in size: {math.exp(-slowest * max(given, 0.0)):.2g} of the "
            f"internal motion is left at the end; expected at least {math.log(1 / LEAST_DECAY) / slowest:.4g} s, and {math.log(1 / tolerance) / slowest:.4g} s for {tolerance:g}"
        )
    return float(given)
