"""Attitude and momentum of a station at its torque equilibrium: gains of a regulator."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import Finding, InputError
from articulus.spatial.vector import skew


def station_matrices(inertia: Sequence[float], rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Return A and B of a station near the axes of its orbit: x = (angles, rates, momentum h of its gyros, integral of h), u the torque on the gyros.

    J w' = -w x J w + 3 n^2 e x J e - u,  h' = -w x h + u, linearized; rates are relative to the axes of the orbit, which turn by n about -y.

    Parameters
    ----------
    inertia : 3 or 6 numbers [kg m^2]
        Moments, and products xy, xz, yz.
    rate : float [rad/s]
        n, mean motion of the circular orbit.

    Notes
    -----
    Source: Wie et al. 1989; Hughes 1986, section 9.1.
    """
    if len(inertia) not in (3, 6) or not rate > 0:
        raise InputError(
            Finding(
                "station",
                f"{len(inertia)} numbers of inertia, rate {rate!r}",
                "3 or 6 numbers, a rate above 0",
            )
        )
    xx, yy, zz, *products = map(float, inertia)
    xy, xz, yz = products or (0.0, 0.0, 0.0)
    J = ca.DM([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    theta, relative, h, total, u = (SX.sym(n, 3) for n in ("theta", "relative", "h", "total", "u"))
    to_craft = SX.eye(3) - skew(theta)
    turning = ca.mtimes(to_craft, SX([0, -rate, 0]))
    w, e = turning + relative, ca.mtimes(to_craft, SX([0, 0, 1]))
    torque = -ca.cross(w, ca.mtimes(J, w)) + 3 * rate**2 * ca.cross(e, ca.mtimes(J, e)) - u
    apart = ca.cross(turning, relative)  # the craft's axes turn
    x = ca.vertcat(theta, relative, h, total)
    rhs = ca.vertcat(relative, ca.mtimes(ca.inv(J), torque) - apart, -ca.cross(w, h) + u, h)
    f = ca.Function("f", [x, u], [ca.jacobian(rhs, x), ca.jacobian(rhs, u)])
    A, B = f(0, 0)
    return np.array(A), np.array(B)


def momentum_gains(
    inertia: Sequence[float], rate: float, *, angle: float, momentum: float, torque: float
) -> np.ndarray:
    """Return the gains K, (3, 12), of u = -K x with x of `station_matrices`, that weigh squares of angles and momentum against torque.

    Parameters
    ----------
    inertia, rate
        As of `station_matrices`.
    angle, momentum, torque : float [rad], [N m s], [N m]
        What is large of each; the integral of the momentum counts as momentum / rate.
    """
    from articulus.numerics.riccati import care  # late: with SciPy, which a run does not need

    sizes = {"angle": angle, "momentum": momentum, "torque": torque}
    for name, value in sizes.items():
        if not 0 < value < np.inf:
            raise InputError(Finding(f"momentum_gains, {name}", repr(value), "a number above 0", field=name))
    A, B = station_matrices(inertia, rate)
    large = np.repeat([angle, angle * rate, momentum, momentum / rate], 3)
    A, B = A * large / large[:, None] / rate, B * torque / large[:, None] / rate  # of order one
    X = care(A, B, np.eye(12), np.eye(3)).X
    return B.T @ X * torque / large
