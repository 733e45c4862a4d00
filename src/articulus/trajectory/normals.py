"""Normal numbers from counters, on symbols: the same counter and key always give the same two numbers, in any order and on any thread.

A counter of two words of 24 bits is mixed by rounds of a Feistel network with a key that changes from round to round: one word x is turned
into x (2 x + 1), the permutation of RC6, and the upper half of its product with a constant is added to the other word. All words are whole
numbers in doubles, and every product is below 2^50, so that nothing is rounded. Box and Muller make two normal numbers of the result.

Source: Salmon, Moraes, Dror & Shaw 2011 (numbers from counters); Rivest, Robshaw, Sidney & Yin 1998 (RC6); Box & Muller 1958.
"""

from __future__ import annotations

import math

import casadi as ca
from casadi import SX

WORD = 2.0**24
MULTIPLIER, WEYL = 15_485_863.0, 10_368_889.0
"""Odd numbers: a multiplier whose bits are spread, and the golden ratio of a word."""
ROUNDS = 8


def mixed(key: tuple[SX, SX], counter: tuple[SX, SX]) -> tuple[SX, SX]:
    """Return two words from two words, for a key of two words."""
    (left, right), keys = counter, list(key)
    for turn in range(ROUNDS):
        squared = _wrapped(right * (2 * right + 1))
        left, right = right, _wrapped(left + ca.floor(MULTIPLIER * squared / WORD) + keys[turn % 2])
        keys[turn % 2] = _wrapped(keys[turn % 2] + WEYL)
    return left, right


def _wrapped(x: SX) -> SX:
    """Return a number modulo a word."""
    return x - ca.floor(x / WORD) * WORD


def pair() -> ca.Function:
    """Return the function (key0, key1, counter0, counter1) -> two normal numbers; all four are whole numbers below 2^24."""
    k0, k1, c0, c1 = (SX.sym(n) for n in ("k0", "k1", "c0", "c1"))
    left, right = mixed((k0, k1), (c0, c1))
    radius = ca.sqrt(-2 * ca.log((left + 0.5) / WORD))
    angle = 2 * math.pi * right / WORD
    return ca.Function(
        "normals", [k0, k1, c0, c1], [ca.vertcat(radius * ca.cos(angle), radius * ca.sin(angle))]
    )
