"""Samplers: points of the unit cube for the runs of a campaign. Row i is computed from i and the seed alone, bit for bit."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from articulus.errors import InputError, did_you_mean
from articulus.numerics.streams import stream, uniform_rows, words
from articulus.study.campaign.distributions import Axis, Rows

SOBOL_BITS = 30
MOST_RUNS = 1 << SOBOL_BITS

CUBE, CELLS, SHUFFLE = 1, 2, 3
"""Streams of random numbers: points, places within the cells of a Latin hypercube, order of its cells."""


class Sampler(Protocol):
    """Where the runs of a campaign lie in the unit cube."""

    @property
    def dims(self) -> int:
        """Number of coordinates of a point."""

    def rows(self, first: int, count: int) -> np.ndarray:
        """Return the points of the runs from `first` on, (count, dims), each strictly between 0 and 1."""

    def require(self, runs: int) -> None:
        """Raise InputError when a campaign of so many runs makes no sense, with the numbers that do."""

    def require_extension(self, runs: int, more: int) -> None:
        """Raise InputError when a campaign cannot go from `runs` to `more`."""


class _Endless:
    """A sampler whose first points stay the same however many follow."""

    def require(self, runs: int) -> None:
        """Take any number of runs."""

    def require_extension(self, runs: int, more: int) -> None:
        """Refuse a number that the design does not have."""
        self.require(more)


@dataclass(frozen=True)
class MonteCarlo(_Endless):
    """Independent random points, from the counter-based generator Philox.

    Parameters
    ----------
    dims : int
    seed : int
    """

    dims: int
    seed: int = 0

    def rows(self, first: int, count: int) -> np.ndarray:
        """Return the points of the runs from `first` on."""
        return uniform_rows(words(2, self.seed, CUBE), self.dims, first, count)


@dataclass(frozen=True)
class LatinHypercube:
    """In every coordinate one point in each of `runs` equal cells; the number of runs is fixed at the start.

    Parameters
    ----------
    dims : int
    runs : int
    seed : int
    """

    dims: int
    runs: int
    seed: int = 0

    def rows(self, first: int, count: int) -> np.ndarray:
        """Return the points of the runs from `first` on."""
        if first + count > self.runs:
            raise InputError(
                f"latin hypercube: found run {first + count - 1}; expected one below {self.runs}"
            )
        index = np.arange(first, first + count, dtype=np.uint64)
        cells = [_shuffle(index, self.runs, self.seed, k) for k in range(self.dims)]
        within = uniform_rows(words(2, self.seed, CELLS), self.dims, first, count)
        found = (np.stack(cells, axis=-1).astype(float) + within) / self.runs if self.dims else within
        return np.minimum(found, 1 - 2.0**-53)

    def require(self, runs: int) -> None:
        """Refuse another number of runs than that of the design."""
        if runs != self.runs:
            raise InputError(
                f"runs: found {runs}; expected {self.runs}. A Latin hypercube has as many cells as runs and cannot be "
                "extended; take the sampler 'sobol' or 'monte carlo' to add runs later"
            )

    def require_extension(self, runs: int, more: int) -> None:
        """Refuse: the cells would be others."""
        self.require(more)


@dataclass(frozen=True)
class Sobol(_Endless):
    """Sobol's sequence, scrambled: fills the cube evenly; powers of two are the best numbers of runs.

    Parameters
    ----------
    dims : int
    seed : int
        Seed of the scrambling.
    """

    dims: int
    seed: int = 0
    _held: list = field(default_factory=list, init=False, repr=False, compare=False)

    def rows(self, first: int, count: int) -> np.ndarray:
        """Return the points of the runs from `first` on."""
        if first + count > MOST_RUNS:
            raise InputError(f"sobol: found run {first + count - 1}; expected one below {MOST_RUNS}")
        if not self.dims or not count:
            return np.zeros((count, self.dims))
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", UserWarning
            )  # the balance of powers of two is told by the documentation
            return np.asarray(self._engine_at(first).random(count)) + 0.5**SOBOL_BITS / 2

    def _engine_at(self, first: int) -> Any:
        from scipy.stats import qmc

        if not self._held:
            self._held.append(
                qmc.Sobol(self.dims, scramble=True, bits=SOBOL_BITS, rng=stream((self.seed, CUBE)))
            )
        engine = self._held[0]
        if engine.num_generated > first:
            engine.reset()
        if engine.num_generated < first:
            engine.fast_forward(first - engine.num_generated)
        return engine


@dataclass(frozen=True)
class Grid(_Endless):
    """Every combination of the values of the axes that have values, the last one changing fastest; the other axes are random.

    More runs than combinations go through them again, with fresh random numbers.

    Parameters
    ----------
    levels : sequence
        For each coordinate the points to take, or None for a random one.
    seed : int
    """

    levels: tuple[tuple[float, ...] | None, ...]
    seed: int = 0

    @property
    def dims(self) -> int:
        """Number of coordinates of a point."""
        return len(self.levels)

    @property
    def combinations(self) -> int:
        """Number of combinations of values."""
        return math.prod(len(x) for x in self.levels if x is not None)

    def rows(self, first: int, count: int) -> np.ndarray:
        """Return the points of the runs from `first` on."""
        out = uniform_rows(words(2, self.seed, CUBE), self.dims, first, count)
        rest = np.arange(first, first + count) % self.combinations
        for k in reversed(range(self.dims)):
            points = self._points[k]
            if points is not None:
                rest, at = np.divmod(rest, len(points))
                out[:, k] = points[at]
        return out

    @functools.cached_property
    def _points(self) -> list[np.ndarray | None]:
        return [None if x is None else np.array(x) for x in self.levels]

    def require(self, runs: int) -> None:
        """Refuse a part of the grid."""
        if runs % self.combinations:
            repeated = -(-runs // self.combinations) * self.combinations
            raise InputError(
                f"runs: found {runs}; expected a multiple of the {self.combinations} combinations of the grid, such as {repeated}"
            )


@dataclass(frozen=True)
class Saltelli(_Endless):
    """Design for Sobol indices: pairs of points A, B, and for each axis the point A with the coordinates of B, and the other way round.

    Parameters
    ----------
    groups : tuple of int
        Number of coordinates of each axis; those of one axis are exchanged together.
    seed : int
    second_order : bool
        Whether indices of pairs are wanted: 2 axes + 2 runs per pair of points instead of axes + 2.
    """

    groups: tuple[int, ...]
    seed: int = 0
    second_order: bool = True

    @property
    def dims(self) -> int:
        """Number of coordinates of a point."""
        return sum(self.groups)

    @property
    def block(self) -> int:
        """Runs per pair of points: A, then A with each axis of B, B with each axis of A if `second_order`, B."""
        return (2 if self.second_order else 1) * len(self.groups) + 2

    def rows(self, first: int, count: int) -> np.ndarray:
        """Return the points of the runs from `first` on."""
        begin, end = first // self.block, -(-(first + count) // self.block)
        pairs = Sobol(2 * self.dims, self.seed).rows(begin, end - begin)
        A, B = pairs[:, : self.dims], pairs[:, self.dims :]
        parts = [A]
        for base, other in ((A, B), (B, A))[: 2 if self.second_order else 1]:
            for k in range(len(self.groups)):
                at = slice(sum(self.groups[:k]), sum(self.groups[: k + 1]))
                mixed = base.copy()
                mixed[:, at] = other[:, at]
                parts.append(mixed)
        parts.append(B)
        stacked = np.stack(parts, axis=1).reshape(-1, self.dims)
        return stacked[first - begin * self.block :][:count]

    def require(self, runs: int) -> None:
        """Refuse a part of a block."""
        if runs % self.block:
            up = -(-runs // self.block) * self.block
            raise InputError(
                f"runs: found {runs}; expected a multiple of {self.block} for a Saltelli design of {len(self.groups)} axes, such as {up}"
            )


SAMPLERS = ("monte carlo", "latin hypercube", "sobol", "grid", "list", "saltelli")


def sampler_of(kind: str, axes: Sequence[Axis], runs: int, seed: int, second_order: bool = True) -> Sampler:
    """Return a sampler by its name.

    Parameters
    ----------
    kind : str
        One of SAMPLERS. "grid" goes through the values of all axes that have values; "list" through the rows of a single table.
    axes : sequence of Axis
    runs : int
        Runs of the whole campaign.
    seed : int
    second_order : bool
        Whether a Saltelli design is to give indices of pairs.
    """
    if kind not in SAMPLERS:
        raise InputError(
            f"sampler: found '{kind}'; expected {', '.join(SAMPLERS)}; {did_you_mean(kind, SAMPLERS)}"
        )
    if isinstance(runs, bool) or not isinstance(runs, (int, np.integer)) or runs < 1:
        raise InputError(f"runs: found {runs!r}; expected a whole number, at least 1")
    dims = sum(a.distribution.dims for a in axes)
    found = _make(kind, axes, dims, int(runs), seed, second_order)
    found.require(int(runs))
    return found


def _make(kind: str, axes: Sequence[Axis], dims: int, runs: int, seed: int, second_order: bool) -> Sampler:
    if kind == "monte carlo":
        return MonteCarlo(dims, seed)
    if kind == "sobol":
        return Sobol(dims, seed)
    if kind == "latin hypercube":
        return LatinHypercube(dims, runs, seed)
    if kind == "saltelli":
        if not axes:
            raise InputError("sampler 'saltelli': nothing varies; expected at least one axis")
        return Saltelli(tuple(a.distribution.dims for a in axes), seed, second_order)
    tables = [a.distribution for a in axes if isinstance(a.distribution, Rows)]
    if kind == "list" and (len(tables) != 1 or len(axes) != 1):
        raise InputError(
            f"sampler 'list': found {len(axes)} axes, {len(tables)} of them with values; expected one table of rows with "
            "all that varies. 'grid' combines several"
        )
    if not tables:
        raise InputError(
            "sampler 'grid': found no axis with values; expected at least one, such as [0.1, 0.2, 0.3]"
        )
    levels: list[tuple[float, ...] | None] = []
    for a in axes:
        d = a.distribution
        levels += [tuple(d.middles.tolist())] if isinstance(d, Rows) else [None] * d.dims
    return Grid(tuple(levels), seed)


def _shuffle(index: np.ndarray, size: int, seed: int, column: int) -> np.ndarray:
    """Return where a random permutation of 0 ... size - 1 takes each index, without holding the permutation.

    A Feistel network permutes the numbers of an even number of bits; what falls outside of the size is sent through again.
    """
    half = max(1, -(-(size - 1).bit_length() // 2))
    mask = np.uint64((1 << half) - 1)
    keys = words(5, seed, SHUFFLE, column)
    out, open_ = index.astype(np.uint64), np.ones(index.shape, dtype=bool)
    while open_.any():
        x = out[open_]
        left, right = x >> np.uint64(half), x & mask
        for key in keys:
            left, right = right, left ^ (_mix(right ^ key) & mask)
        out[open_] = (left << np.uint64(half)) | right
        open_ = out >= np.uint64(size)
    return out


def _mix(x: np.ndarray) -> np.ndarray:
    """Return the finalizer of splitmix64: every bit of the result depends on every bit of x."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
