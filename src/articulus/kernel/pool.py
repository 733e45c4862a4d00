"""How many threads a big batch uses, and the pool they live in."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from articulus.errors import InputError

_chosen: ContextVar[int | None] = ContextVar("threads", default=None)
_pool: ThreadPoolExecutor | None = None
_pool_size = 0
_lock = threading.Lock()


def count() -> int:
    """Return the number of threads: `with threads(n)`, else ARTICULUS_THREADS, else the usable cores."""
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    text = os.environ.get("ARTICULUS_THREADS", "")
    return max(1, int(text)) if text.strip().isdigit() else cores()


def cores() -> int:
    """Return the number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Use `n` threads for batches inside the `with` block. Results do not depend on it."""
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise InputError(f"threads: found {n!r}; expected a whole number, at least 1")
    token = _chosen.set(int(n))
    try:
        yield
    finally:
        _chosen.reset(token)


def executor(size: int) -> ThreadPoolExecutor:
    """Return the shared pool with at least `size` threads."""
    global _pool, _pool_size
    with _lock:
        if _pool is None or _pool_size < size:
            _pool, _pool_size = ThreadPoolExecutor(size, thread_name_prefix="articulus"), size
        return _pool


def _after_fork() -> None:
    """Threads do not survive a fork: forget the parent's pool."""
    global _pool, _pool_size, _lock
    _pool, _pool_size, _lock = None, 0, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
