"""A bushing: stiffness and damping in all six directions between two frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import unlike
from articulus.model.mechanism.numbers import as_numbers, convert, quantity, value_of
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.between import two_frames
from articulus.simulation.loop.components.checks import check_frame, wrong
from articulus.simulation.loop.components.columns import Rows, as_matrix
from articulus.spatial.vector import cross

UPSIDE_DOWN = 1e-6
"""Least cos(angle / 2) that is divided by: at half a turn the axis of a rotation has two directions."""


@dataclass(frozen=True)
class Bushing(Disturbance):
    """An elastic connection of two frames, at rest where they coincide.

        x = (2 sin(phi/2) a, r),   generalised force = -(K x + D x')

    r is the place of the second frame in the first, phi and a angle and axis of its rotation; both in axes of the first. The
    measure of rotation is phi to within 1 percent up to 28 degrees, and grows up to half a turn. Force and moments are the
    gradient of x' K x / 2 for any rotation; the first frame feels the opposite wrench, so that momentum is kept.

    Parameters
    ----------
    first, second : str
        Bodies or frames.
    stiffness : 6 numbers or 6 x 6 [N m/rad, N/m]
        K: rotations, then translations. Six numbers are its diagonal; a matrix is symmetric, with units of mixed terms to match.
    damping : 6 numbers or 6 x 6 [N m s/rad, N s/m]
        D.
    name : str
        "<first>_<second>_bushing" if not given.

    Signals: `wrench` on the second frame, ground axes [N m, N]; `displacement` x [rad, m].
    """

    first: str
    second: str
    stiffness: Any = quantity(
        "N m/rad, N/m", "rotations, then translations: diagonal or matrix", size="6 or 6 x 6"
    )
    damping: Any = quantity("N m s/rad, N s/m", "likewise", size="6 or 6 x 6", default=(0.0,) * 6)
    name: str = ""

    type_name = "bushing"
    signals: ClassVar = {"wrench": "N m, N", "displacement": "rad, m"}

    def __post_init__(self) -> None:
        convert(self, stiffness=_square, damping=_square)
        two_frames(self, self.first, self.second)
        for field in ("stiffness", "damping"):
            _definite(self, field)

    def work(self, s: Scope) -> None:
        for frame in (self.first, self.second):
            check_frame(s, self, frame)
        X, Y = (s.ask("pose", s.q, frames=[frame]) for frame in (self.first, self.second))
        V, W = (s.ask("velocity", s.q, s.v, frames=[frame]) for frame in (self.first, self.second))
        A, away = X[:3, :3], Y[:3, 3] - X[:3, 3]
        turning, sliding = ca.mtimes(A.T, W[:3] - V[:3]), ca.mtimes(A.T, W[3:] - V[3:] - cross(V[:3], away))
        turn, slope = _turn(ca.mtimes(A.T, Y[:3, :3]))
        x = ca.vertcat(turn, ca.mtimes(A.T, away))
        rate = ca.vertcat(ca.mtimes(slope, turning), sliding)

        K, D = _matrix(s, self.stiffness), _matrix(s, self.damping)
        force = -ca.mtimes(K, x) - ca.mtimes(D, rate)
        moment, push = ca.mtimes([A, slope.T, force[:3]]), ca.mtimes(A, force[3:])
        wrench = ca.vertcat(moment, push)
        s.wrench(self.second, wrench)
        s.wrench(self.first, -ca.vertcat(moment + cross(away, push), push))
        s.write("wrench", wrench)
        s.write("displacement", x)
        s.stores(ca.dot(x, ca.mtimes(K, x)) / 2)
        s.dissipates(ca.dot(rate, ca.mtimes(D, rate)))


def _turn(R: SX) -> tuple[SX, SX]:
    """Return 2 u of a rotation as quaternion (w, u), and the matrix that gives its rate from the angular velocity."""
    w = ca.sqrt(ca.fmax(1 + ca.trace(R), (2 * UPSIDE_DOWN) ** 2)) / 2
    u = ca.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]) / (4 * w)
    return 2 * u, w * SX.eye(3) - ca.skew(u)


def _square(x: Any) -> Rows:
    """Return a matrix of 6 x 6 from it or from its diagonal."""
    if np.ndim(x) == 2:
        rows = as_matrix(x)
    else:
        numbers = as_numbers(x)
        rows = tuple(tuple(a if i == j else 0.0 for j in range(len(numbers))) for i, a in enumerate(numbers))
    if (len(rows), len(rows[0])) != (6, 6):
        raise unlike("6 numbers or 6 x 6", f"{len(rows)} x {len(rows[0])}")
    return rows


def _definite(bushing: Bushing, field: str) -> None:
    """Raise InputError for a matrix that is not symmetric or has a negative eigenvalue."""
    held = np.array([[value_of(x) for x in row] for row in getattr(bushing, field)])
    size = np.abs(held).max()
    if not np.abs(held - held.T).max() <= 1e-9 * size:
        raise wrong(bushing, field, "a matrix that is not symmetric", "a symmetric one")
    least = np.linalg.eigvalsh(held)[0]
    if not least >= -1e-9 * size:
        raise wrong(bushing, field, f"an eigenvalue of {least:.3g}", "none below 0: it would put energy in")


def _matrix(s: Scope, rows: Rows) -> SX:
    return ca.vertcat(*(ca.horzcat(*map(s.number, row)) for row in rows))
