"""The two-link arm with one exact clamped-free mode a link, by Lagrange's equations on symbols; shares no code with `dynamics`."""

from __future__ import annotations

import casadi as ca
import numpy as np
from casadi import SX

from articulus.model.library.king_arm import LENGTH, MASS, ROUND

ROOT = 1.875104068711961
GRAVITY = 9.81


def shape(x: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
    """Return the first clamped-free mode and its slope [1/m] at x [m]; it is 2 at the tip."""
    s = (np.cosh(ROOT) + np.cos(ROOT)) / (np.sinh(ROOT) + np.sin(ROOT))
    u, k = ROOT * np.asarray(x) / LENGTH, ROOT / LENGTH
    value = np.cosh(u) - np.cos(u) - s * (np.sinh(u) - np.sin(u))
    return value, k * (np.sinh(u) + np.sin(u) - s * (np.cosh(u) - np.cos(u)))


def equations(payload: float, cayley: bool) -> ca.Function:
    """Return (z, z', z'') -> (forces, H) with z = (q1, delta1, q2, delta2).

    Parameters
    ----------
    payload : float [kg]
        Point mass at the tip.
    cayley : bool
        Whether joint 2 is turned by 2 atan(slope / 2) instead of the slope of the tip.
    """
    z, zd, zdd = (SX.sym(name, 4) for name in ("z", "zd", "zdd"))
    tip, slope = map(float, shape(LENGTH))
    bend = slope * z[1]
    turned = z[0] + (2 * ca.atan(bend / 2) if cayley else bend) + z[2]
    elbow = along(z[0], LENGTH, tip * z[1])
    kinetic, potential = SX(0), SX(0)
    nodes, weights = np.polynomial.legendre.leggauss(24)
    masses = [(x, float(w) * MASS / 2) for x, w in zip((nodes + 1) / 2 * LENGTH, weights)]
    points = [(along(z[0], x, float(shape(x)[0]) * z[1]), m) for x, m in masses]
    points += [(elbow + along(turned, x, float(shape(x)[0]) * z[3]), m) for x, m in masses]
    points += [(elbow + along(turned, LENGTH, tip * z[3]), payload)]
    for place, mass in points:
        kinetic += 0.5 * mass * ca.sumsqr(ca.jtimes(place, z, zd))
        potential += mass * GRAVITY * place[1]
    stiffness = ROUND * ROOT**4 / LENGTH**4 * MASS / (MASS / LENGTH)
    potential += 0.5 * stiffness * (z[1] ** 2 + z[3] ** 2)
    momentum = ca.gradient(kinetic, zd)
    H = ca.jacobian(momentum, zd)
    forces = ca.mtimes(H, zdd) + ca.jtimes(momentum, z, zd) - ca.gradient(kinetic - potential, z)
    return ca.Function("equations", [z, zd, zdd], [forces, H])


def along(angle: SX, x: float, y: SX) -> SX:
    """Return the point (x, y) of a link at an angle."""
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.vertcat(c * x - s * y, s * x + c * y)
