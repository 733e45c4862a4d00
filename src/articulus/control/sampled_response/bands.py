"""One response from several sources, each trusted in its band: a model at low frequencies, measurements, a law above (Bennett 1989, section 1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from articulus.control.sampled_response.grid import FrequencyGrid
from articulus.errors import Finding, InputError, doubtful
from articulus.linear import LinearModel

Source = Callable[[np.ndarray], Any] | LinearModel | tuple[Any, Any]
APART = 0.3
"""Difference of two sources in the middle of their seam, over their size, from which on they are doubted to be of one plant."""


def merge_bands(
    sources: Sequence[Source], edges: Sequence[float], grid: FrequencyGrid, seam: float = 0.2
) -> np.ndarray:
    """Return samples on a grid (frequencies, p, m): below the first edge of the first source, and so on.

    Parameters
    ----------
    sources : sequence of functions of omega (n,) to (n, p, m) or (n,), LinearModel, or (omega, values)
        Exact, of a model, or measured: a table with rising omega (k,) [rad/s] and values (k, p, m) or (k,), linear in between. A table
        must reach over its band.
    edges : sequence of float [rad/s]
        Rising, one fewer than sources.
    grid : FrequencyGrid
    seam : float
        Width over which one source passes into the next, over the edge: smooth, or causal parts would ring.
    """
    limits = [float(x) for x in edges]
    if len(limits) != len(sources) - 1 or not sources or np.any(np.diff([0.0, *limits, np.inf]) <= 0):
        raise InputError(
            Finding(
                "merge_bands, edges",
                f"{limits} for {len(sources)} sources",
                "rising numbers above 0, one fewer than sources",
            )
        )
    if not 0 < seam < 1:
        raise InputError(Finding("merge_bands, seam", f"{seam}", "a number above 0 and below 1"))
    omega = np.abs(grid.omega)
    shares = _shares(omega, limits, seam)
    merged: np.ndarray | None = None
    for k, (source, share) in enumerate(zip(sources, shares)):
        used = share > 0
        if not used.any():
            continue
        values = _values(source, omega[used], k)
        merged = np.zeros((grid.count, *values.shape[1:]), dtype=complex) if merged is None else merged
        if values.shape[1:] != merged.shape[1:]:
            raise InputError(
                Finding(
                    f"merge_bands, sources[{k}]",
                    f"entries of shape {values.shape[1:]}",
                    f"those of the first, {merged.shape[1:]}",
                )
            )
        merged[used] += share[used, None, None] * values
    for k, edge in enumerate(limits):
        _compare(sources[k], sources[k + 1], edge, k)
    assert merged is not None
    return np.where(grid.omega[:, None, None] < 0, merged.conj(), merged)


def _shares(omega: np.ndarray, edges: Sequence[float], seam: float) -> list[np.ndarray]:
    """Return the share of each source at frequencies: they sum to one."""
    steps = [np.ones_like(omega)]
    for edge in edges:
        x = np.clip((np.log(omega / edge) / np.log1p(seam) + 1) / 2, 0.0, 1.0)
        steps.append(x**3 * (10 - 15 * x + 6 * x**2))
    steps.append(np.zeros_like(omega))
    return [now - after for now, after in pairwise(steps)]


def _values(source: Source, omega: np.ndarray, k: int) -> np.ndarray:
    where = f"merge_bands, sources[{k}]"
    if isinstance(source, LinearModel):
        found = source.response(omega)
    elif callable(source):
        found = np.asarray(source(omega), dtype=complex)
    else:
        w, table = np.asarray(source[0], dtype=float), np.asarray(source[1], dtype=complex)
        if w.ndim != 1 or len(w) != len(table) or np.any(np.diff(w) <= 0):
            raise InputError(
                Finding(
                    where, f"{len(w)} frequencies, {len(table)} values", "rising frequencies, one per value"
                )
            )
        if omega.min() < w[0] or omega.max() > w[-1]:
            raise InputError(
                Finding(
                    where,
                    f"a table from {w[0]:.4g} to {w[-1]:.4g} rad/s",
                    f"one over its band and seams, {omega.min():.4g} to {omega.max():.4g} rad/s",
                    "Move the edges, or take a narrower seam.",
                )
            )
        flat = table.reshape(len(w), -1)
        found = np.stack([np.interp(omega, w, x.real) + 1j * np.interp(omega, w, x.imag) for x in flat.T], 1)
        found = found.reshape(len(omega), *table.shape[1:])
    found = np.asarray(found, dtype=complex)
    found = found[:, None, None] if found.ndim == 1 else found
    if found.ndim != 3 or len(found) != len(omega) or not np.isfinite(found).all():
        raise InputError(
            Finding(where, f"values of shape {found.shape}", f"{len(omega)} finite ones, (n, p, m) or (n,)")
        )
    return found


def _compare(one: Source, other: Source, edge: float, k: int) -> None:
    """Doubt sources that differ at their edge."""
    a, b = (_values(source, np.array([edge]), k + i)[0] for i, source in enumerate((one, other)))
    apart = float(np.abs(a - b).max() / max(np.abs(a).max(), np.abs(b).max(), 1e-300))
    if apart > APART:
        doubtful(
            f"merge_bands: sources {k} and {k + 1} differ by {100 * apart:.3g} % at their edge, {edge:.4g} rad/s; expected two views of "
            "one plant"
        )
