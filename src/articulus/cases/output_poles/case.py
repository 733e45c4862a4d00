"""Poles by static output feedback: the two examples of the source."""

import warnings

import numpy as np

from articulus.control.synthesis import output_poles

A1 = [
    [0.581314086914, 0.504058837890, 0.559921264648, 0.741333007812, 0.303421020507],
    [0.166717529296, 0.157394409179, 0.665222167968, 0.933609008789, 0.144439697265],
    [0.353500366210, 0.441650390625, 0.373367309570, 0.771942138671, 0.078048706054],
    [0.836242675781, 0.200820922851, 0.072296142578, 0.598373413085, 0.638671875000],
    [0.244094848632, 0.936126708984, 0.607955932617, 0.154357910156, 0.154678344726],
]
B1_TRANSPOSED = [
    [0.549163818359, 0.843856811523, 0.178649902343, 0.409255981445, 0.595489501953],
    [0.942672729492, 0.008666992187, 0.239028930664, 0.142791748046, 0.671371459960],
    [0.613098144531, 0.065872192382, 0.300445556640, 0.576828002929, 0.726318359375],
]
C1 = [
    [0.561660766601, 0.332702636718, 0.355514526367, 0.279266357421, 0.531448364257],
    [0.427825927734, 0.648269653320, 0.666625976562, 0.572494506835, 0.972076416015],
    [0.455917358398, 0.134307861328, 0.497573852539, 0.212463378906, 0.653732299804],
]
POLES1 = [0.704589843750, 0.421768188476, 0.572113037109, 0.396102905273, 0.127380371093]
A2 = [
    [0.356336616284, -0.356626507847, -1.198870998736],
    [-0.210549376245, 2.165165719183, -0.882324378697],
    [-0.355939324751, -0.506195941988, 0.721098719251],
]
B2 = [[1.606955436561, -0.407338058168], [0.062823512419, -0.595038063525], [-1.611627967397, 0.616657720777]]
C2 = [[-1.182820557312, 0.343687857622, -0.357421120340]]
POLES2 = [-0.406648486670, -0.366406484747]


def compute() -> dict:
    first = output_poles((A1, np.transpose(B1_TRANSPOSED), C1, None, 1.0), POLES1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the third pole of the second example is unstable, as printed
        second = output_poles((A2, B2, C2, None, 1.0), POLES2)
    found = np.linalg.eigvals(first.closed.A)
    return {
        "example 1: gain, first row": first.gain[0],
        "example 1: gain, second row": first.gain[1],
        "example 1: gain, third row": first.gain[2],
        "example 1: largest distance of a pole from where it should be": max(
            np.abs(found - s).min() for s in POLES1
        ),
        "example 2: gain": second.gain.ravel(),
        "example 2: pole that is not chosen": second.left.real,
        "example 2: the loop is unstable, and the report says so (1 = yes)": not second.checks[0].passed,
    }
