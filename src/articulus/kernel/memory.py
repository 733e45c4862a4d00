"""Memory of large results: once no array is on it any more, it serves the next result of the same size.

The system gives new memory page by page, more than 1 us for each 4 KB; native code fills a page with derivatives in a third of that.
"""

from __future__ import annotations

import math
import threading
from sys import getrefcount

import numpy as np

from .arrays import FLOAT, Shape, address

LARGE = 2**17
"""Bytes from which the memory of a result is kept: smaller pieces the allocator keeps anyway."""
KEPT = 2**26
"""Most bytes that are known here, in use or not; the oldest are forgotten first."""
LINE = 8
"""Doubles of a cache line, with which results begin: rows are then written across fewer lines."""

_lock = threading.Lock()
_kept: list[np.ndarray] = []
"""Each lies in a longer array, its base, on which all results are that use it."""


def result(shape: Shape) -> np.ndarray:
    """Return an array whose entries are still to be written."""
    count = math.prod(shape)
    if not LARGE <= FLOAT.itemsize * count <= KEPT:
        return np.empty(shape)
    with _lock:
        for k in reversed(range(len(_kept))):
            if _kept[k].size == count and _users(_kept, k) == NOBODY:
                _kept.append(_kept.pop(k))
                return _kept[-1].reshape(shape)
        whole = np.empty(count + LINE)
        skip = -address(whole) // 8 % LINE
        _kept.append(whole[skip : skip + count])
        while sum(x.nbytes for x in _kept) > KEPT:
            del _kept[0]
        return _kept[-1].reshape(shape)


def _users(held: list[np.ndarray], k: int) -> int:
    """Return how many arrays are on the same memory as one of a list, and a constant."""
    return getrefcount(held[k].base)


NOBODY = _users([np.empty(1)[:]], 0)
"""What `_users` gives for memory of a list that nothing else is on."""
