"""Stiffness and loss of a contact from what tables and tests of materials give."""

from __future__ import annotations

import math
from collections.abc import Callable

from articulus.errors import InputError


def hertz_stiffness(
    radius: float, moduli: tuple[float, float], poisson: tuple[float, float] = (0.3, 0.3)
) -> float:
    """Return the stiffness k of N = k depth^(3/2) of two elastic bodies, k = 4/3 E sqrt(R) [N/m^1.5].

    1/E = (1 - nu1^2)/E1 + (1 - nu2^2)/E2.

    Parameters
    ----------
    radius : float [m]
        R of curvature, 1/R = 1/R1 + 1/R2; that of a ball on a plane.
    moduli : two floats [Pa]
        Young's moduli E1 and E2.
    poisson : two floats [-]
        Poisson's ratios.

    Source: Johnson 1985, equation 4.23.
    """
    if not (radius > 0 and min(moduli) > 0):
        raise InputError(f"hertz_stiffness: radius {radius!r}, moduli {moduli!r}; expected numbers above 0")
    joint = 1 / sum((1 - nu**2) / E for nu, E in zip(poisson, moduli))
    return 4 / 3 * joint * math.sqrt(radius)


def restitution_of(dissipation: float, speed: float) -> float:
    """Return the ratio e of the speeds after and before an impact [-].

    With x = 3/2 a v the law of Hunt and Crossley gives x (1 + e) = ln((1 + x)/(1 - e x)), whatever stiffness and mass.

    Parameters
    ----------
    dissipation : float [s/m]
        a.
    speed : float [m/s]
        v before the impact.

    Source: Hunt & Crossley 1975.
    """
    x = 1.5 * dissipation * speed
    if x < 0:
        raise InputError(
            f"restitution_of: dissipation {dissipation!r}, speed {speed!r}; expected numbers of at least 0"
        )
    if x < 1e-6:
        return 1 - 2 * x / 3
    return _root(lambda e: _excess(x, e), 0.0, min(1.0, (1 - 1e-15) / x))


def dissipation_of(restitution: float, speed: float) -> float:
    """Return the loss a of a contact [s/m] for which an impact at a speed has a restitution.

    Parameters
    ----------
    restitution : float [-]
        Above 0, at most 1.
    speed : float [m/s]
        Before the impact.
    """
    if not (0 < restitution <= 1 and speed > 0):
        raise InputError(
            f"dissipation_of: restitution {restitution!r} at speed {speed!r}; expected a restitution above 0 and up to 1, and a "
            "speed above 0"
        )
    if restitution > 1 - 1e-6:
        return (1 - restitution) / speed
    return _root(lambda x: _excess(x, restitution), 1e-9, (1 - 1e-13) / restitution) / (1.5 * speed)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function of one number is zero."""
    from scipy.optimize import brentq  # late: its import would slow down every first run

    return float(brentq(function, low, high, xtol=1e-15))


def _excess(x: float, e: float) -> float:
    """Return what vanishes when x and e belong together; falling in both."""
    return x * (1 + e) - math.log1p(x) + math.log1p(-e * x)
