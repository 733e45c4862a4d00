"""Rows from which joints build the equations of a closed loop.

All are of first order in the error, have unit slope at zero, and stay clear of zero up to half a turn: a Newton step
is minus the sine of the error, never an overshoot, and an axis that points backwards does not pass for closed.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
from casadi import SX

from articulus.spatial import frame_with_z


def axes_with_z(axis: Sequence[float]) -> SX:
    """Return the constant rotation whose third column is `axis`."""
    return SX(ca.DM(frame_with_z(axis)))


def tilt(R: SX, axis: Sequence[float]) -> SX:
    """Return two rows that vanish when R leaves `axis` where it is: 2 tan(angle/2) across the axis, (2,)."""
    F = axes_with_z(axis)
    turned = ca.mtimes(F.T, ca.mtimes(R, F[:, 2]))
    return 2 * turned[:2] / (1 + turned[2])


def turn(R: SX) -> SX:
    """Return three rows that vanish when R is the identity: 2 tan(angle/2) times the axis, (3,)."""
    skew_part = ca.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])
    return 2 * skew_part / (1 + ca.trace(R))
