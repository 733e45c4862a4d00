"""Frequencies, damping and time constants of a free decay by differential corrections (Lan & Ge 1989)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.design.fits.least_squares import LeastSquares, least_squares, triangle
from articulus.design.modal.halves import upper_half
from articulus.design.modal.modal_fit import modal_model
from articulus.design.whiteness import RANDOM, whiteness
from articulus.errors import InputError, doubtful
from articulus.linear import LinearModel
from articulus.numerics.lyapunov import one_thread
from articulus.study.records import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEPS = 50
"""Most corrections."""
ROWS = 150
"""Rows of the Hankel matrix from which estimates are taken."""
NOTHING = 1e-9
"""Strength of a pole, over the largest, that is rounding."""
FEW_PERIODS = 1.5
"""Periods of a mode in the record below which its damping is a guess."""


@dataclass(frozen=True, eq=False)
class DecayFit:
    """y(t) = sum exp(-zeta w t) (a cos(w_d t) + b sin(w_d t)) + sum c exp(-sigma t) + d + e t, w_d = w sqrt(1 - zeta^2), t from the first sample.

    Parameters
    ----------
    frequencies, damping : array, (modes,) [rad/s], [-]
        w and zeta.
    rates : array, (real modes,) [1/s]
        sigma.
    frequency_deviations, damping_deviations, rate_deviations : arrays
        Standard deviations for white residuals.
    cosines, sines : array, (modes, signals)
        a, b.
    exponentials : array, (real modes, signals)
        c.
    offset, trend : array, (signals,)
        d and e [per s].
    model : LinearModel
        The modes as states; the response to its input "release", an impulse, is the decay without offset and trend.
    error : float
        G, sum of squares of the residuals.
    iterations : int
    record : Record
    signals : tuple of str
    residuals : array, (samples, signals)
    warnings : tuple of str
    """

    frequencies: np.ndarray
    damping: np.ndarray
    rates: np.ndarray
    frequency_deviations: np.ndarray
    damping_deviations: np.ndarray
    rate_deviations: np.ndarray
    cosines: np.ndarray
    sines: np.ndarray
    exponentials: np.ndarray
    offset: np.ndarray
    trend: np.ndarray
    model: LinearModel
    error: float
    iterations: int
    record: Record
    signals: tuple[str, ...]
    residuals: np.ndarray
    warnings: tuple[str, ...]

    @property
    def hertz(self) -> np.ndarray:
        """Frequencies in Hz."""
        return self.frequencies / (2 * np.pi)

    @property
    def ok(self) -> bool:
        """Whether there is no reason to doubt."""
        return not self.warnings

    def __str__(self) -> str:
        rows = [
            f"  {f:.6g} +- {df:.2g} Hz, damping {z:.4g} +- {dz:.2g}"
            for f, df, z, dz in zip(self.hertz, self.frequency_deviations / (2 * np.pi), self.damping, self.damping_deviations)
        ]  # fmt: skip
        rows += [f"  time constant {1 / r:.6g} +- {d / r**2:.2g} s" for r, d in zip(self.rates, self.rate_deviations)]  # fmt: skip
        head = f"free decay of {', '.join(self.signals)}: G = {self.error:.3g} after {self.iterations} corrections"
        return "\n".join([head, *rows, *(f"  doubt: {w}" for w in self.warnings)])

    def plot(self) -> Figure:
        """Return a figure: what was measured, what was fitted, and what is left."""
        import matplotlib.pyplot as plt

        figure, (above, below) = plt.subplots(2, 1, sharex=True, layout="constrained")
        for k, name in enumerate(self.signals):
            unit = self.record.units[name]
            above.plot(self.record.t, self.record[name], ".", markersize=3, label=f"{name} [{unit}]")
            above.plot(self.record.t, self.record[name] - self.residuals[:, k], color="black", linewidth=0.9)
            below.plot(self.record.t, self.residuals[:, k], linewidth=0.8)
        above.legend(fontsize=8)
        below.set_xlabel("time [s]")
        below.set_ylabel("residuals")
        return figure


def decay_fit(
    record: Record,
    signals: str | Sequence[str],
    modes: int = 1,
    real: int = 0,
    *,
    offset: bool = True,
    trend: bool = False,
    guess: tuple[Sequence[float], Sequence[float]] | tuple[Sequence[float], Sequence[float], Sequence[float]] | None = None,
) -> DecayFit:  # fmt: skip
    """Return the modes of a free decay: corrections of all parameters by linear least squares, until they change nothing.

    Parameters
    ----------
    record : Record
        From when nothing acts any more.
    signals : str or sequence of str
        Columns that share the modes.
    modes, real : int
        Numbers of oscillating and of merely decaying modes.
    offset, trend : bool
        Whether the signals have an offset d and a trend e t.
    guess : (frequencies [rad/s], damping ratios) or (frequencies, damping ratios, rates [1/s])
        Initial values; found from the record if not given, which needs even samples.

    Notes
    -----
    Source: Lan & Ge 1989.
    """
    names = (signals,) if isinstance(signals, str) else tuple(signals)
    y = np.column_stack([record[n] for n in names])
    kept = ~np.isnan(y).any(axis=1)
    t, y = record.t[kept] - record.t[kept][0], y[kept]
    unknown = 2 * modes + real + len(names) * (2 * modes + real + offset + trend)
    if modes < 0 or real < 0 or modes + real < 1 or y.size <= unknown:
        raise InputError(
            f"decay_fit: found {modes} modes, {real} real ones and {y.size} numbers; expected at least one mode and more than {unknown} numbers"
        )
    p0 = _given(guess, modes, real) if guess is not None else estimate_poles(record, y, t, modes, real, offset + trend)  # fmt: skip
    _shape, spread, end = corrections(t, y, p0, modes, real, offset, trend)
    x = end.x
    with one_thread():
        scale = np.maximum(np.linalg.norm(end.jacobian, axis=0), 1e-300)
        A = triangle(end.jacobian / scale, end.residuals)[:, :-1]
        variance = float(end.residuals @ end.residuals) / max(y.size - len(x), 1)
        covariance = variance * np.linalg.pinv(A.T @ A) / np.outer(scale, scale)
    deviations = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    poles = 2 * modes + real
    w, zeta, sigma = end.x[:modes], end.x[modes : 2 * modes], end.x[2 * modes : poles]
    amplitudes = end.x[poles:].reshape(-1, len(names)) * spread
    a, b, c = amplitudes[:modes], amplitudes[modes : 2 * modes], amplitudes[2 * modes : poles]
    rest = [*amplitudes[poles:], *np.zeros((2, len(names)))]
    residuals = np.full((len(record.t), len(names)), np.nan)
    residuals[kept] = end.residuals.reshape(y.shape) * spread * -1
    doubts = _doubts(end.converged, t, w, zeta, deviations[modes : 2 * modes], residuals[kept], y, names)
    for text in doubts:
        doubtful(f"decay_fit: {text}")
    return DecayFit(
        w, zeta, sigma, deviations[:modes], deviations[modes : 2 * modes], deviations[2 * modes : poles], a, b, c,
        rest[0] if offset else np.zeros(len(names)), rest[int(offset)] if trend else np.zeros(len(names)),
        _model(record, names, w, zeta, sigma, a, b, c), float(np.nansum(residuals**2)), end.iterations, record, names, residuals, doubts,
    )  # fmt: skip


def corrections(
    t: np.ndarray, y: np.ndarray, p0: np.ndarray, modes: int, real: int, offset: bool, trend: bool
) -> tuple[DecayShape, np.ndarray, LeastSquares]:
    """Return the decay, what its signals are divided by, and its parameters after differential corrections from estimates of poles."""
    spread = np.maximum(np.std(y, axis=0), 1e-300)
    shape = DecayShape(t, y / spread, modes, real, offset, trend)
    with one_thread():
        x = np.concatenate([p0, shape.amplitudes(p0).ravel()])
        top = np.full(len(x), np.inf)
        lower = np.concatenate(
            [np.zeros(modes), np.full(modes, -0.999), np.full(len(x) - 2 * modes, -np.inf)]
        )
        upper = np.concatenate([top[:modes], np.full(modes, 0.999), top[2 * modes :]])
        with np.errstate(
            over="ignore", invalid="ignore"
        ):  # of trial rates that grow without bound, which are not taken
            return shape, spread, least_squares(shape.residuals, x, shape.size(x), lower, upper, STEPS)


@dataclass(frozen=True, eq=False)
class DecayShape:
    """Residuals of the decay and their derivatives; parameters: w, zeta, sigma, then amplitudes (2 modes + real + ..., signals)."""

    t: np.ndarray
    y: np.ndarray
    modes: int
    real: int
    offset: bool
    trend: bool

    def shapes(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the functions of time (samples, functions), and those of the modes by w, by zeta and by sigma."""
        n, t = self.modes, self.t[:, None]
        w, zeta, sigma = p[:n], p[n : 2 * n], p[2 * n :]
        root = np.sqrt(1 - zeta**2)
        decay, phase = np.exp(-zeta * w * t), w * root * t
        cosine, sine = decay * np.cos(phase), decay * np.sin(phase)
        real = np.exp(-sigma * t)
        rest = np.column_stack([self.t**k for k, used in enumerate((self.offset, self.trend)) if used] or [np.zeros((len(t), 0))])  # fmt: skip
        whole = np.hstack([cosine, sine, real, rest])
        by_w = np.stack([-zeta * t * cosine - root * t * sine, -zeta * t * sine + root * t * cosine])
        turn = -w * zeta / root * t
        by_zeta = np.stack([-w * t * cosine - turn * sine, -w * t * sine + turn * cosine])
        return whole, by_w, by_zeta, -t * real

    def amplitudes(self, p: np.ndarray) -> np.ndarray:
        """Return the amplitudes of least squares."""
        return np.linalg.lstsq(self.shapes(p)[0], self.y, rcond=1e-12)[0]

    def residuals(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n, poles = self.modes, 2 * self.modes + self.real
        whole, by_w, by_zeta, by_sigma = self.shapes(x[:poles])
        amplitudes = x[poles:].reshape(whole.shape[1], -1)
        a, b, c = amplitudes[:n], amplitudes[n : 2 * n], amplitudes[2 * n : poles]
        signals = self.y.shape[1]
        slopes = np.concatenate(
            [g[0][:, None, :] * a.T + g[1][:, None, :] * b.T for g in (by_w, by_zeta)] + [by_sigma[:, None, :] * c.T],
            axis=2,
        )  # fmt: skip
        linear = np.einsum("tf,sr->tsfr", whole, np.eye(signals)).reshape(len(self.t), signals, -1)
        J = np.concatenate([slopes, linear], axis=2).reshape(-1, len(x))
        return (whole @ amplitudes - self.y).ravel(), J

    def size(self, x: np.ndarray) -> np.ndarray:
        """Return the size of each parameter."""
        n, poles = self.modes, 2 * self.modes + self.real
        span = max(float(self.t[-1]), 1e-300)
        linear = np.ones(len(x) - poles)
        if self.trend:
            linear[-self.y.shape[1] :] = 1 / span
        rates = np.maximum(np.abs(x[2 * n : poles]), 1 / span)
        return np.concatenate([np.maximum(x[:n], 1 / span), np.full(n, 0.1), rates, linear])


def _given(guess: Any, modes: int, real: int) -> np.ndarray:
    parts = [np.atleast_1d(np.asarray(p, float)) for p in (*guess, *([[]] if len(guess) == 2 else []))]
    if (
        [len(p) for p in parts] != [modes, modes, real]
        or not (parts[0] > 0).all()
        or not (np.abs(parts[1]) < 1).all()
    ):
        raise InputError(
            f"decay_fit: found guess = {guess!r}; expected {modes} frequencies [rad/s], {modes} damping ratios below 1, and {real} rates [1/s]"
        )
    return np.concatenate(parts)


def estimate_poles(
    record: Record, y: np.ndarray, t: np.ndarray, modes: int, real: int, slow: int
) -> np.ndarray:
    """Return frequencies, damping ratios and rates from the singular vectors of the Hankel matrix."""
    period = record.interval
    if record.jitter > 0.01 or len(t) < len(record.t):
        raise InputError(
            f"decay_fit: times of the record '{record.name}' are uneven or have gaps; expected a guess, (frequencies, damping ratios)"
        )
    rows, order = min(ROWS, len(y) // 2), 2 * modes + real + slow
    if rows * y.shape[1] <= order:
        raise InputError(f"decay_fit: found {len(y)} samples; expected more for {modes} modes")
    H = np.concatenate([y[i : len(y) - rows + i] for i in range(rows)], axis=1).T
    with one_thread():
        U = np.linalg.svd(np.asarray(np.linalg.qr(H.T, mode="r")).T)[0][:, :order]
    n = y.shape[1]
    values = np.linalg.eigvals(np.linalg.lstsq(U[:-n], U[n:], rcond=None)[0])
    s = np.log(np.where(values == 0, 1e-300, values) + 0j) / period
    turning = [k for k in upper_half(values)[0] if s[k].imag > 0]
    falling = [k for k in range(order) if s[k].imag == 0 and values[k].real > 0]
    shapes = np.exp(np.outer(t, s)) / np.maximum(1.0, np.abs(np.exp(s * t[-1])))
    amplitude = np.abs(np.linalg.lstsq(shapes, y.astype(complex), rcond=1e-10)[0]).max(axis=1)
    strength = amplitude * np.linalg.norm(shapes, axis=0)
    found = sorted(turning, key=lambda k: -strength[k])[:modes]
    if len(found) < modes:
        raise InputError(
            f"decay_fit: found {len(found)} oscillating modes in the record '{record.name}'; expected {modes}: pass a guess"
        )
    found.sort(key=lambda k: abs(s[k]))
    falling = [
        k for k in falling if strength[k] > NOTHING * strength.max()
    ]  # without an offset its place is rounding
    rates = sorted(-s[k].real for k in sorted(falling, key=lambda k: -abs(s[k].real))[:real])
    rates += [3.0 / t[-1]] * (real - len(rates))
    w = np.abs(s[found])
    zeta = np.clip(-s[found].real / w, -0.9, 0.9)
    return np.concatenate([w, zeta, rates])


def _model(
    record: Record, names: tuple[str, ...], w: np.ndarray, zeta: np.ndarray, sigma: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray
) -> LinearModel:  # fmt: skip
    """Return the modes as a linear model whose response to an impulse is the decay."""
    values = np.concatenate([-zeta * w + 1j * w * np.sqrt(1 - zeta**2), -sigma + 0j])
    C = np.concatenate([(a - 1j * b) / 2, c + 0j]).T
    units = (("s",), tuple(record.units[n] for n in names))
    return modal_model(values, (np.ones((len(values), 1)), C), np.zeros((len(names), 1)), None, ("release",), names, units, f"{record.name}: free decay")  # fmt: skip


def _doubts(
    converged: bool, t: np.ndarray, w: np.ndarray, zeta: np.ndarray, spread: np.ndarray, residuals: np.ndarray, y: np.ndarray, names: tuple[str, ...]
) -> tuple[str, ...]:  # fmt: skip
    doubts = [] if converged else ["the corrections did not come to rest"]
    for f, z, dz in zip(w, zeta, spread):
        if f * t[-1] < 2 * np.pi * FEW_PERIODS:
            doubts.append(
                f"the record holds {f * t[-1] / (2 * np.pi):.2g} periods of the mode at {f:.4g} rad/s"
            )
        if dz > 0.5 * abs(z):
            doubts.append(
                f"the damping ratio {z:.3g} of the mode at {f:.4g} rad/s is known to +- {dz:.2g} only"
            )
    for name, p, r, s in zip(names, whiteness(residuals), residuals.std(axis=0), y.std(axis=0)):
        if p < RANDOM and r > 1e-9 * s:
            doubts.append(
                f"residuals of '{name}' are no white noise (probability {p:.1g}): more modes, damping that is not viscous, or something still acts; deviations "
                "are too small then"
            )
    return tuple(doubts)
