"""Random numbers that depend on a seed and on what they are for, never on the order, chunks, threads or processes of the work.

A stream is a child of its seed, by `SeedSequence` of NumPy: run i of a seed draws the same numbers alone, in a batch, and on any worker.
Points of a campaign come from a counter (Philox; Salmon, Moraes, Dror & Shaw 2011): row i is computed without those before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from articulus.errors import InputError, did_you_mean

_KINDS = (np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64, np.random.MT19937)
GENERATORS = {each.__name__: each for each in _KINDS}
"""Generators whose state a file may name."""


def stream(seed: int | Sequence[int], *child: int) -> np.random.Generator:
    """Return the stream of a seed, or that of the child of it with these numbers: the one that `SeedSequence.spawn` gives at this place."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=child)))


def counter_stream(seed: int) -> np.random.Generator:
    """Return the stream of a seed from the counter-based generator."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(seed)))


def words(count: int, *numbers: int) -> np.ndarray:
    """Return so many random words of 64 bits that depend on whole numbers, not below 0 and of any size."""
    return np.random.SeedSequence(list(numbers)).generate_state(count, np.uint64)


def uniform_rows(key: np.ndarray, dims: int, first: int, count: int) -> np.ndarray:
    """Return independent numbers strictly between 0 and 1, with 52 random bits each, (count, dims).

    Parameters
    ----------
    key : array, (2,) of uint64
        See `words`.
    dims : int
    first : int
        Number of the first row.
    count : int
    """
    blocks = -(-dims // 4)  # of four words each, which the counter counts
    generator = np.random.Philox(key=key)
    generator.advance(first * blocks)
    bits = np.asarray(generator.random_raw(count * blocks * 4)).reshape(count, blocks * 4)[:, :dims]
    return np.ascontiguousarray(((bits >> np.uint64(12)).astype(float) + 0.5) * 2.0**-52)


def stream_state(generator: np.random.Generator) -> dict[str, Any]:
    """Return where a stream is, as plain numbers, lists and texts."""
    return _plain(generator.bit_generator.state)


def resume_stream(state: dict[str, Any]) -> np.random.Generator:
    """Return a stream that continues where `stream_state` found one."""
    name = str(state.get("bit_generator"))
    if name not in GENERATORS:
        raise InputError(f"random stream: no generator '{name}'; {did_you_mean(name, GENERATORS)}")
    bits = GENERATORS[name]()
    bits.state = _arrays(state)
    return np.random.Generator(bits)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(v) for key, v in value.items()}
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _arrays(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _arrays(v) for key, v in value.items()}
    return np.array(value, dtype=np.uint64) if isinstance(value, list) else value
