"""Rows of shells: how long a large model takes from its elements to its modes."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np

from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort
from articulus.structure import Plate, Structure, normal_modes, panel

PLATE = Plate.isotropic(0.005, 7e10, 0.3, 2700.0)
MODES = 20
ALLOWED = 1e-6
"""Largest distance from orthonormal modes."""


def modes(effort: Effort) -> Iterator[Measurement]:
    """Yield assembly and the lowest modes of a plate clamped at one side, with all six degrees of freedom a node: thin, and thick."""
    yield from _modes(effort, "shells", thick=False)
    yield from _modes(effort, "thick shells", thick=True)


def _modes(effort: Effort, kind: str, *, thick: bool) -> Iterator[Measurement]:
    side = 20 if effort.quick else 100
    bar = None if effort.quick else FigureLimit(10, at_least=False, unit="s")
    start = perf_counter()
    plate = panel(2.0, 1.0, PLATE, elements=(side, side), supports={"root": "all"}, thick=thick)
    assembled = perf_counter() - start
    found = normal_modes(plate, MODES)
    seconds = perf_counter() - start
    gap = distance(plate, found.omega, found.shapes)
    name = f"{kind}, {side * side:,} elements, {MODES} modes"
    if not gap <= ALLOWED:
        yield Measurement(
            name, plate.count, failed=True, note=f"not orthonormal by {gap:.1e}, allowed {ALLOWED:.0e}"
        )
        return
    note = f"assembly {assembled:.2g} s; {plate.count:,} degrees of freedom; orthonormal to {gap:.0e}"
    yield Measurement(name, plate.count, ours_us=1e6 * seconds, value=seconds, unit="s", bar=bar, note=note)


def distance(s: Structure, omega: np.ndarray, shapes: np.ndarray) -> float:
    """Return how far shapes are from normal modes: phi_i' K phi_j / (omega_i omega_j) and phi_i' M phi_j from the unit matrix."""
    unit = np.eye(len(omega))
    K = shapes.T @ (s.K @ shapes) / np.outer(omega, omega)
    return float(max(np.abs(K - unit).max(), np.abs(shapes.T @ (s.M @ shapes) - unit).max()))
