"""A screw."""

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.errors import Finding, InputError
from articulus.model.mechanism.expression import Varying
from articulus.model.mechanism.joint.base import AxisJoint, along
from articulus.model.mechanism.joint.closure import axes_with_z, tilt
from articulus.model.mechanism.numbers import Number, as_number, quantity, value_of
from articulus.spatial import Motion, Transform, axis_angle


@dataclass(frozen=True)
class Helical(AxisJoint):
    """Rotation about an axis with a proportional translation along it.

    Parameters
    ----------
    axis : three numbers [-]
        Unit vector of the axis in the joint frame.
    pitch : number or Parameter [m/rad]
        Advance along the axis for one radian.
    """

    pitch: Number | SX = quantity("m/rad", "advance along the axis for one radian", default=0.0)

    type_name = "helical"
    nq = nv = 1
    closure_names = ("x", "y", "advance", "tilt_x", "tilt_y")

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.pitch, SX):
            return
        object.__setattr__(self, "pitch", as_number(self.pitch))
        if not abs(value_of(self.pitch)) < float("inf"):
            raise InputError(
                Finding("Helical.pitch", repr(self.pitch), "a finite number in m/rad", field="pitch")
            )

    def transform(self, q: SX) -> Transform:
        R = axis_angle(self.axis, ca.sin(q[0]), ca.cos(q[0]))
        return Transform(R, along(self.axis) * (self._symbol() * q[0]))

    def motion_subspace(self) -> list[Motion]:
        return [Motion(along(self.axis), along(self.axis) * self._symbol())]

    def closure(self, X: Transform) -> SX:
        F, pitch = axes_with_z(self.axis), self._symbol()
        p, R = ca.mtimes(F.T, X.p), ca.mtimes(F.T, ca.mtimes(X.R, F))
        advance = p[2] if pitch.is_zero() else self._advance(p[2], R, pitch)
        return ca.vertcat(p[:2], advance, tilt(X.R, self.axis))

    @staticmethod
    def _advance(shift: SX, R: SX, pitch: SX) -> SX:
        """Return how far the shift is ahead of the turn, 2 pitch tan(error/2): any number of turns is smooth."""
        sine, cosine = (R[1, 0] - R[0, 1]) / 2, (R[0, 0] + R[1, 1]) / 2
        s, c = ca.sin(shift / pitch), ca.cos(shift / pitch)
        return 2 * pitch * (s * cosine - c * sine) / (1 + c * cosine + s * sine)

    def _symbol(self) -> SX:
        """Return the pitch as a symbol or number; the tree puts a parameter's symbol in its place before it asks."""
        if isinstance(self.pitch, Varying):
            raise TypeError("a parameter must be replaced by its symbol or value first")
        return SX(self.pitch)
