"""A panel that a spring unfolds from a free hub: angular momentum and energy leave quadratures up to the latch."""

import numpy as np
from scipy.integrate import quad

HUB, PANEL, D, ARM = (
    60.0,
    8.0,
    0.5,
    0.9,
)  # kg, kg, m: hinge from the hub's center, panel's center from the hinge
I_HUB, I_PANEL, SPRING, REST = 15.0, 3.0, 1.5, 0.3
START, RATE, END = -np.pi / 2, 0.1, 5.0
MR = HUB * PANEL / (HUB + PANEL)
C = I_PANEL + MR * ARM**2


def J(q):
    return I_HUB + I_PANEL + MR * (D**2 + ARM**2 + 2 * D * ARM * np.cos(q))


def B(q):
    return I_PANEL + MR * (ARM**2 + D * ARM * np.cos(q))


L = J(START) * RATE


def speed(q):
    """Return the rate of the hinge, from rest at the start."""
    work = SPRING * ((START - REST) ** 2 - (q - REST) ** 2) / 2 + L**2 / 2 * (1 / J(START) - 1 / J(q))
    return np.sqrt(2 * work / (C - B(q) ** 2 / J(q)))


def expected():
    # q = START + s^2 takes the root of the speed at the start away
    last = np.sqrt(-START)

    def along(f):
        return quad(
            lambda s: f(START + s * s) * 2 * s / speed(START + s * s),
            0,
            last,
            epsabs=1e-13,
            epsrel=1e-13,
            limit=200,
        )[0]

    time = along(lambda q: 1.0)
    angle = along(lambda q: (L - B(q) * speed(q)) / J(q))
    after = L / J(0.0)
    return {
        "time of the latch [s]": time,
        "rate of the whole at 5 s [rad/s]": after,
        "angle of the hub at 5 s [rad]": angle + after * (END - time),
        "energy lost [J]": (C - B(0.0) ** 2 / J(0.0)) * speed(0.0) ** 2 / 2,
    }
