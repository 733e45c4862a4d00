"""Random numbers of runs: one stream per run, from one seed, whatever the batch, the chunks and the threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from articulus.errors import InputError
from articulus.numerics.streams import resume_stream, stream, stream_state

AT_ONCE = 4096
"""Steps whose numbers are held in memory together."""


class NoiseStreams:
    """Normal numbers of unit variance for every step of every run.

    Parameters
    ----------
    seed : int, or one for each run
        Run i of one seed draws from the i-th child of it; a run with a seed of its own draws what it would draw alone.
    rows : int
        Number of runs.
    count : int
        Numbers per step.
    first : int
        Number of the first run, of which the others follow: a batch that is cut into parts draws the same numbers.
    """

    def __init__(self, seed: int | Sequence[int], rows: int, count: int, first: int = 0):
        self.count = count
        if isinstance(seed, Sequence) and len(seed) != rows:
            raise InputError(f"seed: found {len(seed)} seeds for {rows} runs; expected one for each run")
        own = (
            [(s, 0) for s in seed] if isinstance(seed, Sequence) else [(seed, first + i) for i in range(rows)]
        )
        self._streams = [stream(s, i) for s, i in own] if count else []
        self._rows = rows

    def draw(self, steps: int) -> np.ndarray:
        """Return the numbers of the next steps, (rows, steps, count), or (steps, 0) where there are none."""
        if not self.count:
            return np.zeros((steps, 0))
        return np.stack([each.standard_normal((steps, self.count)) for each in self._streams])

    def peek(self) -> np.ndarray:
        """Return the numbers of the next step without using them up, as `draw` does."""
        state = self.state()
        numbers = self.draw(1)
        self.resume(state)
        return numbers

    def at(self, steps: np.ndarray) -> np.ndarray:
        """Return the numbers of given steps, rising and counted from the next one, (rows, len(steps), count)."""
        out = np.zeros((self._rows, len(steps), self.count))
        if self.count:
            for first in range(0, int(steps[-1]) + 1, AT_ONCE):
                inside = (steps >= first) & (steps < first + AT_ONCE)
                out[:, inside] = self.draw(AT_ONCE)[:, steps[inside] - first]
        return out

    def state(self) -> Any:
        """Return the state of the streams, as JSON can hold it; None without noise."""
        return [stream_state(each) for each in self._streams] or None

    def resume(self, state: Any) -> None:
        """Go on where `state` says."""
        self._streams = [resume_stream(each) for each in state or []]
