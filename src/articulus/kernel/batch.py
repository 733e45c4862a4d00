"""Many rows: frames, workspaces per thread, contiguous shares for the threads."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import numpy as np

from . import pool
from .arrays import address, aligned
from .driver import HEADER
from .jit import Native

SHARE = 1_000_000  # instructions x rows that pay for one more thread

_local = threading.local()
Rows = tuple[np.ndarray, int]  # memory, row stride in bytes


def workspace(native: Native) -> int:
    """Return the address of this thread's workspace, large enough for the code."""
    needed = native.slots * native.lanes
    if getattr(_local, "size", -1) < needed:
        _local.buffer, _local.size = aligned(needed), needed
        _local.address = _local.buffer.ctypes.data
    return _local.address


@cache
def _words(count: int) -> type[ctypes.Array[ctypes.c_int64]]:
    return ctypes.c_int64 * count


def frame(begin: int, end: int, work: int, operands: Sequence[Rows]) -> ctypes.Array[ctypes.c_int64]:
    """Return the words that `run` reads: rows, workspace, pointer and stride of each input and output."""
    words = [begin, end, work]
    for memory, stride in operands:
        words += (address(memory), stride)
    return _words(len(words))(*words)


def run(native: Native, operands: Sequence[Rows], count: int, instructions: int) -> int:
    """Run rows [0, count) on as many threads as pay; return the flags."""
    shares = min(1 + count * instructions // SHARE, -(-count // native.lanes))
    shares = 1 if shares == 1 else min(shares, pool.count())
    words = frame(0, count, workspace(native), operands)
    if shares == 1:
        return native.run(words)
    cuts = [count * k // shares // native.lanes * native.lanes for k in range(shares)] + [count]
    executor = pool.executor(shares - 1)
    others = [executor.submit(_part, native, words, a, b) for a, b in pairwise(cuts[1:])]
    flags = _part(native, words, cuts[0], cuts[1])
    for other in others:
        flags |= other.result()
    return flags


def _part(native: Native, words: ctypes.Array[ctypes.c_int64], begin: int, end: int) -> int:
    """Run a share of the rows in this thread, on a frame of its own."""
    if begin >= end:
        return 0
    own = type(words)(*words)
    own[:HEADER] = [begin, end, workspace(native)]
    return native.run(own)
