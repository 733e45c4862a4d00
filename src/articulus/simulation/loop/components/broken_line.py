"""Functions that are straight between given points and beyond the last ones, and their integrals, on symbols."""

from __future__ import annotations

import itertools
import math
from typing import Any

import casadi as ca
from casadi import SX

from articulus.errors import InputError, unlike
from articulus.model.mechanism.numbers import value_of
from articulus.simulation.loop.component import Scope
from articulus.simulation.loop.components.columns import Rows, as_matrix


def as_points(x: Any) -> Rows | None:
    """Return rows of x and y, x ascending plain numbers, or None for None; raise InputError for anything else."""
    if x is None:
        return None
    rows = as_matrix(x)
    if len(rows) < 2 or len(rows[0]) != 2:
        raise unlike("at least 2 rows of 2 numbers", f"{len(rows)} x {len(rows[0])}")
    at = [row[0] for row in rows]
    if not all(isinstance(a, float) and math.isfinite(a) for a in at):
        raise InputError("expected plain finite numbers in the first column")
    if any(not value_of(a) < value_of(b) for a, b in itertools.pairwise(at)):
        raise InputError("expected ascending numbers in the first column, each once")
    return rows


def broken_line(s: Scope, points: Rows, x: SX) -> tuple[SX, SX]:
    """Return y at x, and its integral from the first point to x.

    y = y_0 + k_0 (x - x_0) + sum of (k_i - k_{i-1}) max(x - x_i, 0) over the points between the first and the last.
    """
    at, y = [value_of(row[0]) for row in points], [s.number(row[1]) for row in points]
    slopes = [(b - a) / (end - start) for a, b, start, end in zip(y, y[1:], at, at[1:])]
    since = x - at[0]
    value, integral = y[0] + slopes[0] * since, y[0] * since + slopes[0] * since**2 / 2
    for bend, before, after in zip(at[1:], slopes, slopes[1:]):
        beyond = ca.fmax(x - bend, 0)
        value += (after - before) * beyond
        integral += (after - before) * beyond**2 / 2
    return value, integral
