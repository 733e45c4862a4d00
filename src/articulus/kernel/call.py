"""`Kernel`: a compiled function as a Python callable on NumPy arrays."""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy import ndarray

from ..errors import InputError
from . import arrays, batch, memory, report
from .arrays import FLOAT
from .build import Source
from .jit import host
from .program import Shape

SCALARS = (float, np.float64)
"""Types of a number that calls with one state take without further ado."""
HOLD_LOCK = 20_000  # flops below which a single call keeps the interpreter lock: releasing it costs more


class PreparedCall(partial):
    """A call without arguments on the caller's own arrays; returns the status flags (0 is good).

    Attributes
    ----------
    inputs, outputs : tuple of ndarray
        The arrays it reads and writes; change the inputs in place between calls.
    """

    inputs: tuple[np.ndarray, ...]
    outputs: tuple[np.ndarray, ...]


class Kernel:
    """A function in native code, called with arrays that have any leading batch axes.

    Inputs and outputs have the trailing axes of their CasADi matrix: none for a scalar, `(n,)` for a column,
    `(r, c)` for a matrix, in C order. Leading axes broadcast against each other.

    Attributes
    ----------
    name : str
        Name of the function.
    input_names, output_names : tuple of str
        Names of the arguments and of the results.
    input_shapes, output_shapes : tuple of tuple of int
        Their trailing axes.
    instruction_count, flops : int
        Size of the code: operations, and floating-point operations (a fused pair counts as two).
    lanes : int
        Rows that a batched call computes at once.
    finite : bool
        Whether a value that is not finite raises.
    """

    def __init__(self, source: Source, *, finite: bool = True):
        signature = source.signature()
        self._source, self._signature, self.finite = source, signature, finite
        self.name = signature.name
        self.input_names, self.input_shapes = signature.input_names, signature.input_shapes
        self.output_names, self.output_shapes = signature.output_names, signature.output_shapes
        self.instruction_count, self.flops = signature.instruction_count, signature.flops
        self.lanes = host().lanes
        self._count = len(self.input_shapes)
        self._rows = [(s, len(s), arrays.row_bytes(s)) for s in self.input_shapes]
        self._out_rows = [(s, arrays.row_bytes(s)) for s in self.output_shapes]
        self._local = threading.local()

    def __repr__(self) -> str:
        def text(names: Sequence[str], shapes: Sequence[Shape]) -> str:
            return ", ".join(f"{n} {arrays.expected(s)}" for n, s in zip(names, shapes))

        inputs, outputs = (
            text(self.input_names, self.input_shapes),
            text(self.output_names, self.output_shapes),
        )
        return f"<Kernel {self.name}: {inputs} -> {outputs}; {self.instruction_count} instructions>"

    def __call__(self, *inputs: Any) -> Any:
        """Return the outputs: one array, or a tuple if the function has several.

        Parameters
        ----------
        *inputs : array-like, shape (..., *input_shapes[k])
            One per input; leading axes broadcast.

        Raises
        ------
        InputError
            Wrong number, shape or dtype of arguments; with `finite`, a value that is not finite.
        NumericalError
            With `finite`, a result that is not finite; it carries `result` and `rows`.
        """
        single = getattr(self._local, "single", None)
        if single is not None and len(inputs) == self._count:
            for x, buffer, shape in zip(inputs, single.buffers, self.input_shapes):
                if type(x) in SCALARS:
                    if shape:
                        break
                elif type(x) is not ndarray or x.shape != shape or x.dtype is not FLOAT:
                    break
                buffer[...] = x
            else:
                if flags := single.run():
                    self._check_single(flags, single)
                return single.result()
        if len(inputs) == self._count and (plain := arrays.plain_words(inputs, self._rows)):
            return self._run_batch(inputs, *plain)
        return self._general(inputs)

    def bind(self, *inputs: np.ndarray, out: np.ndarray | Sequence[np.ndarray] | None = None) -> PreparedCall:
        """Return a call on fixed arrays, for loops that cannot afford Python's overhead.

        One state, or a batch with one leading axis that fits one thread; an input without that axis serves all rows.

        Parameters
        ----------
        *inputs : ndarray of float64, C order, of shape input_shapes[k] or (rows, *input_shapes[k])
            Read at each call.
        out : ndarray or sequence of ndarray, optional
            Written at each call; allocated if not given.
        """
        self._require_count(inputs)
        lead = next((np.shape(x)[:1] for x, s in zip(inputs, self.input_shapes) if np.ndim(x) > len(s)), ())
        given = (out,) if isinstance(out, np.ndarray) else out
        results = tuple(np.zeros(lead + s) for s in self.output_shapes) if given is None else tuple(given)
        wanted = [lead + s if np.ndim(x) > len(s) else s for x, s in zip(inputs, self.input_shapes)]
        self._require_own(inputs, wanted, self.input_names, writable=False)
        self._require_own(results, [lead + s for s in self.output_shapes], self.output_names, writable=True)
        return self._prepare(tuple(inputs), results, lead)

    def _prepare(
        self, inputs: tuple[np.ndarray, ...], outputs: tuple[np.ndarray, ...], lead: Shape = ()
    ) -> PreparedCall:
        rows = math.prod(lead)
        native = self._source.native(1 if rows == 1 else self.lanes)
        work = arrays.aligned(native.slots * native.lanes)
        shapes = (*self.input_shapes, *self.output_shapes)
        words = arrays.words(
            [(x, arrays.row_bytes(s) if x.shape != s else 0) for x, s in zip((*inputs, *outputs), shapes)]
        )
        frame = ctypes.create_string_buffer(batch.frame(0, rows, arrays.address(work), words))
        run = native.run_holding_lock if rows * self.flops < HOLD_LOCK else native.run
        call = PreparedCall(run, ctypes.addressof(frame))
        call.inputs, call.outputs = inputs, outputs
        call.keep = (native, work, frame)  # type: ignore[attr-defined]
        return call

    def _single(self) -> _Single:
        """Return this thread's buffers for calls with one state."""
        inputs = tuple(arrays.aligned(math.prod(s)).reshape(s) for s in self.input_shapes)
        outputs = tuple(arrays.aligned(math.prod(s)).reshape(s) for s in self.output_shapes)
        self._local.single = _Single(self._prepare(inputs, outputs))
        return self._local.single

    def _check_single(self, flags: int, single: _Single) -> None:
        if self.finite:
            report.raise_for(flags, self._signature, single.buffers, [x.copy() for x in single.run.outputs])

    def _general(self, inputs: Sequence[Any]) -> Any:
        self._require_count(inputs)
        given = [
            arrays.converted(*each, self.name) for each in zip(inputs, self.input_shapes, self.input_names)
        ]
        shape = arrays.common_batch(given, self.input_shapes, self.input_names, self.name) if given else ()
        if shape == ():
            single = getattr(self._local, "single", None) or self._single()
            for x, buffer in zip(given, single.buffers):
                buffer[...] = x
            if flags := single.run():
                self._check_single(flags, single)
            return single.result()
        operands = [arrays.rows(x, s, shape) for x, s in zip(given, self.input_shapes)]
        return self._run_batch(given, shape, arrays.words(operands))

    def _run_batch(self, given: Sequence[np.ndarray], shape: Shape, words: list[int]) -> Any:
        count = math.prod(shape)
        outputs = []
        for each, size in self._out_rows:
            outputs.append(memory.result(shape + each))
            words += (arrays.address(outputs[-1]), size)
        if count:
            native = self._source.native(1 if count == 1 else self.lanes)
            flags = batch.run(native, words, count, self.instruction_count)
            if flags and self.finite:
                report.raise_for(flags, self._signature, given, tuple(outputs))
        return tuple(outputs) if len(outputs) != 1 else outputs[0]

    def _require_count(self, inputs: Sequence[Any]) -> None:
        if len(inputs) != self._count:
            names = ", ".join(self.input_names)
            raise InputError(f"{self.name}: found {len(inputs)} arguments; expected {self._count} ({names})")

    def _require_own(
        self, given: Sequence[np.ndarray], shapes: Sequence[Shape], names: Sequence[str], *, writable: bool
    ) -> None:
        if len(given) != len(shapes):
            raise InputError(f"{self.name}: found {len(given)} output arrays; expected {len(shapes)}")
        for x, shape, name in zip(given, shapes, names):
            good = (
                isinstance(x, np.ndarray) and x.dtype == FLOAT and x.shape == shape and x.flags.c_contiguous
            )
            if not good or not x.flags.aligned or (writable and not x.flags.writeable):
                kind = "writable " if writable else ""
                raise InputError(
                    f"{self.name}: '{name}' must be a {kind}C-order float64 array of shape {shape} to be bound"
                )


class _Single:
    """Buffers of one thread for calls with one state, and the prepared call on them."""

    def __init__(self, run: PreparedCall):
        self.run = run
        self.buffers = run.inputs
        self.result: Callable[[], Any] = self._copy_all
        if len(run.outputs) == 1:
            only = run.outputs[0]
            self.result = only.copy if only.ndim else only.item

    def _copy_all(self) -> tuple[np.ndarray, ...]:
        return tuple(x.copy() if x.ndim else x[()] for x in self.run.outputs)
