"""Rows of shells: how long a large model takes from its elements to its modes."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np

from articulus.bench.row import Bar, Row
from articulus.bench.rows import Effort
from articulus.structure import Plate, Structure, normal_modes, panel

PLATE = Plate.isotropic(0.005, 7e10, 0.3, 2700.0)
MODES = 20
RESIDUAL = 1e-6
"""Largest K phi - omega^2 M phi, beside the largest K phi."""


def modes(effort: Effort) -> Iterator[Row]:
    """Give assembly and the lowest modes of a plate clamped at one side, with all six degrees of freedom a node."""
    side = 20 if effort.quick else 100
    bar = None if effort.quick else Bar(10, at_least=False, unit="s")
    start = perf_counter()
    plate = panel(2.0, 1.0, PLATE, elements=(side, side), supports={"root": "all"})
    assembled = perf_counter() - start
    found = normal_modes(plate, MODES)
    seconds = perf_counter() - start
    gap = residual(plate, found.omega, found.shapes)
    name = f"shells, {side * side:,} elements, {MODES} modes"
    if not gap <= RESIDUAL:
        yield Row(name, plate.count, failed=True, note=f"residual {gap:.1e}, allowed {RESIDUAL:.0e}")
        return
    note = f"assembly {assembled:.2g} s; {plate.count:,} degrees of freedom; residual {gap:.0e}"
    yield Row(name, plate.count, ours_us=1e6 * seconds, value=seconds, unit="s", bar=bar, note=note)


def residual(s: Structure, omega: np.ndarray, shapes: np.ndarray) -> float:
    """Return the largest K phi - omega^2 M phi of any mode, beside the largest K phi."""
    K = s.K @ shapes
    return float((np.abs(K - (s.M @ shapes) * omega**2).max(axis=0) / np.abs(K).max(axis=0)).max())
