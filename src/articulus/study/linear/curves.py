"""What a controller does to a linear plant, as plain data for the page: every number is one of `articulus.control`.

`curves(plant, controller)` returns

    channels   [{name, omega, magnitude, phase, marks}]  loop at each command, the others closed; [rad/s], [-], [deg] unwrapped;
               marks: {gain_up, omega_up, gain_down, omega_down, phase, omega_phase, delay, disk, omega_disk, sensitivity}, null without limit
    stable     bool   whether the closed loop is
    all        {disk, sensitivity}   of all commands at once
    values     {omega, plant, loop, sensitivity, complementary}   singular values, a list for each, the largest first [-, or output over input]
    loci       {omega, re, im, turns, unstable, away, at} or {failure}   characteristic gain loci of the loop: re[k], im[k] are one
    steps      {t, inputs, outputs, units, values}   values[i][j]: output i after a unit step of input j: references, then disturbances
    locus      {gain, re, im, zeros}   poles of the closed loop over a common factor of the controller's gain: re[k], im[k] are one pole
    poles      [{re, im, omega, zeta}]   of the closed loop [rad/s]
    period     float or null

and `pairs(plant)` {inputs, outputs, input_units, output_units, omega, magnitude, phase}, magnitude[i][j] being output i over input j. Numbers that are not finite are null.
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from typing import Any

import numpy as np

from articulus import control
from articulus.control.analysis.gain_loci import follow, gain_loci
from articulus.control.analysis.margins import ChannelMargins, Margins
from articulus.control.connect import close, select
from articulus.errors import ArticulusError, DoubtfulResult, InputError
from articulus.linear import LinearModel
from articulus.linear.connect import matching
from articulus.linear.figures import frequencies, step_response, times
from articulus.linear.model import rates

MOST = 6
"""Inputs and outputs whose pairs are drawn."""
POINTS = 240
"""Points of a curve over frequency or time."""
GAINS = np.geomspace(1e-3, 1e3, 181)
"""Factors of the controller's gain with which a root locus begins."""
LEAP, ROUNDS, MOST_GAINS = 0.05, 5, 600
"""Move of a pole, over its size and that of the middle one, beyond which a gain is put between two; how often, and how many gains at most."""


