"""Margins of a loop: gain, phase, delay, disk, sensitivity peaks (`margin`, `allmargin`, `diskmargin` in MATLAB).

Delays count exactly. Loops of several channels: gain, phase and delay margins of one channel at a time, the others closed; disk
margins and sensitivity peaks also of all channels at once (Seiler, Packard & Gahinet 2020).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from threadpoolctl import threadpool_limits

from articulus.control.analysis.delay import DelayedModel
from articulus.control.analysis.encirclements import unstable_poles
from articulus.control.analysis.norms import Norm, peak_gain
from articulus.control.analysis.open_loop import open_loop
from articulus.control.analysis.stable import at_rest, moving_poles, stable_poles
from articulus.control.connect import close, select
from articulus.control.design import Design
from articulus.control.figure import over_frequency
from articulus.control.plant import as_plant, of_matrices
from articulus.errors import InputError, doubtful
from articulus.linear import LinearModel
from articulus.linear.response import Transfer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NO_GAIN = 1e4 * np.finfo(float).eps
"""Factor of a gain that counts as zero: the sensitivity of such a loop is rounding, and so is the phase (a rigid motion far below its loop)."""
OFF_POLES = 1e-7
"""Relative amount by which frequencies lie beside undamped poles, at which the loop is infinite."""
POINTS = 400
"""Frequencies in geometric progression that a loop is first looked at; more around every pole."""


@dataclass(frozen=True)
class DiskMargin:
    """Gain and phase that may change together: any factor (1 + d/2) / (1 - d/2) with |d| < size.

    Parameters
    ----------
    size : float [-]
    omega : float [rad/s]
        Where the loop is nearest to instability.
    """

    size: float
    omega: float

    @property
    def gain(self) -> tuple[float, float]:
        """Least and largest factor of the gain [-]."""
        a = self.size
        return (max((2 - a) / (2 + a), 0.0), (2 + a) / (2 - a) if a < 2 else np.inf)

    @property
    def phase(self) -> float:
        """Change of phase to either side [rad]."""
        return 2.0 * float(np.arctan(0.5 * self.size))

    def __str__(self) -> str:
        low, high = self.gain
        return f"{self.size:.4g} at {self.omega:.4g} rad/s: gain {low:.4g} to {high:.4g}, phase {np.degrees(self.phase):.4g} deg"


@dataclass(frozen=True)
class ChannelMargins:
    """Margins of one channel, the others closed.

    Parameters
    ----------
    channel : str
    gain_up, gain_down : float [-]
        Factors above and below one at which the loop becomes unstable; infinity and zero if there are none.
    omega_up, omega_down : float [rad/s]
        Frequencies of the oscillation there.
    phase : float [rad]
        Change of phase, to either side, at which the loop becomes unstable; infinite if the gain is never one.
    omega_phase : float [rad/s]
    delay : float [s]
        Additional delay at which the loop becomes unstable.
    omega_delay : float [rad/s]
    disk : DiskMargin
    sensitivity, complementary : Norm
        Peaks of 1 / (1 + L) and L / (1 + L).
    """

    channel: str
    gain_up: float
    omega_up: float
    gain_down: float
    omega_down: float
    phase: float
    omega_phase: float
    delay: float
    omega_delay: float
    disk: DiskMargin
    sensitivity: Norm
    complementary: Norm

    def __str__(self) -> str:
        return (
            f"{self.channel}: gain {self.gain_down:.4g} to {self.gain_up:.4g}, phase {np.degrees(self.phase):.4g} deg at "
            f"{self.omega_phase:.4g} rad/s, delay {self.delay:.4g} s, disk {self.disk.size:.4g}, sensitivity {self.sensitivity.value:.4g}"
        )


@dataclass(frozen=True, eq=False)
class Margins:
    """Margins of a loop.

    Parameters
    ----------
    channels : tuple of ChannelMargins
    disk : DiskMargin
        Disk margin of all channels at once, for changes that may also couple them: safe, and small where channels differ.
    independent : DiskMargin or None
        Disk margin of all channels at once, each with its own change; computed only on request.
    sensitivity, complementary : Norm
        Peaks of the largest singular value of (I + L)^-1 and L (I + L)^-1.
    unstable : int
        Unstable poles of the closed loop; margins are those of a stable loop only if zero.
    loop : LinearModel or DelayedModel
    """

    channels: tuple[ChannelMargins, ...]
    disk: DiskMargin
    independent: DiskMargin | None
    sensitivity: Norm
    complementary: Norm
    unstable: int
    loop: LinearModel | DelayedModel

    @property
    def stable(self) -> bool:
        """Whether the closed loop is asymptotically stable."""
        return self.unstable == 0

    def __str__(self) -> str:
        lines = [] if self.stable else [f"the closed loop is UNSTABLE: {self.unstable} poles"]
        lines += [str(channel) for channel in self.channels]
        if len(self.channels) > 1:
            lines += [
                f"all channels: disk {self.disk}",
                f"sensitivity {self.sensitivity}, complementary {self.complementary}",
            ]
        if self.independent is not None:
            lines += [f"all channels, each by itself: disk {self.independent}"]
        return "\n".join(lines)

    def plot(self, omega: Any = None) -> Figure:
        """Return a figure: gain and phase of every channel above, sensitivities below."""
        from matplotlib.figure import Figure

        curve = _Curve(self.loop)
        w = curve.grid if omega is None else np.asarray(omega, dtype=float)
        figure = Figure(figsize=(7, 6.5), layout="constrained")
        axes = gain, phase, peaks = figure.subplots(3, 1, sharex=True, height_ratios=(4, 3, 3))
        for i, channel in enumerate(self.channels):
            values = curve.channel(w, i)
            gain.loglog(w, np.abs(values), label=channel.channel)
            phase.semilogx(w, np.degrees(np.unwrap(np.angle(values))))
        gain.axhline(1.0, color="#404040", lw=0.7)
        gain.set_ylabel("gain of the loop")
        phase.axhline(-180.0, color="#404040", lw=0.7)
        phase.set_ylabel("phase [deg]")
        S = curve.sensitivity(w)
        peaks.loglog(w, np.linalg.norm(S, 2, axis=(1, 2)), label="sensitivity")
        peaks.loglog(w, np.linalg.norm(np.eye(S.shape[1]) - S, 2, axis=(1, 2)), label="complementary")
        peaks.set_ylabel("largest singular value")
        over_frequency(axes, linear=(phase,))
        return figure


@threadpool_limits.wrap(limits=1, user_api="blas")  # many small solves: threads only wait for each other
def margins(loop: Any, *, at: str = "commands", independent: bool = False) -> Margins:
    """Return the margins of a loop L with negative feedback, 1 / (1 + L).

    Parameters
    ----------
    loop : Design, DelayedModel, or see `as_plant`
        L, with as many outputs as inputs; see `open_loop` for the sign. Of a Design, its own loop.
    at : str
        Where the loop of a Design is cut, "commands" or "measured".
    independent : bool
        Also compute the disk margin for changes of all channels at once, each with its own, by `robstab`; takes longer.

    Warns (DoubtfulResult) if the closed loop is not stable: the numbers then are distances to a change of the number of unstable
    poles, not margins.
    """
    if isinstance(loop, Design):
        loop = open_loop(loop, at=at)
    L = loop if isinstance(loop, DelayedModel) else as_plant(loop, "margins")
    m = len(L.inputs)
    if m != len(L.outputs) or not m:
        raise InputError(
            f"margins: found a loop of {m} inputs and {len(L.outputs)} outputs; expected as many"
        )
    curve = _Curve(L)
    if curve.unstable:
        doubtful(
            f"margins: the closed loop has {curve.unstable} unstable poles; the numbers are no margins of a stable loop; is the "
            "sign right? L is the loop for negative feedback, see open_loop"
        )
    S, T = curve.peak(0.0, 1.0), curve.peak(1.0, -1.0)
    found = tuple(_channel(curve, L.inputs[i], i) for i in range(m))
    disk = _disk(curve.peak(-0.5, 1.0))
    return Margins(found, disk, _independent(curve, m) if independent else None, S, T, curve.unstable, L)


def _channel(curve: _Curve, name: str, i: int) -> ChannelMargins:
    w, values = curve.grid, curve.channel(curve.grid, i)
    ups, downs = [(np.inf, np.nan)], [(0.0, np.nan)]
    rounding = np.finfo(float).eps * np.abs(values).max(initial=0.0)
    for omega, value in _phase_crossings(curve, i, w, values):
        if abs(value) <= rounding:  # zero but for rounding: no gain takes it to -1
            continue
        factor = -1.0 / value
        if factor > 1:
            ups.append((factor, omega))
        elif factor > NO_GAIN:
            downs.append((factor, omega))
    phases, delays = [(np.inf, np.nan)], [(np.inf, np.nan)]
    for omega in _gain_crossings(curve, i, w, values):
        lead = np.angle(-curve.channel(np.array([omega]), i)[0])
        phases.append((abs(lead), omega))
        if omega > 0:
            delays.append((np.mod(lead, 2 * np.pi) / omega, omega))
    S, T, disk = curve.peak(0.0, 1.0, i), curve.peak(1.0, -1.0, i), _disk(curve.peak(-0.5, 1.0, i))
    up, down, phase, delay = min(ups), max(downs), min(phases), min(delays)
    return ChannelMargins(name, *up, *down, *phase, *delay, disk, S, T)


def _gain_crossings(curve: _Curve, i: int, w: np.ndarray, values: np.ndarray) -> list[float]:
    """Return the frequencies at which the gain of a channel is one."""

    def level(omega: float) -> float:
        return float(np.log(np.abs(curve.channel(np.array([omega]), i)[0])))

    with np.errstate(divide="ignore"):
        f = np.log(np.abs(values))
    points, levels = list(w), list(f)
    # an extreme between frequencies of the grid may touch one
    for k in range(1, len(w) - 1):
        sign = np.sign(f[k])
        if abs(f[k]) < 0.5 and sign * f[k] <= min(sign * f[k - 1], sign * f[k + 1]):
            best = minimize_scalar(
                lambda x, s=sign: s * level(x), bounds=(w[k - 1], w[k + 1]), method="bounded"
            )
            if best.fun < 0:
                points.append(float(best.x))
                levels.append(sign * float(best.fun))
    order = np.argsort(points, kind="stable")
    p, v = np.array(points)[order], np.array(levels)[order]
    crossings = [float(x) for x in p[v == 0.0]]
    for j in np.flatnonzero(v[1:] * v[:-1] < 0):
        if np.isfinite(v[j]) and np.isfinite(v[j + 1]):
            crossings.append(_root(level, p[j], p[j + 1]))
    return crossings


def _phase_crossings(curve: _Curve, i: int, w: np.ndarray, values: np.ndarray) -> list[tuple[float, float]]:
    """Return the frequencies at which a channel is real and negative, with its value there."""

    def part(omega: float) -> float:
        return float(curve.channel(np.array([omega]), i)[0].imag)

    # what rounding leaves of a response that vanishes is no crossing
    nothing = np.finfo(float).eps * np.abs(values[np.isfinite(values)]).max(initial=0.0)
    found = [(omega, value) for omega, value in curve.ends(i) if value < 0]
    for k in np.flatnonzero(values.imag[1:] * values.imag[:-1] < 0):
        if min(values.real[k], values.real[k + 1]) < 0:
            omega = _root(part, w[k], w[k + 1])
            value = curve.channel(np.array([omega]), i)[0]
            if value.real < -nothing and abs(value.imag) < 1e-6 * abs(value):
                found.append((omega, float(value.real)))
    return found


def _root(f: Callable[[float], float], a: float, b: float) -> float:
    """Return where a function is zero between two places; if its sign is lost in rounding at one of them, that one."""
    try:
        return float(brentq(f, a, b, xtol=1e-14 * b, rtol=1e-13))
    except ValueError:  # of many frequencies at once the response was rounded otherwise
        return float(min((a, b), key=lambda x: abs(f(x))))


def _disk(peak: Norm) -> DiskMargin:
    return DiskMargin(1.0 / peak.value if peak.value > 0 else np.inf, peak.omega)


def _independent(curve: _Curve, m: int) -> DiskMargin:
    from articulus.control.robust.robstab import robstab

    if curve.closed is None or curve.unstable:
        raise InputError(
            "margins: the disk margin for independent changes needs a stable loop without exact delays; use with_delays(...).pade(order)"
        )
    S = curve.closed
    found = robstab(of_matrices(S.A, S.B, S.C, S.D - 0.5 * np.eye(m), S.period), [(1, 1)] * m)
    return DiskMargin(found.margin, found.frequency)


class _Curve:
    """Frequency responses of a loop and of its sensitivity S = (I + L)^-1, and a grid that shows them."""

    def __init__(self, loop: LinearModel | DelayedModel):
        self.loop, self.m = loop, len(loop.inputs)
        plain = loop.without_delay if isinstance(loop, DelayedModel) else loop
        self.limit = np.inf if plain.period is None else np.pi / plain.period
        self.delay = loop.longest if isinstance(loop, DelayedModel) else 0.0
        self.plain, self.closed = plain, None
        self._transfer = None if loop is not plain else Transfer(plain.A, plain.B, plain.C, plain.D)
        closed = _sensitivity(plain)
        self.grid = self._grid(closed)
        if self.delay:
            self.unstable = unstable_poles(loop, self.grid)  # type: ignore[arg-type]
        else:
            self.closed = closed
            inside = stable_poles(closed.A, closed.period)[1]
            self.unstable = int(np.count_nonzero(~inside))

    def _grid(self, closed: LinearModel) -> np.ndarray:
        poles = np.concatenate([moving_poles(m.A, m.period) for m in (self.plain, closed)])
        sizes = np.abs(poles) if len(poles) else np.ones(1)
        low, high = 1e-3 * sizes.min(), 1e3 * sizes.max()
        around = np.tan(np.linspace(-1.5, 1.5, 25))
        near = (
            np.abs(poles.imag)[:, None]
            + np.maximum(np.abs(poles.real), 1e-6 * np.abs(poles))[:, None] * around
        ).ravel()
        parts = [np.geomspace(low, high, POINTS), near, sizes]
        if self.delay:
            # equal steps as far as the loop can still encircle: until its gain stays low
            w = np.geomspace(low, high, POINTS)
            large = np.linalg.norm(self.plain.response(w), 2, axis=(1, 2)) > 0.02
            last = min(w[large].max(initial=low), 2000.0 / self.delay)
            parts.append(np.arange(0.0, last, 0.2 / self.delay))
        grid = np.unique(np.concatenate(parts)) * (1.0 + OFF_POLES)
        return grid[(grid > 0) & (grid < self.limit)]

    def response(self, w: np.ndarray) -> np.ndarray:
        """Return L at frequencies, (n, m, m)."""
        if self._transfer is None:
            return self.loop.response(w)
        period = self.plain.period
        return self._transfer(1j * w if period is None else np.exp(1j * w * period))

    def sensitivity(self, w: np.ndarray) -> np.ndarray:
        """Return S at frequencies, (n, m, m); zero where L is infinite."""
        L = self.response(w)
        infinite = ~np.isfinite(L).all(axis=(1, 2))
        L[infinite] = 0.0
        S = np.linalg.inv(np.eye(self.m) + L)
        S[infinite] = 0.0
        return S

    def channel(self, w: np.ndarray, i: int) -> np.ndarray:
        """Return the transfer of a channel cut open, the others closed: 1 / S_ii - 1."""
        if self.m == 1:
            return self.response(w)[:, 0, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1.0 / self.sensitivity(w)[:, i, i] - 1.0

    def ends(self, i: int) -> list[tuple[float, float]]:
        """Return frequencies at which the transfer of a channel is real by itself, with its value: zero and the highest."""
        found = []
        with np.errstate(all="ignore"):
            if not at_rest(self.plain.A, self.plain.period):
                found.append((0.0, complex(self.channel(np.zeros(1), i)[0])))
            if np.isfinite(self.limit):
                found.append((self.limit, complex(self.channel(np.array([self.limit]), i)[0])))
            elif not self.delay:
                S = np.linalg.inv(np.eye(self.m) + self.plain.D)[i, i]
                found.append((np.inf, complex(1.0 / S - 1.0)))
        return [(w, value.real) for w, value in found if np.isfinite(value)]

    def peak(self, offset: float, sign: float, i: int | None = None) -> Norm:
        """Return the peak over frequency of the largest singular value of offset I + sign S, or of its entry (i, i)."""
        pick = slice(None) if i is None else slice(i, i + 1)
        unit = offset * np.eye(self.m)[pick, pick]
        if self.closed is not None:
            S = self.closed if i is None else select(self.closed, [i], [i])
            return peak_gain(of_matrices(S.A, S.B, sign * S.C, unit + sign * S.D, S.period))

        def gain(w: np.ndarray) -> np.ndarray:
            return np.linalg.norm(unit + sign * self.sensitivity(w)[:, pick, pick], 2, axis=(1, 2))

        values = gain(self.grid)
        found = [(float(values.max()), float(self.grid[np.argmax(values)]))]
        for k in np.argsort(-values)[:5]:
            low, high = self.grid[max(k - 1, 0)], self.grid[min(k + 1, len(self.grid) - 1)]
            top = minimize_scalar(
                lambda x: -float(gain(np.array([x]))[0]),
                bounds=(low, high),
                method="bounded",
                options={"xatol": 1e-10 * high},
            )
            found.append((-float(top.fun), float(top.x)))
        return Norm(*max(found))


def _sensitivity(loop: LinearModel) -> LinearModel:
    """Return (I + L)^-1 as a model."""
    m = len(loop.inputs)
    back = of_matrices(np.zeros((0, 0)), np.zeros((0, m)), np.zeros((m, 0)), -np.eye(m))
    closed = close(loop, back, np.arange(m), np.arange(m))
    # outputs of the closed loop are T for inputs at the commands; S = I - T
    return of_matrices(
        closed.A,
        closed.B,
        -closed.C,
        np.eye(m) - closed.D,
        loop.period,
        inputs=loop.inputs,
        outputs=loop.inputs,
    )
