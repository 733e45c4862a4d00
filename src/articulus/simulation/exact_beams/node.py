"""A node of a beam: a rigid body of constant inertia in its own axes, with loads.

The inertia of an element is gathered at its ends by the trapezoidal rule with end correction,
int f ds = h (f_A + f_B) / 2 + h^2 (f_A' - f_B') / 12: half of the mass at either end, its center h/6 inwards. The centers of two
equal neighbors cancel, so that only ends and jumps of the section have an offset; frequencies then err by h^3 or less, and gravity
gives the consistent end moments of a cubic element. (The trapezoidal rule alone errs by h^2.)
"""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
from casadi import SX

from articulus import kernel
from articulus.simulation.exact_beams.lie import ad, displace
from articulus.spatial.rotation import quaternion_matrix


def inertia(mass: float, moment: np.ndarray, turning: np.ndarray) -> np.ndarray:
    """Return the 6 x 6 inertia of a body about its node, angular part first.

    Parameters
    ----------
    mass : float [kg]
    moment : array, (3,) [kg m]
        First moment: mass times center.
    turning : array, (3, 3) [kg m^2]
        Moment of inertia about the center of mass.
    """
    S = _skew(moment)
    return np.block([[turning - S @ S / mass, S], [-S, mass * np.eye(3)]])


@cache
def residual() -> kernel.Kernel:
    """Return the kernel of M (v' - (0, R'g)) - ad(v)' M v - f, (6,), in body axes.

    Inputs: pose (7), v (6), v' (6), M (6, 6), gravity (3), dead (6: moment and force that keep their direction), follower (6: those
    that turn with the node).
    """
    inputs, change, value = _equations()
    return kernel.compile(ca.Function("beam_node", list(inputs), [_at_rest(value, change)]))


@cache
def tangent() -> kernel.Kernel:
    """Return the kernel of K + by_v C + by_vdot M, (6, 6), the derivative of `residual` along displacements.

    Inputs: those of `residual`, then by_v and by_vdot: how much v and v' change with the pose.
    """
    inputs, change, value = _equations()
    by_v, by_vdot = SX.sym("by_v"), SX.sym("by_vdot")
    slope = ca.jacobian(value, change) + by_v * ca.jacobian(value, inputs[1]) + by_vdot * inputs[3]
    return kernel.compile(
        ca.Function("beam_node_tangent", [*inputs, by_v, by_vdot], [_at_rest(slope, change)])
    )


def _equations() -> tuple[tuple[SX, ...], SX, SX]:
    """Return the inputs, a displacement and the equations of the displaced node."""
    q, v, vdot, M = SX.sym("q", 7), SX.sym("v", 6), SX.sym("vdot", 6), SX.sym("M", 6, 6)
    g, dead, follower = SX.sym("g", 3), SX.sym("dead", 6), SX.sym("follower", 6)
    inputs = (q, v, vdot, M, g, dead, follower)
    change = SX.sym("change", 6)
    R = quaternion_matrix(displace(q, change)[:4])
    weight = ca.mtimes(M, ca.vertcat(SX(3, 1), ca.mtimes(R.T, g)))
    loads = follower + weight + ca.vertcat(ca.mtimes(R.T, dead[:3]), ca.mtimes(R.T, dead[3:]))
    return inputs, change, ca.mtimes(M, vdot) - ca.mtimes(ad(v).T, ca.mtimes(M, v)) - loads


def _at_rest(expression: SX, change: SX) -> SX:
    return ca.substitute(expression, change, SX.zeros(change.shape))


def _skew(a: np.ndarray) -> np.ndarray:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
