"""Rocket of Psiaki 1989: range in closed form, and linear programs of 24 stages by HiGHS."""

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import lil_matrix

G, STAGES, TIME, THRUST, IMPULSE = 32.2, 24, 12.0, 5.0, 10.0


def programmed(sides, radius, turn):
    """Return the range [ft] with pushes of at most 5 g in all along some directions."""
    dt = TIME / STAGES
    angle = turn + 2 * np.pi * np.arange(sides) / sides
    left = TIME - (np.arange(STAGES) + 0.5) * dt  # a push in a stage moves the end by dt times this
    far = np.outer(left * dt, radius * G * np.cos(angle)).ravel()
    rows, limits = lil_matrix((2 * STAGES + 1, STAGES * sides)), []
    for k in range(STAGES):
        rows[k, k * sides : (k + 1) * sides] = 1.0
        limits.append(THRUST)
    for k in range(1, STAGES + 1):  # altitude at the end of each stage is not negative
        t = k * dt
        lift = np.outer((t - (np.arange(k) + 0.5) * dt) * dt, radius * G * np.sin(angle)).ravel()
        rows[STAGES + k - 1, : k * sides] = -lift
        limits.append(-G * t * t / 2)
    rows[2 * STAGES] = dt
    found = linprog(-far, A_ub=rows.tocsr(), b_ub=[*limits, IMPULSE], bounds=(0, None), method="highs")
    return -found.fun


def expected():
    half = np.pi / 8
    radii = 1.0, 1 / np.cos(half), np.sqrt(np.pi / (8 * np.sin(half) * np.cos(half)))
    return {
        # 5 g for 2 s, then 10 s of coasting: 110 g s^2 in all directions, of which 72 g s^2 hold the altitude
        "range [ft]": 110 * G * np.sqrt(1 - (72 / 110) ** 2),
        "range with 64 directions of thrust [ft]": programmed(64, 1.0, 0.0),
        "range, octagon with a corner ahead: within, around, same area [ft]": [
            programmed(8, r, 0.0) for r in radii
        ],
        "range, octagon with a side ahead: within, around, same area [ft]": [
            programmed(8, r, half) for r in radii
        ],
    }
