"""PID by bandwidth and phase margin (`pidtune` in MATLAB)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.control.analysis.margins import margins
from articulus.control.analysis.open_loop import open_loop
from articulus.control.connect import select
from articulus.control.design import Check, Design, check_design, named_controller
from articulus.control.plant import Group, as_plant, places
from articulus.errors import DoubtfulResult, InputError

INTEGRAL, FILTER = 0.15, 10.0
"""Corner of the integral part over the crossover frequency, and of the filter of the derivative over it."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PidDesign(Design):
    """A PID controller, kp + ki / s + kd s / (1 + s / n) or its sampled form.

    Parameters
    ----------
    kp : float
        Gain of the error.
    ki : float
        Gain of its integral [1/s].
    kd : float
        Gain of its derivative [s].
    n : float
        Corner of the derivative [rad/s].
    gain_margin : float
        Factor by which the gain may grow.
    phase_margin : float
        [deg]
    """

    kp: float
    ki: float
    kd: float
    n: float
    gain_margin: float
    phase_margin: float


def pidtune(
    plant: Any,
    crossover: float,
    phase_margin: float = 60.0,
    *,
    integral: bool = True,
    commands: Group = None,
    measured: Group = None,
) -> PidDesign:
    """Return u = -(kp + ki / s + kd s / (1 + s / n)) y with the given crossover frequency and phase margin.

    Parameters
    ----------
    plant : see `as_plant`
        Continuous; from one command to one measured output.
    crossover : float [rad/s]
        Where the loop gain is one.
    phase_margin : float [deg]
        There; raises InputError with what is possible if lead of a PID cannot give it.
    integral : bool
        Whether there is an integral part (corner at 0.15 of the crossover); a PD otherwise.
    commands, measured : name
        One of each, needed if the plant has several.

    Returns
    -------
    Design
        Figures: `kp`, `ki`, `kd`, `n` [rad/s], `gain_margin`, `phase_margin` [deg].
    """
    model = as_plant(plant, "pidtune")
    u, y = (
        places(model.inputs, commands, "input", "pidtune"),
        places(model.outputs, measured, "output", "pidtune"),
    )
    if model.period is not None:
        raise InputError(
            f"pidtune: found a plant sampled every {model.period:g} s; expected a continuous one (then `sample` the controller)"
        )
    if len(u) != 1 or len(y) != 1:
        raise InputError(
            f"pidtune: found {len(u)} commands and {len(y)} measured outputs; expected one each: name them by commands and measured"
        )
    if not 0 < crossover < np.inf:
        raise InputError(f"pidtune: found crossover {crossover:g} rad/s; expected a number above 0")
    response = select(model, u, y).response([crossover])[0, 0, 0]
    if not np.isfinite(response) or response == 0:
        raise InputError(
            f"pidtune: the plant has a pole or a zero at {crossover:g} rad/s; expected another crossover"
        )
    # C = kp + ki/s + kd s/(1 + s/n): the integral part takes atan(INTEGRAL), lead must make up for the rest
    needed = np.radians(phase_margin) - np.pi - np.angle(response)
    needed = (needed + np.pi) % (2 * np.pi) - np.pi
    ki_over = INTEGRAL * crossover if integral else 0.0
    n = FILTER * crossover
    rate = 1j * crossover / (1 + 1j * crossover / n)
    base = 1 + ki_over / (1j * crossover)
    kd_over = _lead(base, rate, needed, np.radians(phase_margin))
    if kd_over is None:
        most = np.degrees(np.angle(base + 1e9 * rate))
        raise InputError(
            f"pidtune: at {crossover:g} rad/s the controller would have to turn the phase by {np.degrees(needed):.1f} deg; a PID turns it by "
            f"{np.degrees(np.angle(base)):.1f} to {most:.1f} deg. Likely the crossover is too high, or the sign of the plant is reversed"
        )
    kp = 1 / abs(response * (base + kd_over * rate))
    ki, kd = kp * ki_over, kp * kd_over
    controller = named_controller(model, _matrices(kp, ki, kd, n), u, y, "pid")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulResult)  # an unstable loop is refused below
        margin = margins(open_loop(model, controller)).channels[0]
    phase = float(np.degrees(margin.phase))
    kept = Check("phase margin [deg]", phase, phase_margin, phase > phase_margin - 1.0)
    figures = {"kp": kp, "ki": ki, "kd": kd, "n": n, "gain_margin": margin.gain_up, "phase_margin": phase}
    return check_design(PidDesign, "pid", model, controller, u, y, figures, [kept])


def _lead(base: complex, rate: complex, needed: float, margin: float) -> float | None:
    """Return the derivative gain, over kp, at which base + k rate has the needed phase; zero if base leads enough already."""
    spare = np.angle(base) - needed
    if spare >= 0.0:
        return (
            0.0 if margin + spare < np.pi else None
        )  # beyond half a turn the plant lags too much, not too little
    turned = np.exp(-1j * needed)
    slope = (rate * turned).imag
    k = -(base * turned).imag / slope if slope else np.inf
    return float(k) if 0 <= k < np.inf and ((base + k * rate) * turned).real > 0 else None


def _matrices(kp: float, ki: float, kd: float, n: float) -> tuple[np.ndarray, ...]:
    """Return (A, B, C, D) of u = -PID y; without states for the parts that are zero."""
    parts, D = [], -kp
    if ki:
        parts.append((0.0, -ki))
    if kd:  # kd s / (1 + s/n) = kd n - kd n^2 / (s + n)
        parts.append((-n, kd * n * n))
        D -= kd * n
    A, C = (
        np.diag([pole for pole, _ in parts]).reshape(len(parts), len(parts)),
        np.array([[c for _, c in parts]]),
    )
    return A, np.ones((len(parts), 1)), C.reshape(1, len(parts)), np.array([[D]])
