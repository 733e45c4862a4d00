"""`Recurrence`: maps applied again and again to many states, wholly in native code."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence

import numpy as np

from ..errors import InputError
from . import arrays, batch
from .build import Source
from .driver import HEADER
from .jit import host
from .march import WORDS

NEVER = -1.0
"""Value of `failed` for a state that did not fail."""


class Recurrence:
    """x <- map(x, p, w, k) for k = start, start + 1, ..., the last map at every step, the others at theirs.

    Parameters
    ----------
    source : Source
        Source of a `march.March`.
    logged : int
        Number of leading state elements that a sample holds.
    """

    def __init__(self, source: Source, logged: int):
        signature = source.signature()
        self.source, self.logged = source, logged
        self.nx, self.np, self.nw = (int(np.prod(s)) for s in signature.input_shapes[:3])
        self.maps = len(signature.output_names)
        self.instruction_count, self.flops = signature.instruction_count, signature.flops
        self.lanes = host().lanes

    def load(self, rows: int) -> None:
        """Build or load the code for that many rows now."""
        self.source.native(1 if rows == 1 else self.lanes)

    def on(
        self,
        x: np.ndarray,
        p: np.ndarray,
        w: np.ndarray,
        failed: np.ndarray,
        log: np.ndarray,
        *,
        first: int = 0,
        every: int = 1,
        periods: Sequence[int] = (),
        lanes: int | None = None,
    ) -> Passage:
        """Return the recurrence on the caller's arrays, which it changes in place.

        Parameters
        ----------
        x : array, (rows, nx)
            States.
        p : array, (rows, np) or (np,)
            Parameters.
        w : array, (rows, steps, nw) or (steps, nw)
            Inputs of every step from `first` on; only the last axis needs to be packed (a view backwards is good, too).
        failed : array, (rows,)
            NEVER, or the number of the step whose result was no number or too large; such rows keep the state before it.
        log : array, (rows, samples, logged)
            Samples from step `first` on: one for every k that is a multiple of `every`, taken before the step, after the inputs of that
            step were read; only the last axis needs to be packed.
        first : int
            Step to which the first elements of `w` and `log` belong.
        every : int
            Steps from sample to sample.
        periods : sequence of int
            For each map but the last: it is applied at multiples of that number of steps.
        lanes : int
            At most so many rows at once (1, 2, 4 or 8), where the processor could take more: a few rows are faster in a shorter vector.
        """
        rows = len(x)
        _require("x", x, (rows, self.nx))
        _require("p", p, (rows, self.np), (self.np,))
        _require("w", w, (rows, ANY, self.nw), (ANY, self.nw), strided=True)
        _require("failed", failed, (rows,))
        _require("log", log, (rows, ANY, self.logged), strided=True)
        if len(periods) != self.maps - 1 or not all(m >= 1 for m in periods):
            raise InputError(
                f"recurrence: periods {list(periods)}; expected {self.maps - 1} whole numbers of at least 1"
            )
        if every < 1:
            raise InputError(f"recurrence: every = {every}; expected at least 1 step from sample to sample")
        lanes = 1 if rows == 1 else min(lanes or self.lanes, self.lanes)
        return Passage(self, x, p, w, failed, log, first, every, tuple(periods), lanes)


ANY = -1
"""Stands for any length in a shape."""


def _require(name: str, array: np.ndarray, *shapes: tuple[int, ...], strided: bool = False) -> None:
    """Raise unless an array is as native code reads it: packed (if strided, its last axis), writable, of one of the shapes."""
    fits = array.shape in shapes or any(
        array.ndim == len(shape) and all(n in (m, ANY) for m, n in zip(array.shape, shape))
        for shape in shapes
    )
    packed = array.flags.c_contiguous or (strided and array.strides[-1:] == (8,))
    if not fits or not packed or array.dtype != arrays.FLOAT or not array.flags.writeable:
        texts = [str(shape).replace("-1", "any") for shape in shapes]
        raise InputError(
            f"recurrence: '{name}' of shape {array.shape}; expected writable C-order float64 of shape "
            + " or ".join(texts)
        )


def _address(array: np.ndarray) -> int:
    """Return where the data of an array begin that may be empty or a view."""
    if not array.size:
        return 0
    return arrays.address(array) if array.flags.c_contiguous else array.ctypes.data


class Passage:
    """A recurrence on given arrays: `passage(start, stop)` takes the steps [start, stop) of every row."""

    def __init__(self, recurrence: Recurrence, x, p, w, failed, log, first, every, periods, lanes):  # type: ignore[no-untyped-def]
        self._keep = (x, p, w, failed, log)
        self._rows, self._first, self._every = len(x), first, every
        self._beyond = first + w.shape[-2]
        self._first_sample, self._room = -(-first // every), log.shape[1]
        self._instructions = recurrence.instruction_count
        self._native = recurrence.source.native(lanes)
        self._w_step = w.strides[-2] if w.size else 0
        self._log_step = log.strides[1]
        self._w, self._log, at_p = _address(w), _address(log), _address(p)
        self._words = [
            *(arrays.address(x), x.strides[0], at_p, p.strides[0] if p.ndim == 2 else 0),
            *(self._w, w.strides[0] if w.ndim == 3 else 0, self._w_step),
            *(self._log, log.strides[0], self._log_step, arrays.address(failed), failed.strides[0]),
            *(0, 0, every, 0, *periods, 1),
        ]
        work = arrays.aligned(self._native.slots * self._native.lanes)
        self._workspace = work
        frame = batch.frame(0, self._rows, arrays.address(work), self._words)
        self._frame = ctypes.create_string_buffer(frame, len(frame))
        self._address = ctypes.addressof(self._frame)
        self._at_w, self._at_log, self._at_start = (
            8 * (HEADER + WORDS.index(name)) for name in ("w", "log", "start")
        )

    def __call__(self, start: int, stop: int, *, closing: bool = False) -> None:
        """Take the steps; with `closing`, prepare and sample step `start` only."""
        if not self._rows or (start >= stop and not closing):
            return
        every, beyond = self._every, start + 1 if closing else stop
        if start < self._first or beyond > self._beyond:
            raise InputError(
                f"recurrence: found steps {start} to {beyond - 1}; inputs exist for the steps {self._first} to "
                f"{self._beyond - 1}"
            )
        sample = -(-start // every) - self._first_sample
        if -(-beyond // every) - self._first_sample > self._room:
            raise InputError(
                f"recurrence: the log has room for {self._room} samples; found one more at step {beyond - 1}"
            )
        w = self._w + (start - self._first) * self._w_step
        log = self._log + sample * self._log_step
        if self._rows == 1:
            struct.pack_into("q", self._frame, self._at_w, w)
            struct.pack_into("q", self._frame, self._at_log, log)
            struct.pack_into("4q", self._frame, self._at_start, start, stop, every, int(closing))
            run = self._native.run_holding_lock if stop - start == 1 else self._native.run
            run(self._address)
            return
        words = list(self._words)
        words[WORDS.index("w")], words[WORDS.index("log")] = w, log
        words[WORDS.index("start")], words[WORDS.index("stop")] = start, stop
        words[WORDS.index("closing")] = int(closing)
        batch.run(self._native, words, self._rows, self._instructions * max(stop - start, 1))
