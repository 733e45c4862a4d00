"""Runs told while they are computed, chunk by chunk, to who watches them."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.simulation.results.signal import Signal, position_signal, velocity_signal


@dataclass(frozen=True, eq=False)
class RunPart:
    """Samples of a single run that has not ended yet.

    Attributes
    ----------
    mechanism : Mechanism
    t : array, (n,) [s]
    q : array, (n, nq) [rad, m]
    signals : dict of name to Signal
        "q" and "v" at these times.
    """

    mechanism: Mechanism
    t: np.ndarray
    q: np.ndarray
    signals: Mapping[str, Signal]

    @staticmethod
    def of(mechanism: Mechanism, t: np.ndarray, q: np.ndarray, v: np.ndarray) -> RunPart:
        """Return a part of its samples, (n,), (n, nq), (n, nv)."""
        d = mechanism.description
        return RunPart(mechanism, t, q, {"q": position_signal(d, q), "v": velocity_signal(d, v)})


Watcher = Callable[[RunPart], None]
_watcher: contextvars.ContextVar[Watcher | None] = contextvars.ContextVar("watcher", default=None)


@contextlib.contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Tell a function of every single run that is computed within a block, in the thread that runs it.

    It is called with the samples of each chunk, a quarter of a second of work or less, and holds the run up while it works.
    """
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def watcher() -> Watcher | None:
    """Return who watches."""
    return _watcher.get()
