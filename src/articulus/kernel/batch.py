"""Many rows: frames, workspaces per thread, contiguous shares for the threads."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from . import pool
from .arrays import aligned
from .jit import Native

SHARE = 1_000_000  # instructions x rows that pay for one more thread

_local = threading.local()
Rows = tuple[np.ndarray, int]  # memory, row stride in bytes


def workspace(native: Native) -> int:
    """Return the address of this thread's workspace, large enough for the code."""
    needed = native.slots * native.lanes
    buffer = getattr(_local, "buffer", None)
    if buffer is None or len(buffer) < needed:
        buffer = _local.buffer = aligned(needed)
    return buffer.ctypes.data


def frame(begin: int, end: int, work: int, operands: Sequence[Rows]) -> np.ndarray:
    """Return the words that `run` reads: rows, workspace, pointer and stride of each input and output."""
    words = [begin, end, work]
    for memory, stride in operands:
        words += (memory.__array_interface__["data"][0], stride)
    return np.array(words, dtype=np.int64)


def run(native: Native, operands: Sequence[Rows], count: int, instructions: int) -> int:
    """Run rows [0, count) on as many threads as pay; return the flags."""
    shares = min(pool.count(), 1 + count * instructions // SHARE, -(-count // native.lanes))
    words = frame(0, count, 0, operands)
    if shares == 1:
        return _part(native, words, 0, count)
    cuts = [count * k // shares // native.lanes * native.lanes for k in range(shares)] + [count]
    executor = pool.executor(shares - 1)
    others = [executor.submit(_part, native, words, a, b) for a, b in pairwise(cuts[1:])]
    flags = _part(native, words, cuts[0], cuts[1])
    for other in others:
        flags |= other.result()
    return flags


def _part(native: Native, words: np.ndarray, begin: int, end: int) -> int:
    if begin >= end:
        return 0
    own = words.copy()
    own[:3] = begin, end, workspace(native)
    return native.run(own.ctypes.data)
