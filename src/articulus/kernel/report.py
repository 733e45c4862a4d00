"""What to say when a value is not finite; runs only after the native code has seen one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import InputError, NumericalError, Status
from .program import Signature


def raise_for(
    flags: int, signature: Signature, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]
) -> None:
    """Raise InputError or NumericalError, naming the first value that is not finite."""
    if flags & Status.INPUT_NOT_FINITE:
        for name, array in zip(signature.input_names, inputs):
            _refuse_input(signature.name, name, array)
    if flags & Status.OUTPUT_NOT_FINITE:
        raise numerical_error(signature, outputs)


def _refuse_input(kernel: str, name: str, array: np.ndarray) -> None:
    bad = ~np.isfinite(array)
    if bad.any():
        index = first(bad)
        raise InputError(
            f"{kernel}: argument '{name}' is {array[index]} at index {index}; expected finite numbers"
        )


def numerical_error(signature: Signature, outputs: Sequence[np.ndarray]) -> NumericalError:
    """Return the error that carries the outputs and the flat batch indices of the bad rows."""
    masks = [_rows(~np.isfinite(out), shape) for out, shape in zip(outputs, signature.output_shapes)]
    bad = np.logical_or.reduce(masks)
    which = next(k for k, mask in enumerate(masks) if mask.any())
    index = first(~np.isfinite(outputs[which]))
    text = (
        f"{signature.name}: output '{signature.output_names[which]}' is {outputs[which][index]} at index {index}; "
        f"{int(bad.sum())} of {bad.size} rows are not finite although their input is"
    )
    return NumericalError(text, result=tuple(outputs), rows=np.flatnonzero(bad))


def _rows(mask: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    size = int(np.prod(shape))
    return np.asarray(mask.reshape(-1, size).any(axis=1)) if size else np.zeros(1, dtype=bool)


def first(mask: np.ndarray) -> tuple[int, ...]:
    """Return the index of the first true element."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(mask)), mask.shape))
