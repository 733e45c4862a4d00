"""Copies between arrays of any strides as prepared calls, so that a thread of a team can fetch what it needs by itself.

`run(ptr frame)` reads a frame of 64-bit words: source, target, three lengths, three strides of the source and of the target [bytes].
"""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass
from functools import cache

import numpy as np

from ..errors import InputError
from . import arrays
from .build import Source
from .call import PreparedCall
from .program import Signature
from .target import Target
from .writer import CodeWriter

AXES = 3


@dataclass(frozen=True)
class _CopyProgram:
    """Three loops around the copy of a double."""

    @property
    def signature(self) -> Signature:
        """Names, shapes, size."""
        return Signature("copy", (), (), (), (), 0, 0)

    def text(self, target: Target) -> str:
        """Return the LLVM text of the module."""
        w = CodeWriter(target)
        w.label("entry")
        words = [w.load(w.offset("%frame", 8 * k), "i64", 8) for k in range(2 + 3 * AXES)]
        lengths, steps = words[2:5], list(zip(words[5:8], words[8:]))
        w.line("br label %loop0")
        places: list[tuple[str, str]] = [(words[0], words[1])]
        counts: list[str] = []
        for k in range(AXES):
            w.label(f"loop{k}")
            before = "entry" if k == 0 else f"loop{k - 1}"
            counts.append(w.phi("i64", "0", before))
            places.append((w.phi("i64", places[k][0], before), w.phi("i64", places[k][1], before)))
            if k < AXES - 1:
                w.line(f"br label %loop{k + 1}")
        source, to = (w.do(f"inttoptr i64 {x} to ptr") for x in places[-1])
        w.store(w.load(source, "double", 8), to, "double", 8)
        here = f"loop{AXES - 1}"
        for k in reversed(range(AXES)):
            following = w.do(f"add i64 {counts[k]}, 1")
            moved = [w.do(f"add i64 {x}, {step}") for x, step in zip(places[k + 1], steps[k])]
            w.close(counts[k], following, here)
            for variable, value in zip(places[k + 1], moved):
                w.close(variable, value, here)
            more = w.do(f"icmp slt i64 {following}, {lengths[k]}")
            w.line(f"br i1 {more}, label %loop{k}, label %end{k}")
            here = f"end{k}"
            w.label(here)
        w.line("ret i64 0")
        return w.function("i64 @run(ptr %frame)") + "\n@slots = constant i64 0\n"


@cache
def _source() -> Source:
    return Source("strided copy", _CopyProgram)


def copy_call(source: np.ndarray, target: np.ndarray) -> PreparedCall:
    """Return a call that copies one array to another, as both are when it runs.

    Parameters
    ----------
    source, target : array
        float64 of equal shape, one to three axes, of any strides, not empty.
    """
    if source.shape != target.shape or not 1 <= source.ndim <= AXES or not source.size:
        raise InputError(
            f"copy of {source.shape} to {target.shape}; expected equal shapes of one to {AXES} axes, not empty"
        )
    if source.dtype != arrays.FLOAT or target.dtype != arrays.FLOAT or not target.flags.writeable:
        raise InputError(
            f"copy of {source.dtype} to {target.dtype}; expected float64, and a target that can be written"
        )
    pad = AXES - source.ndim
    words = [source.ctypes.data, target.ctypes.data, *(1,) * pad, *source.shape]
    for array in (source, target):
        words += [*(0,) * pad, *array.strides]
    native = _source().native(1)
    frame = ctypes.create_string_buffer(struct.pack(f"{len(words)}q", *words))
    call = PreparedCall(native.run_holding_lock, ctypes.addressof(frame))
    call.inputs, call.outputs = (source,), (target,)
    call.keep = (native, frame)  # type: ignore[attr-defined]
    return call