def curves(plant: LinearModel, controller: LinearModel) -> dict[str, Any]:
    """Return the curves of a plant with its controller, u = K y; see the module."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulResult)  # that the loop is unstable is part of the answer
        loop = cut(plant, controller)
        found = control.margins(loop)
        u = np.array(matching(plant.inputs, controller, "output", "curves"))
        y = np.array(matching(plant.outputs, controller, "input", "curves"))
        closed = close(plant, controller, u, y)
        omega = _grid(closed, loop)
        return {
            "channels": _channels(loop, found, omega),
            "stable": found.stable,
            "all": _all_finite(disk=found.disk.size, sensitivity=found.sensitivity.value),
            "values": _singular_values(select(plant, u, y), loop, omega),
            "loci": _loci(loop),
            "steps": _steps(plant, controller, closed, u, y),
            "locus": _locus(plant, controller, loop, u, y),
            "poles": plain_poles(closed.poles),
            "period": closed.period,
        }


def cut(plant: LinearModel, controller: LinearModel, at: str = "commands") -> LinearModel:
    """Return the loop of a plant and its controller cut open, as `control.open_loop` does."""
    loop = control.open_loop(plant, controller, at)
    assert isinstance(loop, LinearModel)
    return loop


def pairs(plant: LinearModel) -> dict[str, Any]:
    """Return the frequency responses of a plant from each of its first inputs to each of its first outputs."""
    shown = select(plant, range(min(MOST, len(plant.inputs))), range(min(MOST, len(plant.outputs))))
    omega = _thin(frequencies(shown))
    values = shown.response(omega)
    cells = [
        [_gain_and_phase(values[:, i, j]) for j in range(values.shape[2])] for i in range(values.shape[1])
    ]
    return {
        **{key: list(getattr(shown, key)) for key in ("inputs", "outputs", "input_units", "output_units")},
        "omega": omega.tolist(),
        "magnitude": [[cell[0] for cell in row] for row in cells],
        "phase": [[cell[1] for cell in row] for row in cells],
    }


def plain_poles(poles: np.ndarray) -> list[dict[str, float | None]]:
    """Return finite poles with their frequency and damping ratio, the slowest first."""
    inside = sorted(poles[np.isfinite(poles)], key=abs)
    return [
        {"re": s.real, "im": s.imag, "omega": abs(s), "zeta": -s.real / abs(s) if abs(s) else None}
        for s in map(complex, inside)
    ]


def robustness(loop: LinearModel, percent: float) -> dict[str, Any]:
    """Return mu of a loop whose commands each have dynamics that are off by some percent, and the perturbation that is worst.

    Returns
    -------
    dict
        omega, upper, lower: over frequency; peak, everywhere: greatest upper bound, and whether it is shown between the frequencies too; size: of the least
        perturbation found that destabilizes, over the percent given, null if none; at: its frequency [rad/s]; worst: for each command
        {name, gain [-], phase [deg]}: the factor that it then has.
    """
    if not 0.0 < percent < 1000.0:
        raise InputError(f"uncertainty: found {percent:g} %; expected a number above 0, below 1000")
    size, m = 0.01 * percent, len(loop.inputs)
    complementary = loop.feedback()
    seen = dataclasses.replace(complementary, C=-size * complementary.C, D=-size * complementary.D)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulResult)  # `everywhere` says it
        found = control.robstab(seen, [(1, 1)] * m)
    factors = 1.0 + size * np.diagonal(found.delta)
    worst = [
        {"name": name, "gain": float(abs(x)), "phase": float(np.degrees(np.angle(x)))}
        for name, x in zip(loop.inputs, factors)
    ]
    return _mu(found) | {"worst": worst if found.lower > 0 else []}


def parameter_robustness(
    found: Any, ranges: dict[str, tuple[float, float]], units: dict[str, str]
) -> dict[str, Any]:
    """Return mu of a `RobustStability` over ranges of parameters as `robustness` does; worst: {name, value, unit, low, high} of each parameter."""
    worst = [
        {
            "name": name,
            "value": float(x),
            "unit": units.get(name, ""),
            "low": ranges[name][0],
            "high": ranges[name][1],
        }
        for name, x in found.worst.items()
    ]
    return _mu(found) | {"worst": worst}


def _mu(found: Any) -> dict[str, Any]:
    shown = (found.omega > 0) & np.isfinite(found.omega)
    order = np.argsort(found.omega[shown], kind="stable")
    return {
        "omega": found.omega[shown][order].tolist(),
        "upper": finite(found.mu.upper[shown][order]),
        "lower": finite(found.mu.lower[shown][order]),
        "peak": _number(found.upper),
        "everywhere": bool(found.everywhere),
        "size": 1.0 / found.lower if found.lower > 0 else None,
        "at": _number(found.frequency) if found.lower > 0 else None,
    }


# parts of `curves`


def _grid(*models: LinearModel) -> np.ndarray:
    """Return rising frequencies that show all of some models [rad/s]."""
    return _thin(np.unique(np.concatenate([frequencies(model, POINTS) for model in models])))


def _thin(omega: np.ndarray) -> np.ndarray:
    """Return at most twice as many frequencies as a curve has points, first and last among them."""
    every = max(1, math.ceil(len(omega) / (2 * POINTS)))
    return np.unique(np.append(omega[::every], omega[-1:]))


def _channels(loop: LinearModel, found: Margins, omega: np.ndarray) -> list[dict[str, Any]]:
    identity = np.eye(len(loop.inputs))
    values = loop.response(omega)
    good = np.isfinite(values).all(axis=(1, 2))
    transfers = np.full((len(omega), len(identity)), np.nan, dtype=complex)
    with np.errstate(divide="ignore", invalid="ignore"):
        transfers[good] = 1.0 / np.diagonal(np.linalg.inv(identity + values[good]), axis1=1, axis2=2) - 1.0
    out = []
    for k, channel in enumerate(found.channels):
        magnitude, phase = _gain_and_phase(transfers[:, k])
        about = {"name": channel.channel, "omega": omega.tolist(), "magnitude": magnitude, "phase": phase}
        out.append(about | {"marks": _marks(channel)})
    return out


def _marks(c: ChannelMargins) -> dict[str, float | None]:
    return _all_finite(
        gain_up=c.gain_up,
        omega_up=c.omega_up,
        gain_down=c.gain_down,
        omega_down=c.omega_down,
        phase=math.degrees(c.phase),
        omega_phase=c.omega_phase,
        delay=c.delay,
        disk=c.disk.size,
        omega_disk=c.disk.omega,
        sensitivity=c.sensitivity.value,
    )


def _singular_values(plant: LinearModel, loop: LinearModel, omega: np.ndarray) -> dict[str, Any]:
    def of(values: np.ndarray) -> list[list[float | None]]:
        out = np.full((len(values), min(values.shape[1:])), np.nan)
        good = np.isfinite(values).all(axis=(1, 2))
        out[good] = np.linalg.svd(values[good], compute_uv=False)
        return [finite(column) for column in out.T[:MOST]]

    L = loop.response(omega)
    S = np.full_like(L, np.nan)
    good = np.isfinite(L).all(axis=(1, 2))
    S[good] = np.linalg.inv(np.eye(L.shape[1]) + L[good])
    return {
        "omega": omega.tolist(),
        "plant": of(plant.response(omega)),
        "loop": of(L),
        "sensitivity": of(S)[:1],
        "complementary": of(np.eye(L.shape[1]) - S)[:1],
    }


def _loci(loop: LinearModel) -> dict[str, Any]:
    try:
        found = gain_loci(loop)
    except ArticulusError as error:
        return {"failure": str(error)}
    inside = np.isfinite(found.loci).all(axis=1) & np.isfinite(found.omega)
    rows = np.flatnonzero(inside)[:: max(1, int(inside.sum()) // 1500)]
    away, at = found.nearest
    return {
        "omega": found.omega[rows].tolist(),
        "re": [finite(x) for x in found.loci[rows].real.T],
        "im": [finite(x) for x in found.loci[rows].imag.T],
        "turns": found.turns,
        "unstable": found.unstable_closed,
        "away": _number(away),
        "at": _number(at),
    }


def _steps(
    plant: LinearModel, controller: LinearModel, closed: LinearModel, u: np.ndarray, y: np.ndarray
) -> dict[str, Any]:
    """Return the measured outputs after unit steps of their references, and of disturbances at the commands."""
    tracked = cut(plant, controller, at="measured").feedback()
    disturbed = select(closed, u[:MOST], y[:MOST])
    t = times(closed, POINTS)
    t = t[: 4 * POINTS]
    both = [
        step_response(select(tracked, range(len(y[:MOST])), range(len(y[:MOST]))), t),
        step_response(disturbed, t),
    ]
    values = np.concatenate(both, axis=2)
    names = [plant.outputs[i] for i in y[:MOST]]
    return {
        "t": t.tolist(),
        "inputs": [f"reference of {name}" for name in names]
        + [f"disturbance at {plant.inputs[j]}" for j in u[:MOST]],
        "outputs": names,
        "units": [plant.output_units[i] for i in y[:MOST]],
        "values": [[finite(values[:, i, j]) for j in range(values.shape[2])] for i in range(values.shape[1])],
    }


def _locus(
    plant: LinearModel, controller: LinearModel, loop: LinearModel, u: np.ndarray, y: np.ndarray
) -> dict[str, Any]:
    """Return the poles of the closed loop while the gain of the controller goes from nearly nothing to a thousand times it."""

    def poles(gain: float) -> np.ndarray:
        scaled = dataclasses.replace(controller, C=gain * controller.C, D=gain * controller.D)
        return np.linalg.eigvals(close(plant, scaled, u, y).A)

    gains, values = GAINS, np.array([poles(gain) for gain in GAINS])
    for _ in range(ROUNDS):
        values = follow(values)
        sizes = np.abs(values[:-1]) + np.median(np.abs(values[:-1]), axis=1, keepdims=True)
        far = np.flatnonzero((np.abs(np.diff(values, axis=0)) > LEAP * sizes).any(axis=1))[
            : MOST_GAINS - len(gains)
        ]
        if not len(far):
            break
        between = np.sqrt(gains[far] * gains[far + 1])
        values = np.insert(values, far + 1, np.array([poles(gain) for gain in between]), axis=0)
        gains = np.insert(gains, far + 1, between)
    paths = rates(follow(values), loop.period)
    try:
        zeros = control.tzero(loop).transmission
    except ArticulusError:
        zeros = np.zeros(0, dtype=complex)
    return {
        "gain": finite(gains),
        "re": [finite(x) for x in paths.real.T],
        "im": [finite(x) for x in paths.imag.T],
        "zeros": plain_poles(rates(zeros, loop.period)),
    }


def _gain_and_phase(values: np.ndarray) -> tuple[list[float | None], list[float | None]]:
    good = np.isfinite(values)
    phase = np.full(len(values), np.nan)
    phase[good] = np.degrees(np.unwrap(np.angle(values[good])))
    return finite(np.abs(values)), finite(phase)


def _number(x: float) -> float | None:
    return float(x) if math.isfinite(x) else None


def _all_finite(**values: float) -> dict[str, float | None]:
    return {name: _number(x) for name, x in values.items()}


def finite(values: np.ndarray) -> list[float | None]:
    """Return numbers with seven digits, null where they are not finite."""
    return [float(f"{x:.7g}") if math.isfinite(x) else None for x in values]
