"""Attitude and gyro bias from a star tracker and a gyro."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.numbers import Number, Vector, as_number, convert, quantity, three
from articulus.simulation.loop.component import Controller, Scope
from articulus.simulation.loop.components.checks import at_least, positive, sampling, wrong
from articulus.simulation.loop.components.columns import recall
from articulus.simulation.loop.components.spacecraft.attitude_error import read
from articulus.spacecraft.attitude import conjugate
from articulus.spatial import quaternion_product
from articulus.spatial.vector import skew


@dataclass(frozen=True)
class AttitudeFilter(Controller):
    """Multiplicative extended Kalman filter: quaternion, gyro bias, and the covariance of their errors, sampled.

    Between instants the gyro less its bias turns the quaternion; at each the star tracker corrects both. The error is a small turn in
    the craft's axes, so that the quaternion stays one of unit length and the covariance has full rank, (6, 6).

    Parameters
    ----------
    attitude, rate : str
        Signals of the star tracker and of the gyro.
    period : number [s]
        Sampling period of both.
    tracker_noise : three numbers [rad]
        Standard deviation of the star tracker about each axis.
    gyro_noise : number [rad/s]
        Standard deviation of a sample of the gyro.
    gyro_drift : number [rad/s^1.5]
        Its rate random walk.
    first_bias : number [rad/s]
        Standard deviation of its bias at the start.
    name : str

    Signals: `attitude` [-], `rate` [rad/s], `bias` [rad/s], `deviation`: standard deviations of the error about each axis [rad].

    Notes
    -----
    Source: Markley & Crassidis 2014, section 6.2; Lefferts, Markley & Shuster 1982.
    """

    attitude: str
    rate: str
    period: float = quantity("s", "sampling period")
    tracker_noise: Vector = quantity(
        "rad", "deviation of the star tracker about each axis", size="3", default=(1e-4, 1e-4, 1e-4)
    )
    gyro_noise: Number = quantity("rad/s", "deviation of a sample of the gyro", default=1e-5)
    gyro_drift: Number = quantity("rad/s^1.5", "rate random walk of the gyro", default=1e-7)
    first_bias: Number = quantity("rad/s", "deviation of the bias at the start", default=1e-4)
    name: str = "attitude_filter"

    type_name = "attitude_filter"
    signals: ClassVar = {"attitude": "-", "rate": "rad/s", "bias": "rad/s", "deviation": "rad"}

    def __post_init__(self) -> None:
        numbers = ("gyro_noise", "gyro_drift", "first_bias")
        convert(self, tracker_noise=three, **dict.fromkeys(numbers, as_number))
        if self.period is None:
            raise wrong(self, "period", "none", "the sampling period of star tracker and gyro")
        sampling(self)
        positive(self, tracker_noise=self.tracker_noise)
        at_least(self, 0.0, **{n: getattr(self, n) for n in numbers})

    def work(self, s: Scope) -> None:
        seen, gyro, h = (
            read(s, self, "attitude", self.attitude),
            read(s, self, "rate", self.rate),
            self.period,
        )
        R = ca.diag(ca.vertcat(*(s.number(x) ** 2 for x in self.tracker_noise)))
        first = ca.diagcat(R, s.number(self.first_bias) ** 2 * SX.eye(3))
        q, before = recall(s, "q", seen), recall(s, "gyro", gyro)
        bias, P = recall(s, "bias", SX.zeros(3)), ca.reshape(recall(s, "P", ca.vec(first)), 6, 6)
        turn = ((gyro + before) / 2 - bias) * h
        begun = s.memory("running", 0.0)
        s.remember("running", SX(1))
        q = ca.if_else(begun, quaternion_product(q, _exp(turn)), q)
        P = ca.if_else(begun, self._spread(s, P, turn), P)
        away = quaternion_product(conjugate(q), seen)
        z = 2 * ca.if_else(away[0] < 0, -1, 1) * away[1:]
        K = ca.mtimes(P[:, :3], ca.inv(P[:3, :3] + R))
        x = ca.mtimes(K, z)
        left = SX.eye(6) - ca.mtimes(K, ca.horzcat(SX.eye(3), SX.zeros(3, 3)))
        P = ca.mtimes([left, P, left.T]) + ca.mtimes([K, R, K.T])  # Joseph's form
        q, bias = quaternion_product(q, _exp(x[:3])), bias + x[3:]
        for name, value in (("q", q), ("gyro", gyro), ("bias", bias), ("P", ca.vec(P))):
            s.remember(name, value)
        s.write("attitude", q)
        s.write("rate", gyro - bias)
        s.write("bias", bias)
        s.write("deviation", ca.sqrt(ca.diag(P)[:3]))

    def _spread(self, s: Scope, P: SX, turn: SX) -> SX:
        """Return the covariance after a period: Phi P Phi' + Q."""
        h, v, u = self.period, s.number(self.gyro_noise) ** 2 * self.period, s.number(self.gyro_drift) ** 2
        T, eye = skew(turn), SX.eye(3)
        Phi = ca.blockcat([[eye - T + ca.mtimes(T, T) / 2, -h * eye], [SX.zeros(3, 3), eye]])
        Q = ca.blockcat(
            [[(v * h + u * h**3 / 3) * eye, -u * h**2 / 2 * eye], [-u * h**2 / 2 * eye, u * h * eye]]
        )
        return ca.mtimes([Phi, P, Phi.T]) + Q


def _exp(turn: SX) -> SX:
    """Return the quaternion of a rotation vector, finite at zero."""
    angle = ca.sqrt(ca.sumsqr(turn) + 1e-40)
    return ca.vertcat(ca.cos(angle / 2), ca.sin(angle / 2) / angle * turn)
