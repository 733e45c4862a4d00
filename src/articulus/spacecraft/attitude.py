"""Attitude on symbols: quaternions of rotations, modified Rodrigues parameters."""

from __future__ import annotations

import casadi as ca
from casadi import SX


def quaternion_of_matrix(R: SX) -> SX:
    """Return the quaternion (w, x, y, z) of a rotation, w >= 0. Source: Shepperd 1978, the largest of four as divisor."""
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    squares = [1 + trace, *(1 + 2 * R[i, i] - trace for i in range(3))]
    differences = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    sums = {(i, j): R[i, j] + R[j, i] for i in range(3) for j in range(3)}
    rows = [ca.vertcat(squares[0], *differences)]
    for i in range(3):
        rows.append(ca.vertcat(differences[i], *(squares[i + 1] if i == j else sums[i, j] for j in range(3))))
    best, largest = rows[0], squares[0]
    for row, square in zip(rows[1:], squares[1:]):
        best = ca.if_else(square > largest, row, best)
        largest = ca.fmax(largest, square)
    q = best / (2 * ca.sqrt(largest))
    return ca.if_else(q[0] < 0, -q, q)


def mrp_of_quaternion(q: SX) -> SX:
    """Return the modified Rodrigues parameters of a unit quaternion, of length at most 1: tan(angle / 4) times the axis. Source: Schaub & Junkins 2018, section 3.6."""
    sign = ca.if_else(q[0] < 0, -1, 1)
    return sign * q[1:] / (1 + ca.fabs(q[0]))


def conjugate(q: SX) -> SX:
    """Return the inverse of a unit quaternion."""
    return ca.vertcat(q[0], -q[1:])
