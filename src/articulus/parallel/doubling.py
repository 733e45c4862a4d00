"""Recurrences in logarithmic depth: recursive doubling, also called parallel prefix or scan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def prefixes(items: Sequence[T], combine: Callable[[T, T], T]) -> tuple[list[T], int]:
    """Return x1, x1 o x2, x1 o x2 o x3, ... and the number of sweeps, each of which is one step on as many processors as items.

    X0(i) = a(i);  Xk(i) = Xk-1(i - 2^(k-1)) o Xk-1(i) where i > 2^(k-1), else Xk-1(i).

    Parameters
    ----------
    items : sequence
    combine : callable
        Associative: from (left, right) to their combination. It may work on symbols.

    Returns
    -------
    list, int
        With n items and the neutral one in front of them, the logarithm to base 2 of n + 1, rounded up, of the source is one sweep more
        than is needed when n is a power of two; the sweeps here are the logarithm of n, rounded up.

    Source: Lee & Lin 1989; Fijany & Bejczy 1989.
    """
    found, step, sweeps = list(items), 1, 0
    while step < len(found):
        found = [combine(found[i - step], x) if i >= step else x for i, x in enumerate(found)]
        step, sweeps = 2 * step, sweeps + 1
    return found, sweeps
