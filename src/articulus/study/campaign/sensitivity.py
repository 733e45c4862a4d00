"""What a figure depends on: main effects and a tornado from any table, Sobol indices from a Saltelli design."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from articulus.errors import InputError
from articulus.numerics.streams import stream
from articulus.study.campaign.samplers import Saltelli, Sampler

BINS = 10
RESAMPLES = 500


@dataclass(frozen=True, eq=False)
class Effect:
    """How the mean of a figure changes with one input, the others varying as they do.

    Parameters
    ----------
    name : str
    centers, means, errors : array, (bins,)
        Mean of the input and of the figure in each of some equally full bins, and the standard error of the latter.
    share : float
        Share of the variance of the figure that these means explain (correlation ratio, freed of its bias): for independent inputs an
        estimate of the first Sobol index.
    rank : float
        Rank correlation: +1 where the figure only rises with the input.
    """

    name: str
    centers: np.ndarray
    means: np.ndarray
    errors: np.ndarray
    share: float
    rank: float

    @property
    def swing(self) -> float:
        """Change of the mean from the lowest to the highest bin."""
        return float(self.means[-1] - self.means[0]) if self.means.size else math.nan


def main_effects(
    inputs: Mapping[str, np.ndarray], values: np.ndarray, bins: int = BINS
) -> tuple[Effect, ...]:
    """Return the effect of each input on a figure, the largest share first; runs without a finite figure are omitted."""
    from scipy.stats import rankdata

    y = np.asarray(values, dtype=float)
    good = np.isfinite(y)
    ranks = rankdata(y[good])
    found = [
        _effect(name, np.asarray(x, dtype=float)[good], y[good], ranks, bins) for name, x in inputs.items()
    ]
    return tuple(sorted(found, key=lambda e: -e.share if e.share == e.share else math.inf))


def tornado(effects: Sequence[Effect]) -> tuple[Effect, ...]:
    """Return effects by their swing, the largest first."""
    return tuple(sorted(effects, key=lambda e: -abs(e.swing) if e.swing == e.swing else math.inf))


def _effect(name: str, x: np.ndarray, y: np.ndarray, ranks: np.ndarray, bins: int) -> Effect:
    from scipy.stats import rankdata

    placed = rankdata(x)
    group = _groups(x, placed, bins)
    count = np.bincount(group)
    centers, means = np.bincount(group, x) / count, np.bincount(group, y) / count
    squares = np.bincount(group, (y - means[group]) ** 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        errors = np.sqrt(squares / (count - 1) / count)
    total, within = float(((y - y.mean()) ** 2).sum()) if y.size else 0.0, float(squares.sum())
    free = y.size - count.size
    share = math.nan
    if total > 0 and free > 0:
        share = 1 - (within / free) / (total / (y.size - 1))
    rank = math.nan
    if y.size > 1 and total > 0 and np.ptp(x) > 0:
        rank = float(np.corrcoef(placed, ranks)[0, 1])
    return Effect(name, centers, means, errors, share, rank)


def _groups(x: np.ndarray, ranks: np.ndarray, bins: int) -> np.ndarray:
    """Return the bin of each value: one per distinct value where there are few, else equally full ones; equal values share one."""
    if np.unique(x[:1000]).size <= bins:
        distinct, inverse = np.unique(x, return_inverse=True)
        if distinct.size <= bins:
            return inverse
    group = ((ranks - 0.5) * min(bins, max(1, x.size // 2)) / x.size).astype(int)
    return np.unique(group, return_inverse=True)[1] if np.bincount(group).min() == 0 else group


@dataclass(frozen=True, eq=False)
class Indices:
    """Sobol indices of a figure: shares of its variance.

    Parameters
    ----------
    names : tuple of str
        Names of the axes.
    first, total : array, (axes,)
        Share of an axis alone, and of it with all its interactions.
    second_order : array, (axes, axes) or None
        Share of the interaction of two axes alone; NaN on the diagonal.
    first_bounds, total_bounds, second_bounds : array, (2, ...)
        Bounds with the confidence, by resampling the pairs of points.
    variance : float
    pairs, left_out : int
        Pairs of points used, and those left out because one of their runs failed.
    confidence : float
    """

    names: tuple[str, ...]
    first: np.ndarray
    total: np.ndarray
    second_order: np.ndarray | None
    first_bounds: np.ndarray
    total_bounds: np.ndarray
    second_bounds: np.ndarray | None
    variance: float
    pairs: int
    left_out: int
    confidence: float


def sobol_indices(
    sampler: Sampler, values: np.ndarray, names: Sequence[str], confidence: float = 0.95, seed: int = 0
) -> Indices:
    """Return the Sobol indices of a figure of a campaign with a Saltelli design.

    Parameters
    ----------
    sampler : Saltelli
    values : array, (runs,)
        The figure of each run, in the order of their numbers.
    names : sequence of str
        Names of the axes.
    confidence : float
    seed : int
        Seed of the resampling.

    Raises
    ------
    InputError
        The design is another one: the indices cannot be computed from it.
    """
    if not isinstance(sampler, Saltelli):
        raise InputError(
            f"Sobol indices: found a table of the design {type(sampler).__name__}; expected sampler = 'saltelli', whose runs "
            "exchange one input at a time. Main effects can be computed from any table"
        )
    n = len(sampler.groups)
    if len(names) != n:
        raise InputError(f"Sobol indices: found {len(names)} names; expected {n}, one per axis")
    y = np.asarray(values, dtype=float)
    blocks = y[: y.size // sampler.block * sampler.block].reshape(-1, sampler.block)
    good = np.isfinite(blocks).all(axis=1)
    blocks, left_out = blocks[good], int((~good).sum())
    if len(blocks) < 16:
        raise InputError(
            f"Sobol indices: found {len(blocks)} whole pairs of points ({left_out} with a failed run); expected at least 16, "
            "better a thousand"
        )
    terms = _terms(blocks - blocks[:, [0, -1]].mean(), n, sampler.second_order)
    found = _from_means(terms.mean(axis=0), n, sampler.second_order)
    if not found[3] > 0:
        raise InputError(
            "Sobol indices: found a figure that is the same in all runs; expected one that varies"
        )
    drawn = _resample(terms, n, sampler.second_order, seed)
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    bounds = [np.quantile(d, tails, axis=0) for d in drawn]
    second_order = _pairs(found[2], n) if sampler.second_order else None
    return Indices(
        tuple(names), found[0], found[1], second_order, bounds[0], bounds[1],
        np.stack([_pairs(b, n) for b in bounds[2]]) if sampler.second_order else None, float(found[3]), len(blocks), left_out, confidence,
    )  # fmt: skip


def _terms(y: np.ndarray, n: int, second_order: bool) -> np.ndarray:
    """Return, for each pair of points, the products whose means make the indices, (pairs, terms)."""
    A, B, AB = y[:, :1], y[:, -1:], y[:, 1 : n + 1]
    columns = [A, B, A**2, B**2, B * (AB - A), (A - AB) ** 2 / 2]
    if second_order:
        BA = y[:, n + 1 : 2 * n + 1]
        first, other = np.triu_indices(n, 1)
        columns.append(BA[:, first] * AB[:, other] - A * B)
    return np.concatenate(columns, axis=1)


def _from_means(
    m: np.ndarray, n: int, second_order: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return first, total and second_order indices and the variance from means of the terms, (..., terms)."""
    variance = (m[..., 2] + m[..., 3]) / 2 - ((m[..., 0] + m[..., 1]) / 2) ** 2
    scale = np.where(variance > 0, variance, np.nan)[..., None]
    first, total = m[..., 4 : 4 + n] / scale, m[..., 4 + n : 4 + 2 * n] / scale
    i, j = np.triu_indices(n, 1)
    pairs = m[..., 4 + 2 * n :] / scale - first[..., i] - first[..., j] if second_order else m[..., :0]
    return first, total, pairs, variance


def _resample(
    terms: np.ndarray, n: int, second_order: bool, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the indices of RESAMPLES random choices of the pairs, with repetition."""
    generator = stream(seed)
    count, means = len(terms), []
    for _ in range(RESAMPLES):
        times = np.bincount(generator.integers(count, size=count), minlength=count)
        means.append(times @ terms / count)
    first, total, pairs, _ = _from_means(np.array(means), n, second_order)
    return first, total, pairs


def _pairs(values: np.ndarray, n: int) -> np.ndarray:
    out = np.full((n, n), np.nan)
    i, j = np.triu_indices(n, 1)
    out[i, j] = out[j, i] = values
    return out
