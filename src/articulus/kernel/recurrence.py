"""`Recurrence`: maps applied again and again to many states, wholly in native code."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import InputError
from . import arrays, batch
from .build import Source
from .jit import host

NEVER = -1.0
"""Value of `failed` for a state that did not fail."""


class Recurrence:
    """x <- map(x, p, w, k) for k = start, start + 1, ..., the last map at every step, the others at theirs.

    Parameters
    ----------
    source : Source
        Of a `march.March`.
    logged : int
        Number of leading state elements that a sample holds.
    """

    def __init__(self, source: Source, logged: int):
        signature = source.signature()
        self._source, self.logged = source, logged
        self.nx, self.np, self.nw = (int(np.prod(s)) for s in signature.input_shapes[:3])
        self.instruction_count, self.flops = signature.instruction_count, signature.flops
        self.lanes = host().lanes

    def run(
        self,
        x: np.ndarray,
        p: np.ndarray,
        w: np.ndarray,
        failed: np.ndarray,
        log: np.ndarray,
        start: int,
        stop: int,
        *,
        every: int = 1,
        periods: Sequence[int] = (),
        closing: bool = False,
    ) -> None:
        """Apply the steps [start, stop) to every row, in place.

        Parameters
        ----------
        x : array, (rows, nx)
            States; they become those at step `stop`.
        p : array, (rows, np) or (np,)
            Parameters.
        w : array, (rows, stop - start, nw) or (stop - start, nw)
            Inputs of every step.
        failed : array, (rows,)
            NEVER, or the number of the step whose result was no number or too large; such rows keep the state before it.
        log : array, (rows, samples, logged)
            One sample for every k in [start, stop) that is a multiple of `every`, taken before the step.
        start, stop : int
        every : int
            Steps from sample to sample.
        periods : sequence of int
            For each map but the last: it is applied at multiples of that number of steps.
        closing : bool
            Prepare and sample step `start` only; take no step.
        """
        rows = len(x)
        self._require("x", x, (rows, self.nx))
        self._require("failed", failed, (rows,))
        samples = 1 if closing else -(-stop // every) - -(-start // every)
        self._require("log", log, (rows, max(samples, 0), self.logged))
        p_stride = p.strides[0] if p.ndim == 2 else 0
        w_stride, w_step = (w.strides[0] if w.ndim == 3 else 0, w.strides[-2]) if self.nw else (0, 0)
        if not rows or (start >= stop and not closing):
            return
        words = [
            *(arrays.address(x), x.strides[0], arrays.address(p), p_stride),
            *(arrays.address(w), w_stride, w_step),
            *(arrays.address(log) if log.size else 0, log.strides[0], log.strides[1]),
            *(arrays.address(failed), failed.strides[0]),
            *(start, stop, every, int(closing)),
            *periods,
            1,
        ]
        native = self._source.native(1 if rows == 1 else self.lanes)
        batch.run(native, words, rows, self.instruction_count * max(stop - start, 1))

    def _require(self, name: str, array: np.ndarray, shape: tuple[int, ...]) -> None:
        good = array.dtype == arrays.FLOAT and array.flags.c_contiguous and array.flags.writeable
        if array.shape != shape or not good:
            raise InputError(
                f"recurrence: '{name}' of shape {array.shape}; expected writable C-order float64 {shape}"
            )
