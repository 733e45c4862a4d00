"""A station of a flexible body: where it is, and how it moves with the modal coordinates.

The station shifts by translation eta + 1/2 eta' shortening eta and turns by the rotation vector theta = rotation eta +
1/2 eta' turning eta: R = cayley(theta), whose rate map is exact for any theta. In the tree it is a node whose free directions
are the motions U that unit modal rates give it.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.flexible.integrals import sparse
from articulus.mechanism.modes import Modes
from articulus.spatial import Force, Motion, Transform, cayley, cross, skew


@dataclass(frozen=True)
class Station:
    """A station at the modal coordinates of its body; motions are in the axes of the station."""

    eta: SX
    X: Transform
    """Pose in the frame of the body."""
    theta: Series
    """Rotation vector."""
    shift: Series
    """Displacement, in the axes of the body."""
    turn: SX
    """(3, 3) Angular velocity for unit rates of the rotation vector."""
    stiff: bool
    """Whether masses and forces are where the body is undeformed."""

    @staticmethod
    def of(modes: Modes, name: str, eta: SX, stiff: bool = False) -> Station:
        """Return a station of a body, with `stiff` that of the undeformed body."""
        held = modes.station(name)
        if stiff:
            eta = SX.zeros(modes.count)
        second = modes.level == "consistent"
        shift = Series(held.translation, held.shortening if second else None, eta)
        theta = Series(held.rotation, held.turning if second else None, eta)
        R, turn = cayley(theta.value)
        return Station(eta, Transform(R, SX(ca.DM(held.position)) + shift.value), theta, shift, turn, stiff)

    @functools.cached_property
    def U(self) -> SX:
        """Motions of unit modal rates, (6, n)."""
        return ca.vertcat(ca.mtimes(self.turn, self.theta.slope), ca.mtimes(self.X.R.T, self.shift.slope))

    def bending(self, rate: SX) -> Motion:
        """Return the acceleration on the body at constant modal rates, the linear part that of the origin."""
        if self.stiff:
            return Motion.zero()
        theta_rate = ca.mtimes(self.theta.slope, rate)
        turning = _turning()["acceleration"](self.theta.value, theta_rate, self.theta.bend(rate))
        return Motion(turning, ca.mtimes(self.X.R.T, self.shift.bend(rate)))

    def turned_rate(self, rate: SX) -> Motion:
        """Return the derivative of the components of U rate at constant modal rates."""
        bending, U = self.bending(rate), ca.mtimes(self.U, rate)
        return Motion(bending.w, bending.v - cross(U[:3], U[3:]))

    def direction_rates(self, rate: SX) -> list[Motion]:
        """Return the derivatives of the components of each column of U."""
        columns = ca.reshape(ca.jtimes(ca.vec(ca.densify(self.U)), self.eta, rate), 6, self.eta.numel())
        return [Motion.of(column) for column in ca.horzsplit(columns)]

    def motion_slopes(self, rate: SX, acceleration: SX) -> tuple[SX, SX, SX]:
        """Return derivatives of its motion on the body, (6, n) each, in components of its own axes.

        Returns
        -------
        tuple of SX
            U rate by eta; the derivative of its components, U acceleration + dU/dt rate, by eta; and the same by the rates.
        """
        theta, shift, R = self.theta, self.shift, self.X.R.T
        rates = [ca.mtimes(x.slope, rate) for x in (theta, shift)]
        second = [ca.mtimes(x.slope, acceleration) + x.bend(rate) for x in (theta, shift)]
        inputs = (theta.value, rates[0], second[0], rates[1], second[1])
        by_theta, bending_by_theta, bending_by_rate = _turning()["slopes"](*inputs)
        turning, shifting = theta.slope_of(rate), ca.mtimes(R, shift.slope_of(rate))
        w, R_slope = ca.mtimes(self.turn, rates[0]), ca.mtimes(R, shift.slope)
        velocity = ca.mtimes(by_theta, theta.slope) + ca.vertcat(ca.mtimes(self.turn, turning), shifting)
        more = ca.vertcat(
            ca.mtimes(self.turn, theta.slope_of(acceleration)),
            ca.mtimes(R, shift.slope_of(acceleration)) - ca.mtimes(skew(w), shifting),
        )
        by_q = ca.mtimes(bending_by_theta, theta.slope) + ca.mtimes(bending_by_rate, turning) + more
        more = ca.vertcat(2 * ca.mtimes(self.turn, turning), 2 * shifting - ca.mtimes(skew(w), R_slope))
        return velocity, by_q, ca.mtimes(bending_by_rate, theta.slope) + more

    def force_slope(self, force: Force) -> SX:
        """Return the derivative of the modal forces U' force by eta, (n, n)."""
        along, push = ca.mtimes(self.turn.T, force.n), ca.mtimes(self.X.R, force.f)
        by_theta, push_by_theta = _turning()["force"](self.theta.value, force.n, force.f)
        turned = ca.mtimes(self.theta.slope.T, by_theta) + ca.mtimes(self.shift.slope.T, push_by_theta)
        return ca.mtimes(turned, self.theta.slope) + self.theta.curvature(along) + self.shift.curvature(push)


