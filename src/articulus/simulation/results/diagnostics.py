"""Run diagnostics: balance of energy, drift of momentum, residuals of constraints, steps, origin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from articulus.simulation.results.run import Run


def figures(run: Run) -> list[tuple[str, str]]:
    """Return pairs of name and text."""
    return [*_ending(run), *_energy(run), *_momentum(run), *_constraint(run), *_work(run), *_origin(run)]


def energy_error(run: Run) -> tuple[float, float]:
    """Return the largest energy that is unaccounted for [J], and the energy at play [J].

    The signal "energy" has the entries kinetic, potential, input, dissipated and balance: stored minus stored at the
    start minus input plus dissipated, zero for an exact solution. At play is the largest kinetic energy, or the largest change
    of any of the first four.
    """
    errors, at_play = energy_errors(run)
    return float(errors.max()), float(at_play.max())


def energy_errors(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Return what `energy_error` does for each run of a batch, (batch,) each, or for one run numbers without axes."""
    energy = run.signals["energy"]
    parts = [energy.entry(name) for name in ("kinetic", "potential", "input", "dissipated")]
    changes = [_largest(part - part[..., :1], -1) for part in parts]
    at_play = np.maximum.reduce([_largest(parts[0], -1), *changes])
    return np.asarray(_largest(energy.entry("balance"), -1)), np.asarray(at_play)


def momentum_change(run: Run) -> dict[str, float]:
    """Return by unit the largest change of an entry of the momentum since the start."""
    return {unit: float(np.max(change)) for unit, change in momentum_changes(run).items()}


def momentum_changes(run: Run) -> dict[str, np.ndarray]:
    """Return what `momentum_change` does for each run of a batch, (batch,)."""
    momentum = run.signals["momentum"]
    change = momentum.values - momentum.values[..., :1, :]
    units = np.array(momentum.units)
    return {
        unit: np.asarray(_largest(change[..., units == unit], (-2, -1)))
        for unit in dict.fromkeys(momentum.units)
    }


def _ending(run: Run) -> Iterator[tuple[str, str]]:
    for failure in run.failures[:3]:
        yield "failure", str(failure)
    if len(run.failures) > 3:
        yield "", f"and {len(run.failures) - 3} more"
    for warning in run.warnings[:3]:
        yield "warning", str(warning)
    if len(run.warnings) > 3:
        yield "", f"and {len(run.warnings) - 3} more"
    if run.events:
        names = list(dict.fromkeys(e.name for e in run.events))
        yield "events", f"{len(run.events)}: {', '.join(names[:6])}{', ...' if len(names) > 6 else ''}"


def _energy(run: Run) -> Iterator[tuple[str, str]]:
    if "energy" in run.signals:
        error, at_play = energy_error(run)
        share = f", {error / at_play:.2g} of the {at_play:.3g} J at play" if at_play > 0 else ""
        yield "energy balance error", f"{error:.2g} J{share}"


def _momentum(run: Run) -> Iterator[tuple[str, str]]:
    if "momentum" in run.signals:
        texts = [f"{change:.2g} {unit}" for unit, change in momentum_change(run).items()]
        yield "momentum change", ", ".join(texts)


def _constraint(run: Run) -> Iterator[tuple[str, str]]:
    start = run.meta.get("start") or {}
    if start and max(start["moved"].values()) > 0:
        texts = [f"{name} by up to {change:.3g}" for name, change in start["moved"].items() if change > 0]
        yield "start moved", ", ".join(texts)
    if start and start["redundant"]:
        yield (
            "redundant rows",
            f"{len(start['redundant'])} of {start['rows']}: {_list(start['redundant'])}",
        )
    if "constraint" in run.signals:
        residual = run.signals["constraint"]
        texts = [
            f"{label} {_largest(residual.entry(label)):.2g}{'' if unit == '-' else ' ' + unit}"
            for label, unit in zip(residual.labels, residual.units)
        ]
        yield "constraint residual", ", ".join(texts)


def _list(names: list[str]) -> str:
    return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")


def _work(run: Run) -> Iterator[tuple[str, str]]:
    counts = [
        f"{run.statistics[k]:,} {k}" for k in ("steps", "evaluations", "rejected") if k in run.statistics
    ]
    if counts:
        yield "work", ", ".join(counts)
    if "wall_seconds" in run.statistics:
        ratio = run.statistics.get("real_time_ratio")
        speed = "" if ratio is None else f", {ratio:.3g} times real time"
        yield "wall-clock time", f"{run.statistics['wall_seconds']:.3g} s{speed}"


def _origin(run: Run) -> Iterator[tuple[str, str]]:
    meta = run.meta
    if "method" in meta:
        step = "" if meta.get("step") is None else f", step {meta['step']:g} s"
        yield "method", f"{meta['method']}{step}"
    if meta.get("settings", {}).get("loops"):
        yield "loops", meta["settings"]["loops"]
    if meta.get("seed") is not None:
        yield "seed", "one for each run" if isinstance(meta["seed"], list) else str(meta["seed"])
    yield (
        "model",
        f"{run.mechanism.name}, {meta.get('fingerprint', run.mechanism.description.fingerprint)[:12]}",
    )
    if "versions" in meta:
        yield "versions", ", ".join(f"{name} {number}" for name, number in meta["versions"].items())
    if "date" in meta:
        yield "date", str(meta["date"])


def _largest(values: np.ndarray, axis: int | tuple[int, ...] | None = None) -> Any:
    """Return the largest size along axes; NaN, which fills the time after the end of a run, does not count."""
    sizes = np.abs(values)
    return np.max(sizes, axis=axis, initial=0.0, where=~np.isnan(sizes))
