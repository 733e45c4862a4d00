"""Many rows: frames, workspaces per thread, contiguous shares for the threads."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise

from . import pool
from .arrays import aligned
from .driver import HEADER
from .jit import Native

SHARE = 1_000_000  # instructions x rows that pay for one more thread

_local = threading.local()


def workspace(native: Native) -> int:
    """Return the address of this thread's workspace, large enough for the code."""
    needed = native.slots * native.lanes
    if getattr(_local, "size", -1) < needed:
        _local.buffer, _local.size = aligned(needed), needed
        _local.address = _local.buffer.ctypes.data
    return _local.address


@cache
def _packer(count: int) -> Callable[..., bytes]:
    return struct.Struct(f"{count}q").pack


def frame(begin: int, end: int, work: int, words: Sequence[int]) -> bytes:
    """Return the words that `run` reads: rows, workspace, pointer and stride of each input and output."""
    return _packer(HEADER + len(words))(begin, end, work, *words)


def run(native: Native, words: Sequence[int], count: int, instructions: int) -> int:
    """Run rows [0, count) on as many threads as pay; return the flags."""
    if count * instructions < SHARE or (shares := _shares(native, count, instructions)) == 1:
        return native.run(frame(0, count, workspace(native), words))
    cuts = [count * k // shares // native.lanes * native.lanes for k in range(shares)] + [count]
    executor = pool.executor(shares - 1)
    others = [executor.submit(_part, native, words, a, b) for a, b in pairwise(cuts[1:])]
    flags = _part(native, words, cuts[0], cuts[1])
    for other in others:
        flags |= other.result()
    return flags


def _shares(native: Native, count: int, instructions: int) -> int:
    """Return how many threads pay for the rows."""
    return min(1 + count * instructions // SHARE, -(-count // native.lanes), pool.count())


def _part(native: Native, words: Sequence[int], begin: int, end: int) -> int:
    """Run a share of the rows in this thread."""
    return native.run(frame(begin, end, workspace(native), words)) if begin < end else 0