class Series:
    """A vector first eta + 1/2 eta' second eta, (3,).

    Parameters
    ----------
    first : array, (3, n)
    second : array, (3, n, n), or None
    eta : SX, (n,)
    """

    def __init__(self, first: np.ndarray, second: np.ndarray | None, eta: SX):
        self._second = [sparse(h) for h in second] if second is not None and second.any() else None
        H = self.slope_of(eta)
        self.value = ca.mtimes(sparse(first), eta) + 0.5 * ca.mtimes(H, eta)
        self.slope = sparse(first) + H
        """Derivative by eta, (3, n)."""

    def slope_of(self, x: SX) -> SX:
        """Return the derivative of the slope by eta along x, (3, n)."""
        if self._second is None:
            return SX(3, x.numel())
        return ca.vertcat(*(ca.mtimes(h, x).T for h in self._second))

    def bend(self, rate: SX) -> SX:
        """Return the second derivative along rates, (3,)."""
        return ca.mtimes(self.slope_of(rate), rate)

    def curvature(self, along: SX) -> SX:
        """Return the second derivative of its component along a vector (3,), (n, n)."""
        if self._second is None:
            return SX(self.slope.shape[1], self.slope.shape[1])
        x, y, z = self._second
        return along[0] * x + along[1] * y + along[2] * z


@functools.cache
def _turning() -> dict[str, ca.Function]:
    """Return functions of a rotation vector theta and of its first two derivatives in time.

    "acceleration": to the derivative of the components of the angular velocity. "slopes": with first and second derivative of the
    displacement in body axes too, to derivatives of the velocity (w, R' p_rate) by theta, and of the derivative of its components
    by theta and by the rate of theta, (6, 3) each. "force": with moment n and force f, to the derivatives of turn' n and R f by
    theta, (3, 3) each.
    """
    theta, rate, second, p_rate, p_second, n, f = (SX.sym(x, 3) for x in "abcdefg")
    R, turn = cayley(theta)
    w, v = ca.mtimes(turn, rate), ca.mtimes(R.T, p_rate)
    turning = ca.mtimes(turn, second) + ca.jtimes(w, theta, rate)
    velocity, bending = ca.vertcat(w, v), ca.vertcat(turning, ca.mtimes(R.T, p_second) - cross(w, v))
    slopes = [ca.jacobian(velocity, theta), ca.jacobian(bending, theta), ca.jacobian(bending, rate)]
    forces = [ca.jacobian(ca.mtimes(turn.T, n), theta), ca.jacobian(ca.mtimes(R, f), theta)]
    return {
        "acceleration": ca.Function("acceleration", [theta, rate, second], [turning]),
        "slopes": ca.Function("slopes", [theta, rate, second, p_rate, p_second], ca.cse(slopes)),
        "force": ca.Function("force", [theta, n, f], ca.cse(forces)),
    }
