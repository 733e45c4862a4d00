"""Normal numbers from counters, on symbols: the same counter and key always give the same two numbers, in any order and on any thread.

A counter of two words of 24 bits is mixed by rounds of a Feistel network with a key that changes from round to round: one word x is turned
into x (2 x + 1), the permutation of RC6, and the upper half of its product with a constant is added to the other word. All words are held
as fractions of 2^24 in doubles, and every product has less than 53 bits, so that nothing is rounded. Box and Muller make two normal numbers
of the result.

Source: Salmon, Moraes, Dror & Shaw 2011 (numbers from counters); Rivest, Robshaw, Sidney & Yin 1998 (RC6); Box & Muller 1958.
"""

from __future__ import annotations

import math

import casadi as ca
import numpy as np
from casadi import SX

WORD = 2**24
MULTIPLIER, WEYL = 15_485_863, 10_368_889
"""Odd numbers: a multiplier whose bits are spread, and the golden ratio of a word."""
ROUNDS = 8
TERMS = 10
"""Of sine and cosine."""


def round_keys(key: tuple[int, int]) -> np.ndarray:
    """Return what each round adds, over 2^24, for a key of two words.

    Of all numbers that are equal modulo a word those are taken that, with the upper half of the product, add less than one word up or down:
    so mixing may leave out reductions.
    """
    words = np.array([key[turn % 2] + turn // 2 * WEYL for turn in range(ROUNDS)])
    middle = (WORD + MULTIPLIER) // 2
    return ((words + middle) % WORD - middle) / WORD


def mix_words(keys: SX, counter: tuple[SX, SX]) -> tuple[SX, SX]:
    """Return two words from two words, over 2^24, for the keys of the rounds.

    A word that was not reduced after three additions of less than a word is below 4, and its x (2 x + 1) has less than 53 bits; the one that
    the last round reads had four.
    """
    left, right = (word / WORD for word in counter)
    for turn in range(ROUNDS):
        right = _fraction(right) if turn == ROUNDS - 1 else right
        squared = _fraction(right * (2 * WORD * right + 1))
        left, right = right, left + ca.floor(MULTIPLIER * squared) * (1 / WORD) + keys[turn]
    return left, _fraction(right)


def _fraction(x: SX) -> SX:
    return x - ca.floor(x)


def _half_turn(y: SX) -> tuple[SX, SX]:
    """Return sine and cosine of pi y for |y| <= 1/2, by Taylor's series; the error is below 4e-15."""
    square, sine, cosine = y * y, SX(0), SX(0)
    for k in range(TERMS - 1, -1, -1):
        sine = (-1) ** k * math.pi ** (2 * k + 1) / math.factorial(2 * k + 1) + square * sine
        cosine = (-1) ** k * math.pi ** (2 * k) / math.factorial(2 * k) + square * cosine
    return y * sine, cosine


def pair() -> ca.Function:
    """Return the function (round_keys, counter0, counter1) -> two normal numbers; counters are whole numbers below 2^24."""
    keys, c0, c1 = SX.sym("keys", ROUNDS), SX.sym("c0"), SX.sym("c1")
    left, right = mix_words(keys, (c0, c1))
    radius = ca.sqrt(-2 * ca.log(left + 0.5 / WORD))
    sine, cosine = _half_turn(right - 0.5)  # of half the angle
    across = 2 * radius * sine
    return ca.Function("normals", [keys, c0, c1], [ca.vertcat(radius - across * sine, across * cosine)])
