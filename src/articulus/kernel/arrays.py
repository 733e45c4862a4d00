"""Arguments of a call: conversion, shape checks, leading axes, memory."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from ..errors import InputError

FLOAT = np.dtype(np.float64)
_addressof = ctypes.addressof
_first_byte: Callable[[Any], ctypes.c_char] = ctypes.c_char.from_buffer
Shape = tuple[int, ...]


def aligned(count: int) -> np.ndarray:
    """Return `count` doubles, zero, at a multiple of 64 bytes."""
    raw = np.zeros(count + 8)
    skip = (-address(raw) // 8) % 8
    return raw[skip : skip + count]


def address(array: np.ndarray) -> int:
    """Return where the data of an array begin; the short way works for writable packed arrays only."""
    try:
        return _addressof(_first_byte(array))
    except (TypeError, ValueError, BufferError):
        return array.ctypes.data


def converted(value: Any, shape: Shape, name: str, kernel: str) -> np.ndarray:
    """Return the value as a float64 array with the right trailing axes, without copying if possible."""
    try:
        array = np.asarray(value)
    except ValueError as reason:
        raise InputError(f"{kernel}: argument '{name}' is not an array: {reason}") from reason
    if isinstance(value, np.ma.MaskedArray):
        raise InputError(
            f"{kernel}: argument '{name}' is a masked array; expected one without masked entries"
        )
    if array.dtype.kind not in "fiub":
        raise InputError(f"{kernel}: argument '{name}' has dtype {array.dtype}; expected real numbers")
    if array.shape[array.ndim - len(shape) :] != shape or array.ndim < len(shape):
        raise InputError(f"{kernel}: argument '{name}' has shape {array.shape}; expected {expected(shape)}")
    return array if array.dtype is FLOAT else array.astype(FLOAT, copy=False)


def expected(shape: Shape) -> str:
    """Return the text of a trailing shape with any leading axes, e.g. `(..., 7)`."""
    return f"({', '.join(['...', *map(str, shape)])})"


def leading(array: np.ndarray, shape: Shape) -> Shape:
    """Return the batch axes of an array."""
    return array.shape[: array.ndim - len(shape)]


def common_batch(
    arrays: Sequence[np.ndarray], shapes: Sequence[Shape], names: Sequence[str], kernel: str
) -> Shape:
    """Return the batch axes that all arguments broadcast to."""
    found = {leading(x, s) for x, s in zip(arrays, shapes)} - {()}
    if len(found) < 2:
        return found.pop() if found else ()
    try:
        return np.broadcast_shapes(*found)
    except ValueError as reason:
        text = ", ".join(f"{n} {leading(x, s)}" for n, x, s in zip(names, arrays, shapes))
        raise InputError(f"{kernel}: leading axes do not broadcast: {text}") from reason


def rows(array: np.ndarray, shape: Shape, batch: Shape) -> tuple[np.ndarray, int]:
    """Return an array whose memory holds the rows, and the stride in bytes from row to row (0: one row for all)."""
    lead = leading(array, shape)
    if not lead or all(n == 1 for n in lead):
        return _solid(array), 0
    if lead != batch:
        array = np.broadcast_to(array, batch + shape)
    elif len(batch) == 1 and _is_packed(array, shape):
        return array, array.strides[0]
    return _solid(array), row_bytes(shape)


def row_bytes(shape: Shape) -> int:
    """Return the size of one packed row in bytes."""
    return 8 * math.prod(shape)


def words(operands: Sequence[tuple[np.ndarray, int]]) -> list[int]:
    """Return address and row stride of each operand, one after another; they hold while the arrays live."""
    return [word for memory, stride in operands for word in (address(memory), stride)]


def plain_words(
    inputs: Sequence[Any], expected_rows: Sequence[tuple[Shape, int, int]]
) -> tuple[Shape, list[int]] | None:
    """Return batch axes and words of the ordinary case, else None.

    The ordinary case are C-order float64 arrays, each with the same batch axes or with none. `expected_rows` holds
    trailing shape, its length and the bytes of a row, for each input. This is the short way;
    `converted`, `common_batch`, `rows` and `words` do everything else.
    """
    batch: Shape = ()
    found: list[int] = []
    for x, (shape, axes, size) in zip(inputs, expected_rows):
        if type(x) is not ndarray or x.dtype is not FLOAT or not (x.flags.carray or _is_solid(x)):
            return None
        if x.shape == shape:
            size = 0
        else:
            batch = batch or x.shape[: x.ndim - axes]
            if not batch or x.shape != batch + shape:
                return None
        found += (address(x), size)
    return (batch, found) if batch else None


def _is_solid(array: np.ndarray) -> bool:
    return array.flags.c_contiguous and array.flags.aligned


def _solid(array: np.ndarray) -> np.ndarray:
    """Return the array in C order and aligned, copied only if it is not."""
    return array if _is_solid(array) else np.array(array, FLOAT, order="C")


def _is_packed(array: np.ndarray, shape: Shape) -> bool:
    """Tell whether each row is contiguous and aligned, whatever the distance between rows."""
    if not array.flags.aligned:
        return False
    step = 8
    for size, stride in zip(reversed(shape), reversed(array.strides)):
        if stride != step and size > 1:
            return False
        step *= size
    return True
