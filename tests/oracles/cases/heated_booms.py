"""Roots of a standing wave in a rod with its heat; the first mode of a clamped boom driven by a curvature that lags behind the light."""

import math

import numpy as np

E, RHO, C, ALPHA, T0, K = 7e10, 2700.0, 900.0, 2.3e-5, 300.0, 2e9
RADIUS, WALL, LENGTH, CONDUCTIVITY, LIGHT, GIVEN = 0.02, 2e-4, 8.0, 150.0, 1225.0, 5.0
ANGLE = 0.7
BETA = 1.8751040687119611


def expected():
    p, c2, kappa, delta = math.pi, E / RHO, K / (RHO * C), E * ALPHA**2 * T0 / (RHO * C)
    roots = np.roots([1, kappa * p**2, c2 * p**2 * (1 + delta), c2 * kappa * p**4])
    slow = roots[roots.imag.argmax()]
    heat = roots[np.abs(roots.imag).argmin()].real
    rate = CONDUCTIVITY / (RHO * C * RADIUS**2) + GIVEN / (RHO * C * WALL)
    gradient, lag = LIGHT / (2 * RADIUS * RHO * C * WALL) / rate, 1 / rate
    outer, inner = RADIUS + WALL / 2, RADIUS - WALL / 2
    EI, mass = E * math.pi / 4 * (outer**4 - inner**4), RHO * math.pi * (outer**2 - inner**2)
    w = BETA**2 / LENGTH**2 * math.sqrt(EI / mass)
    sigma = (math.cosh(BETA) + math.cos(BETA)) / (math.sinh(BETA) + math.sin(BETA))
    tip = math.cosh(BETA) - math.cos(BETA) - sigma * (math.sinh(BETA) - math.sin(BETA))
    slope = BETA / LENGTH * (math.sinh(BETA) + math.sin(BETA) - sigma * (math.cosh(BETA) - math.cos(BETA)))
    still = EI * ALPHA * gradient * slope * tip / (mass * LENGTH) / w**2
    t, x = np.linspace(0, 30, 300001), w * lag
    shape = 1 - (x**2 * np.exp(-t / lag) + np.cos(w * t) + x * np.sin(w * t)) / (1 + x**2)
    growth = []
    for angle in (ANGLE, math.pi - ANGLE):
        s = np.roots([lag, 1, lag * w**2, w**2 - still * w**2 / LENGTH * math.cos(angle)])
        growth.append(s[s.imag.argmax()].real)
    return {
        "rod: frequency of the first wave [rad/s]": slow.imag,
        "rod: decay of the first wave by its heat [1/s]": -slow.real,
        "rod: decay of the heat that stays [1/s]": -heat,
        "rod: displacement after two periods by the scheme in turn, over that at the start": math.exp(
            4 * math.pi * slow.real / slow.imag
        ),
        "tube: steady difference of temperature across [K/m]": gradient,
        "tube: time constant of it [s]": lag,
        "boom out of the shadow: largest deflection of the tip [m]": still * shape.max(),
        "boom in oblique light: growth of its vibration, light from the tip and from the root [1/s]": growth,
    }
