"""Nothing here is recomputed but the closed form of the frequency at which both errors are equal."""

from math import pi, sin


def expected():
    low, high = 0.2, 0.5
    for _ in range(200):  # 2 sin(7.5 a) = 2 sin(1.5 a), the amplitudes of both errors of an inertia
        middle = 0.5 * (low + high)
        if sin(7.5 * middle) > sin(1.5 * middle):
            low = middle
        else:
            high = middle
    return {"inertia alone: frequency at which both errors are equal [rad/s]": 0.5 * (low + high) * 1500 / pi}
