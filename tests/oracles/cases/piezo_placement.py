"""Data of Devasia, Meressi, Paden & Bayo 1993: section, gain and frequencies; limits of small damping in closed form."""

import numpy as np

L, B, TB, TA, TP = 0.5, 0.05, 0.01, 2e-5, 2e-4
EB, EA, EP, D31, RHO = 70e9, 2.4e9, 63e9, 120e-12, 2500.0


def expected():
    beam = B * TB**3 / 12
    ba, bp = B * EA / EB, B * EP / EB
    whole = (
        beam
        + 2 * (ba * TA**3 / 12 + ba * TA * (TB / 2 + TA / 2) ** 2)
        + 2 * (bp * TP**3 / 12 + bp * TP * (TB / 2 + TA + TP / 2) ** 2)
    )
    section = 2 * B * EP * D31 * (TB / 2 + TA + TP / 2)
    first = (np.pi / L) ** 2 * np.sqrt(EB * beam / (RHO * B * TB)) / (2 * np.pi)
    # both modes damped alike, from one end: 1 - cos a = 2 (1 - cos 2 a) = 4 (1 - cos^2 a)
    end = np.arccos(-3 / 4) / np.pi
    return {
        "I_Eq and I_b [1e-9 m^4]": [1e9 * whole, 1e9 * beam],
        "K* and K [1e-3 N m/V]": [1e3 * section, 1e3 * section * beam / whole],
        "frequencies of the two modes [Hz]": [first, 4 * first],
        "passive without structural damping: length and middle": [end, end / 2],
        "Gramian, finer: length and middle": [2 / 3, 1 / 3],
        "passive, beam of 32 elements: length and middle": [end, end / 2],
    }
