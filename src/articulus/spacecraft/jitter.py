"""Jitter of a line of sight: its root mean square and its spectrum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.errors import Finding, InputError, doubtful

Array = np.ndarray
TONE = 4
"""Steps of a spectrum with Hann's window over which a tone is spread."""


@dataclass(frozen=True)
class Jitter:
    """How a line of sight shakes about its mean.

    Parameters
    ----------
    rms : (axes,) [rad]
        Root mean square over the time.
    frequency : (n,) [Hz]
    density : (n, axes) [rad^2/Hz]
        One-sided power spectral density (Welch 1967).
    """

    rms: Array
    frequency: Array
    density: Array

    @property
    def total(self) -> float:
        """Return the root mean square of all axes together [rad]."""
        return float(np.sqrt(self.rms @ self.rms))

    def rms_between(self, low: float, high: float) -> Array:
        """Return the root mean square of each axis in a band of frequencies [Hz], (axes,); squares of bands that join add up.

        The spectrum has one value for each `frequency` and the half steps around it; a band takes its share of those at its ends. A tone is
        spread over four steps: a narrower band is told by a `DoubtfulResult`.
        """
        top, step = float(self.frequency[-1]), float(self.frequency[1])
        if not 0 <= low < high or low >= top:
            expected = f"low < high, from 0 to {top:.6g} Hz, half the rate of the samples"
            raise InputError(Finding("rms_between", f"{low!r} to {high!r} Hz", expected))
        if high - low < TONE * step and (low > 0 or high < top):
            doubtful(
                f"rms_between: the band of {high - low:.3g} Hz is narrower than {TONE} steps of the spectrum, {step:.3g} Hz each, over which "
                "a tone is spread; take a longer record or fewer segments"
            )
        ends = np.clip([self.frequency - step / 2, self.frequency + step / 2], 0.0, top)
        inside = np.clip(ends[1], low, high) - np.clip(ends[0], low, high)
        return np.sqrt(step * (inside / (ends[1] - ends[0])) @ self.density)


def jitter(t: Any, angle: Any, segments: int = 1) -> Jitter:
    """Return the jitter of angles over time.

    Parameters
    ----------
    t : (n,) [s]
        Evenly spaced.
    angle : (n, axes) or (n,) [rad]
        Such as the signal `angle` of `LineOfSight`; leave out what settles first.
    segments : int
        Parts that the spectrum is the mean of, each overlapping the next by half; more make it smoother and coarser.
    """
    try:
        times, y = np.asarray(t, float), np.asarray(angle, float)
    except (TypeError, ValueError):
        raise InputError(Finding("jitter", "what are no numbers", "numbers for t and angle")) from None
    y = y[:, None] if y.ndim == 1 else y
    if times.ndim != 1 or y.ndim != 2 or len(times) != len(y):
        raise InputError(
            Finding("jitter, angle", f"shape {np.shape(angle)} at {len(times)} times", "a row for each time")
        )
    if isinstance(segments, bool) or not isinstance(segments, int) or not 1 <= segments <= len(times) // 8:
        expected = f"an integer from 1 to {len(times) // 8}, so that each has 8 times at least"
        raise InputError(Finding("jitter, segments", repr(segments), expected))
    if not np.isfinite(y).all():
        raise InputError(
            Finding(
                "jitter, angle", "numbers that are not finite", "finite numbers", "Cut a run where it fails."
            )
        )
    steps = np.diff(times)
    if not steps.min() > 0 or np.ptp(steps) > 1e-6 * steps.mean():
        found = f"steps from {steps.min():.4g} to {steps.max():.4g} s"
        raise InputError(
            Finding("jitter, t", found, "evenly spaced times", "Log with a fixed step, or interpolate.")
        )
    length = 2 * len(times) // (segments + 1)
    from scipy.signal import welch  # a run without it must not wait for SciPy

    frequency, density = welch(y, 1 / steps.mean(), "hann", length, axis=0)
    return Jitter(y.std(axis=0), frequency, density)
