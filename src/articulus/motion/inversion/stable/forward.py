"""Forward run of a nonlinear system under the inputs of an inversion, by an integrator of its own (SciPy's DOP853)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline, make_interp_spline

from articulus.errors import InputError
from articulus.motion.inversion.result import Inversion
from articulus.motion.inversion.stable.system import NonlinearSystem
from articulus.numerics.differential_riccati import riccati_along
from articulus.numerics.riccati import care

FAR = 1e4
"""Distance of a state from rest, over the largest of the inversion, at which a run has diverged."""


@dataclass(frozen=True, eq=False)
class ForwardRun:
    """What a system did under the inputs of an inversion.

    Parameters
    ----------
    t : array, (N,) [s]
    x : array, (N, n)
    y : array, (N, m)
    wanted : array, (N, m)
    diverged : float [s] or None
        When the states left every bound; the arrays end there.
    """

    t: np.ndarray
    x: np.ndarray
    y: np.ndarray
    wanted: np.ndarray
    diverged: float | None

    @property
    def error(self) -> float:
        """Largest distance of an output from the wanted one."""
        return float(np.abs(self.y - self.wanted).max())


def forward_run(
    system: NonlinearSystem,
    inversion: Inversion,
    gain: Any = None,
    *,
    t0: float | None = None,
    t_end: float | None = None,
    rtol: float = 1e-9,
) -> ForwardRun:
    """Run a system under u = u_d(t) + K(t) (x_d(t) - x).

    Parameters
    ----------
    system : NonlinearSystem
        The one that was inverted, or one with other numbers.
    inversion : Inversion
        With states, as `stable_inversion` gives it.
    gain : array (m, n), "lqr" or None
        K; "lqr" is that of the linear-quadratic regulator along the motion with unit weights; None runs open loop.
    t0 : float [s]
        When the inputs begin, from rest: later than the first time of the inversion it is a truncated preview.
    t_end : float [s]
        Last time; that of the inversion if not given.
    rtol : float [-]
    """
    if inversion.states is None or inversion.states.shape[1] != system.x.numel():
        raise InputError("forward_run: expected an inversion with the states of this system")
    nominal = _Nominal(inversion)
    first = inversion.t[0] if t0 is None else float(t0)
    last = inversion.t[-1] if t_end is None else float(t_end)
    rate, output = system.rate, system.output
    K = _gain(system, inversion, nominal, gain)
    rest = inversion.states[0]
    size = FAR * (1 + np.abs(inversion.states - rest).max())

    def slope(t: float, x: np.ndarray) -> np.ndarray:
        u, wanted = nominal(t)
        if K is not None:
            u = u + K(t) @ (wanted - x)
        return np.array(rate(x, u)).ravel()

    def far(_: float, x: np.ndarray) -> float:
        return size - np.abs(x - rest).max()

    far.terminal = True  # type: ignore[attr-defined]
    jumps = [t for t in nominal.jumps if first < t < last]
    times = inversion.t[(inversion.t >= first) & (inversion.t <= last)]
    x, found_t, found_x, diverged = np.array(rest), [], [], None
    for a, b in zip([first, *jumps], [*jumps, last]):
        inside = times[(times >= a) & (times < b)] if b < last else times[times >= a]
        with np.errstate(over="ignore", invalid="ignore"):
            run = solve_ivp(
                slope, (a, b), x, "DOP853", np.append(inside, b) if b < last else inside, rtol=rtol, atol=1e-3 * rtol, events=far,
                max_step=(inversion.t_end - inversion.t0) / 20,
            )  # fmt: skip
        keep = min(len(inside), len(run.t))
        found_t.append(run.t[:keep])
        found_x.append(run.y.T[:keep])
        if run.status != 0:
            diverged = float(run.t_events[0][0]) if run.status == 1 else float(run.t[-1] if len(run.t) else a)
            break
        x = run.y[:, -1]
    t, states = np.concatenate(found_t), np.concatenate(found_x)
    y = np.array([np.array(output(s)).ravel() for s in states]).reshape(len(t), -1)
    kept = np.searchsorted(inversion.t, t)
    return ForwardRun(t, states, y, inversion.outputs[kept], diverged)


class _Nominal:
    """Inputs and states between the samples, by cubic splines on both sides of every jump."""

    def __init__(self, inversion: Inversion):
        t, values = inversion.t, np.hstack([inversion.inputs, inversion.states])  # type: ignore[list-item]
        gaps = np.diff(t)
        cuts = np.flatnonzero(gaps < 1e-3 * np.median(gaps)) + 1
        self.jumps = t[cuts]
        self._m = inversion.inputs.shape[1]
        parts = zip(np.split(t, cuts), np.split(values, cuts))
        self._splines = [CubicSpline(a, b) if len(a) > 3 else (lambda t, b=b: b[0]) for a, b in parts]
        self._first, self._last = t[0], t[-1]

    def __call__(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        t = min(max(t, self._first), self._last)
        found = self._splines[int(np.searchsorted(self.jumps, t, side="right"))](t)
        return found[: self._m], found[self._m :]


def _gain(
    system: NonlinearSystem, inversion: Inversion, nominal: _Nominal, gain: Any
) -> Callable[[float], np.ndarray] | None:
    if gain is None:
        return None
    if isinstance(gain, str):
        if gain != "lqr":
            raise InputError(f"forward_run: found gain '{gain}'; expected an array (m, n), 'lqr' or None")
        return lqr_along(system, inversion, nominal)
    K = np.asarray(gain, dtype=float)
    if K.shape != system.g.shape[::-1]:
        raise InputError(f"forward_run: found a gain of shape {K.shape}; expected {system.g.shape[::-1]}")
    return lambda _: K


def _final(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return the steady solution at the end of the motion, unit weights."""
    try:
        return care(A, B, np.eye(len(A)), np.eye(B.shape[1])).X
    except InputError as error:
        raise InputError(
            f"forward_run: gain 'lqr' at the end of the motion: {error}; expected inputs that move every unstable mode there"
        ) from error


def lqr_along(
    system: NonlinearSystem, inversion: Inversion, nominal: Callable[[float], tuple[np.ndarray, np.ndarray]]
) -> Callable[[float], np.ndarray]:
    """Return K(t) of the linear-quadratic regulator about the motion, unit weights: the Riccati equation backward in time."""
    u = ca.SX.sym("u", system.h.numel())
    rate = system.f + ca.mtimes(system.g, u)
    linear = ca.Function("linear", [system.x, u], [ca.jacobian(rate, system.x), system.g])
    n, m = system.g.shape
    times = np.unique(inversion.t)
    inputs, states = (np.array(each) for each in zip(*(nominal(t) for t in times)))
    at_all = [np.hstack([np.array(each) for each in linear(x, u)]) for x, u in zip(states, inputs)]
    A, B = np.split(np.array(at_all), [n], axis=2)
    P = riccati_along(times, A, B, np.eye(n), np.eye(m), _final(A[-1], B[-1]))
    gains = make_interp_spline(times, B.swapaxes(1, 2) @ P, k=1)
    return lambda t: gains(min(max(t, times[0]), times[-1]))
