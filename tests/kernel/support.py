"""Shared by the kernel tests: running emitted code at a chosen target, CasADi's own answer, units in the last place."""

from __future__ import annotations

import os

import casadi as ca
import numpy as np

from articulus.kernel import arrays, batch, jit, program
from articulus.kernel.target import Target


def targets() -> list[Target]:
    """Return every lane count (LLVM splits what is too wide for this machine), with and without fused multiply-add.

    Where one is asked for (by `make widths`), that one alone: `make test` runs all.
    """
    fma, asked = jit.host().fma, os.environ.get("ARTICULUS_ONE_WIDTH")
    every = [
        Target(1, fma),
        Target(2, fma),
        Target(4, fma),
        Target(8, fma, registers=32),
        Target(1, False),
        Target(4, False),
    ]
    return [target for target in every if not asked or target.lanes == int(asked)]


def native(function: ca.Function, target: Target) -> jit.Native:
    """Compile for one target, past all caches."""
    return jit.Native(jit.compile_object(program.build(function).text(target)), target.lanes)


def run(
    function: ca.Function, inputs: list[np.ndarray], target: Target, code: jit.Native | None = None
) -> list[np.ndarray]:
    """Return the outputs (rows, n) for inputs (rows, n) at one target."""
    code = code or native(function, target)
    rows = len(inputs[0])
    inputs = [np.ascontiguousarray(x, dtype=float) for x in inputs]
    outputs = [np.empty((rows, function.numel_out(k))) for k in range(function.n_out())]
    code.run(frame(code, rows, [*inputs, *outputs]))
    return outputs


def frame(code: jit.Native, rows: int, memory: list[np.ndarray], work: int | None = None) -> bytes:
    """Return the frame of a run over all rows; `memory` must outlive it."""
    words = arrays.words([(x, x.strides[0]) for x in memory])
    return batch.frame(0, rows, batch.workspace(code) if work is None else work, words)


def virtual_machine(function: ca.Function, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """Return CasADi's own evaluation, row by row."""
    results = [function.call([ca.DM(x) for x in row]) for row in zip(*inputs)]
    return [np.array([r[k].full().ravel() for r in results]) for k in range(function.n_out())]


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Tell whether two arrays agree in every bit, any NaN counting as equal to any other."""
    nan = np.isnan(a) & np.isnan(b)
    return bool(np.all(nan | (a.view(np.int64) == b.view(np.int64))))
