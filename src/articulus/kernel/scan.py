"""A scan: a map from state and input to state and output, along rows of inputs; each lane of one vector scans rows of its own.

Arrays have the lanes as their last axis, so that an element of all lanes is one vector and nothing is transposed:

    (x, y_k) = map(x, p, w_k)   for k = 0, 1, ..., steps - 1

`run(ptr frame)` reads a frame of 64-bit words: workspace, x, p, w and its step, y and its step, number of steps.
"""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..errors import InputError
from . import arrays, lower, program
from .build import Source
from .call import HOLD_LOCK, PreparedCall
from .elementary import helpers
from .instructions import instructions
from .lower import Place
from .program import Signature
from .target import Target
from .writer import CodeWriter

WORDS = ("work", "x", "p", "w", "wstep", "y", "ystep", "steps")


@dataclass(frozen=True)
class ScanProgram:
    """The map of a scan: straight-line code that finds x, p and w, and puts x and y, where pointers say.

    The state goes back and forth between two places, so that nothing is copied from step to step.
    """

    step: ca.Function
    signature: Signature

    def text(self, target: Target) -> str:
        """Return the LLVM text of the whole module."""
        names = ("%i0", "%i1", "%i2"), ("%o0", "%o1")
        code = instructions(self.step)
        shapes = self.signature.input_shapes, self.signature.output_shapes
        inputs, outputs = (
            [[Place(name, j, False) for j in range(n)] for name, n in zip(few, program.sizes(of))]
            for few, of in zip(names, shapes)
        )
        nx = len(inputs[0])
        placed = lower.place(code, inputs, outputs, 2 * nx)
        pointers = ", ".join(f"ptr noalias {name}" for name in ("%w", *names[0], *names[1]))
        parts = lower.emit(placed, "step", target, pointers)
        parts.append(self._run(target, nx, len(placed.chunks)))
        parts.append(f"@slots = constant i64 {max(placed.scratch, 2 * nx)}\n")
        text = "\n".join(parts)
        return text + helpers(target, text)

    def _run(self, target: Target, nx: int, chunks: int) -> str:
        w = CodeWriter(target)

        def copy(source: str, to: str) -> None:
            for at in range(0, nx * target.bytes, target.bytes):
                w.store(w.load(w.offset(source, at), align=8), w.offset(to, at), align=8)

        w.label("entry")
        for place, name in enumerate(WORDS):
            w.line(f"%{name} = load i64, ptr {w.offset('%frame', 8 * place)}, align 8")
        work, x, p = (w.do(f"inttoptr i64 %{name} to ptr") for name in WORDS[:3])
        other = w.offset(work, nx * target.bytes)
        copy(x, work)
        w.line("br label %step")
        w.label("step")
        k, w_at, y_at = (w.phi("i64", v, "entry") for v in ("0", "%w", "%y"))
        now, following = w.phi("ptr", work, "entry"), w.phi("ptr", other, "entry")
        ends = [w.do(f"inttoptr i64 {at} to ptr") for at in (w_at, y_at)]
        arguments = ", ".join(f"ptr {a}" for a in (work, now, p, ends[0], following, ends[1]))
        for chunk in range(chunks):
            w.line(f"call void @step.{chunk}({arguments})")
        after = w.do(f"add i64 {k}, 1")
        for variable, value in (
            (k, after),
            (w_at, w.do(f"add i64 {w_at}, %wstep")),
            (y_at, w.do(f"add i64 {y_at}, %ystep")),
            (now, following),
            (following, now),
        ):
            w.close(variable, value, "step")
        w.line(f"br i1 {w.do(f'icmp slt i64 {after}, %steps')}, label %step, label %done")
        w.label("done")
        copy(following, x)
        w.line("ret i64 0")
        return w.function("i64 @run(ptr %frame)")


class Scan:
    """A scan in native code; see `kernel.scan`."""

    def __init__(self, source: Source, lanes: int):
        signature = source.signature()
        self.source, self.lanes = source, lanes
        self.nx, self.np, self.nw = (int(np.prod(s)) for s in signature.input_shapes)
        self.ny = int(np.prod(signature.output_shapes[1]))
        self.instruction_count, self.flops = signature.instruction_count, signature.flops

    def zeros(self, *shape: int) -> np.ndarray:
        """Return zeros (*shape, lanes) that begin where a vector may begin."""
        out = arrays.aligned(int(np.prod(shape)) * self.lanes).reshape(*shape, self.lanes)
        out[...] = 0.0
        return out

    def bind(self, x: np.ndarray, p: np.ndarray, w: np.ndarray, y: np.ndarray) -> PreparedCall:
        """Return a call that scans all rows, without further checks; arrays begin where `zeros` begin.

        Parameters
        ----------
        x : array (nx, lanes)
            The state, changed in place.
        p : array (np, lanes)
            Constant in all steps.
        w : array (steps, nw, lanes)
            Inputs; a view backwards is good, too.
        y : array (steps, ny, lanes)
            Outputs, written; a view backwards, or of rows that hold more, is good, too.
        """
        steps, expected = (
            len(w),
            {"x": (self.nx,), "p": (self.np,), "w": (len(w), self.nw), "y": (len(w), self.ny)},
        )
        for (name, shape), array in zip(expected.items(), (x, p, w, y)):
            inner = array if array.ndim == 2 else array[0]
            good = array.dtype == arrays.FLOAT and (inner.flags.c_contiguous or not inner.size)
            good = good and not (array.size and array.ctypes.data % (8 * self.lanes))
            if array.shape != (*shape, self.lanes) or not good:
                raise InputError(
                    f"scan: '{name}' of shape {array.shape}; expected float64 of shape {(*shape, self.lanes)}, each row packed and aligned"
                )
        native = self.source.native(self.lanes)
        work = arrays.aligned(native.slots * native.lanes)
        words = [a.ctypes.data for a in (work, x, p, w)] + [w.strides[0], y.ctypes.data, y.strides[0], steps]
        kept = ctypes.create_string_buffer(struct.pack(f"{len(words)}q", *words))
        short = self.flops * self.lanes * steps < HOLD_LOCK
        call = PreparedCall(native.run_holding_lock if short else native.run, ctypes.addressof(kept))
        call.inputs, call.outputs = (x, p, w), (x, y)
        call.keep = (native, work, kept)  # type: ignore[attr-defined]
        return call


def build(step: ca.Function) -> ScanProgram:
    """Return the scan of a map (x, p, w) -> (x, y)."""
    signature = program.build(step).signature
    inputs, outputs = (program.sizes(s) for s in (signature.input_shapes, signature.output_shapes))
    if len(inputs) != 3 or len(outputs) != 2 or inputs[0] != outputs[0]:
        raise InputError(
            f"scan: a map takes {inputs} numbers and gives {outputs}; expected x, p, w and out x, y"
        )
    return ScanProgram(step, signature)
