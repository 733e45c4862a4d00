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

from articulus.dynamics.flexible.data import StationShapes
from articulus.dynamics.flexible.integrals import nonzero, sparse
from articulus.spatial import Force, Motion, Transform, cayley, cross, skew


@dataclass(frozen=True)
class DeformedStation:
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

    U: SX
    """Motions of unit modal rates, (6, n)."""

    @staticmethod
    def place(shapes: StationShapes, eta: SX, stiff: bool = False) -> SX:
        """Return the numbers that change with the modal coordinates: these, then what `placed` makes a station of.

        Parameters
        ----------
        shapes : Shapes
        eta : SX, (n,)
        stiff : bool
            Whether it is that of the undeformed body.
        """
        if stiff:
            eta = SX(eta.numel(), 1)
        shift = Series.of(shapes.translation, shapes.shortening, eta)
        theta = Series.of(shapes.rotation, shapes.turning, eta)
        R, turn = cayley(theta.value)
        X = Transform(R, sparse(shapes.position) + shift.value)
        U = ca.vertcat(ca.mtimes(turn, theta.slope), ca.mtimes(R.T, shift.slope))
        return ca.vertcat(eta, X.pack(), theta.value, *map(ca.vec, (turn, theta.slope, shift.slope, U)))

    @staticmethod
    def at_place(shapes: StationShapes, place: SX, stiff: bool = False) -> DeformedStation:
        """Return the station at a place."""
        n = shapes.translation.shape[1]
        sizes = (n, 12, 3, 9, 3 * n, 3 * n, 6 * n)
        eta, X, angle, turn, turning, shifting, U = ca.vertsplit(place, [0, *np.cumsum(sizes).tolist()])
        theta = Series(shapes.turning, angle, ca.reshape(turning, 3, n))
        at = Transform.unpack(X)
        shift = Series(shapes.shortening, at.p - sparse(shapes.position), ca.reshape(shifting, 3, n))
        return DeformedStation(eta, at, theta, shift, ca.reshape(turn, 3, 3), stiff, ca.reshape(U, 6, n))

    def bending(self, rate: SX) -> Motion:
        """Return the acceleration on the body at constant modal rates, the linear part that of the origin."""
        if self.stiff:
            return Motion.zero()
        theta_rate = ca.mtimes(self.theta.slope, rate)
        turning = self._turning(theta_rate, self.theta.bend(rate))
        return Motion(turning, ca.mtimes(self.X.R.T, self.shift.bend(rate)))

    def _turning(self, rate: SX, second: SX) -> SX:
        """Return the derivative of the angular velocity from two derivatives of the rotation vector, (3,) each.

        The turn (1 - c~) k has the derivative -k (c . theta') turn - k c'~, with c = theta / 2 and k = 1 / (1 + c . c).
        """
        return ca.mtimes(self.turn, second) - ca.dot(self._kc, rate) * ca.mtimes(self.turn, rate)

    @functools.cached_property
    def _kc(self) -> SX:
        """k c: half of the rotation vector over 1 + c . c."""
        return 0.5 * self.turn[0, 0] * self.theta.value

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
        theta, shift, R, turn = self.theta, self.shift, self.X.R.T, self.turn
        rates = [ca.mtimes(x.slope, rate) for x in (theta, shift)]
        second = [ca.mtimes(x.slope, acceleration) + x.bend(rate) for x in (theta, shift)]
        w, v = ca.mtimes(turn, rates[0]), ca.mtimes(R, rates[1])
        by_theta, bending_by_theta, bending_by_rate = self._turning_slopes(
            w, v, rates[0], second[0], ca.mtimes(R, second[1])
        )
        turning, shifting = theta.slope_of(rate), ca.mtimes(R, shift.slope_of(rate))
        R_slope = ca.mtimes(R, shift.slope)
        velocity = ca.mtimes(by_theta, theta.slope) + ca.vertcat(ca.mtimes(turn, turning), shifting)
        more = ca.vertcat(
            ca.mtimes(turn, theta.slope_of(acceleration)),
            ca.mtimes(R, shift.slope_of(acceleration)) - ca.mtimes(skew(w), shifting),
        )
        by_q = ca.mtimes(bending_by_theta, theta.slope) + ca.mtimes(bending_by_rate, turning) + more
        more = ca.vertcat(2 * ca.mtimes(turn, turning), 2 * shifting - ca.mtimes(skew(w), R_slope))
        return velocity, by_q, ca.mtimes(bending_by_rate, theta.slope) + more

    def _turning_slopes(self, w: SX, v: SX, rate: SX, second: SX, a: SX) -> tuple[SX, SX, SX]:
        """Return the part of `motion_slopes` that the rotation vector has, (6, 3) each.

        Parameters
        ----------
        w, v : SX, (3,)
            Velocity on the body.
        rate, second : SX, (3,)
            Derivatives of the rotation vector in time.
        a : SX, (3,)
            Second derivative of the displacement, in the axes of the station.

        Returns
        -------
        tuple of SX
            Derivative of (w, v) by the rotation vector; of its derivative in time by the rotation vector, and by its rate.
        """
        turn, k, kc = self.turn, self.turn[0, 0], self._kc
        along = ca.dot(kc, rate)
        v_turn, w_by = ca.mtimes(skew(v), turn), 0.5 * k * skew(rate) - ca.mtimes(w, kc.T)
        turning_by = 0.5 * k * skew(second) - ca.mtimes(ca.mtimes(turn, second), kc.T)
        turning_by = turning_by - ca.mtimes(w, (0.5 * k * rate - along * kc).T) - along * w_by
        shifting_by = ca.mtimes(skew(a), turn) + ca.mtimes(skew(v), w_by) - ca.mtimes(skew(w), v_turn)
        by_rate = -ca.mtimes(w, kc.T) - along * turn
        return ca.vertcat(w_by, v_turn), ca.vertcat(turning_by, shifting_by), ca.vertcat(by_rate, v_turn)

    def force_slope(self, force: Force) -> SX:
        """Return the derivative of the modal forces U' force by eta, (n, n)."""
        theta, shift = self.theta, self.shift
        along, push = ca.mtimes(self.turn.T, force.n), ca.mtimes(self.X.R, force.f)
        along_by = -ca.mtimes(along, self._kc.T) - 0.5 * self.turn[0, 0] * skew(force.n)
        push_by = -ca.mtimes(self.X.R, ca.mtimes(skew(force.f), self.turn))
        turned = ca.mtimes(theta.slope.T, along_by) + ca.mtimes(shift.slope.T, push_by)
        return ca.mtimes(turned, theta.slope) + theta.curvature(along) + shift.curvature(push)


class Series:
    """A vector first eta + 1/2 eta' second eta, (3,).

    Parameters
    ----------
    second : array, (3, n, n)
    value : SX, (3,)
    slope : SX, (3, n)
        Derivative by eta.
    """

    def __init__(self, second: np.ndarray, value: SX, slope: SX):
        self._second = [sparse(h) for h in second] if nonzero(second).any() else None
        self.value, self.slope = value, slope

    @staticmethod
    def of(first: np.ndarray, second: np.ndarray, eta: SX) -> Series:
        """Return the vector at eta; first: (3, n)."""
        H = Series(second, SX(3, 1), SX(3, eta.numel())).slope_of(eta)
        F = sparse(first)
        return Series(second, ca.mtimes(F, eta) + 0.5 * ca.mtimes(H, eta), F + H)

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
