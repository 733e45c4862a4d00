"""Laws of attitude: feedback of modified Rodrigues parameters and of quaternions, and steering."""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.numbers import Number, Vector, as_number, as_numbers, convert, quantity
from articulus.simulation.loop.component import Controller, Scope
from articulus.simulation.loop.components.checks import at_least, positive, sampling, wrong
from articulus.simulation.loop.components.spacecraft.attitude_error import (
    errors,
    inertia_matrix,
    write_torque,
)
from articulus.simulation.loop.components.tracking import two_signals
from articulus.spacecraft.attitude import mrp_of_quaternion


@dataclass(frozen=True)
class AttitudeLaw(Controller):
    """A law that asks for a torque on a craft; a `TorqueAllocation`, `SchmittTrigger` or `GyroSteering` makes commands of it.

    Parameters
    ----------
    frame : str
        Body or frame that points.
    guidance : str
        Name of the part that says where to: `InertialPointing`, `HillPointing`.
    inertia : three or six numbers [kg m^2]
        Inertia of the craft, moments and products xy, xz, yz, for the feedforward; none: no feedforward.
    measured : two names
        Signals of attitude (quaternion to the ground frame) and rate (own axes); the true ones if not given.
    limit : number [N m]
        Bound of the torque about each axis.
    period : number [s]
        Sampling period; continuous if not given.
    name : str
    """

    frame: str
    guidance: str = "guidance"
    inertia: Vector = quantity(
        "kg m^2", "inertia of the craft for the feedforward", size="0, 3 or 6", default=()
    )
    measured: tuple[str, str] | None = None
    limit: Number = quantity("N m", "bound of the torque about each axis", default=math.inf)
    period: float | None = quantity("s", "sampling period; continuous if not given", default=None)

    signals: ClassVar = {"torque": "N m", "error": "rad"}

    def __post_init__(self) -> None:
        convert(self, inertia=as_numbers, measured=two_signals, limit=as_number)
        at_least(self, 0.0, limit=self.limit)
        if len(self.inertia) not in (0, 3, 6):
            raise wrong(
                self,
                "inertia",
                f"{len(self.inertia)} numbers",
                "none, 3 moments, or 3 moments and 3 products",
            )
        sampling(self)

    def work(self, s: Scope) -> None:
        q, rate, forward = errors(s, self)
        write_torque(s, self, self.feedback(s, q, rate) + forward, q)

    @abc.abstractmethod
    def feedback(self, s: Scope, q: SX, rate: SX) -> SX:
        """Return the torque for the errors of attitude (quaternion) and rate, own axes (3,) [N m]."""


@dataclass(frozen=True)
class MrpFeedback(AttitudeLaw):
    """torque = -K sigma - P w + feedforward, with the modified Rodrigues parameters sigma of the error; see `AttitudeLaw`.

    They take the short way round, and no attitude is singular. Small errors behave like a spring K/4 with damping P.

    Signals: `torque` on the craft, axes of the frame [N m], `error`, the angle that is missing [rad].

    Notes
    -----
    Source: Schaub & Junkins 2018, section 8.4.
    """

    stiffness: Number = quantity("N m", "K", default=1.0)
    damping: Number = quantity("N m s/rad", "P", default=1.0)
    name: str = "mrp_feedback"

    type_name = "mrp_feedback"

    def __post_init__(self) -> None:
        convert(self, stiffness=as_number, damping=as_number)
        at_least(self, 0.0, stiffness=self.stiffness, damping=self.damping)
        super().__post_init__()

    def feedback(self, s: Scope, q: SX, rate: SX) -> SX:
        return -s.number(self.stiffness) * mrp_of_quaternion(q) - s.number(self.damping) * rate


@dataclass(frozen=True)
class QuaternionFeedback(AttitudeLaw):
    """torque = -K sign(q0) q - P w + feedforward, with the vector part q of the error; see `AttitudeLaw`.

    Small errors behave like a spring K/2 with damping P.

    Signals: `torque` on the craft, axes of the frame [N m], `error`, the angle that is missing [rad].

    Notes
    -----
    Source: Markley & Crassidis 2014, section 7.2.
    """

    stiffness: Number = quantity("N m", "K", default=1.0)
    damping: Number = quantity("N m s/rad", "P", default=1.0)
    name: str = "quaternion_feedback"

    type_name = "quaternion_feedback"

    def __post_init__(self) -> None:
        convert(self, stiffness=as_number, damping=as_number)
        at_least(self, 0.0, stiffness=self.stiffness, damping=self.damping)
        super().__post_init__()

    def feedback(self, s: Scope, q: SX, rate: SX) -> SX:
        sign = ca.if_else(q[0] < 0, -1, 1)
        return -s.number(self.stiffness) * sign * q[1:] - s.number(self.damping) * rate


@dataclass(frozen=True)
class MrpSteering(AttitudeLaw):
    """Steering: the error asks for a rate that saturates smoothly, w* = -(2 W/pi) atan((K1 sigma + K3 sigma^3) pi/(2 W)); torque = -P (w - w*) + feedforward.

    See `AttitudeLaw`. The rate about each axis stays near `rate_limit`, so that wheels and sensors are not asked for more.

    Signals: `torque` on the craft, axes of the frame [N m], `error`, the angle that is missing [rad].

    Notes
    -----
    Source: Schaub & Junkins 2018, section 8.5.
    """

    linear: Number = quantity("1/s", "K1", default=0.1)
    cubic: Number = quantity("1/s", "K3", default=0.0)
    rate_limit: Number = quantity("rad/s", "W, largest rate that is asked for", default=0.02)
    damping: Number = quantity("N m s/rad", "P", default=1.0)
    name: str = "mrp_steering"

    type_name = "mrp_steering"

    def __post_init__(self) -> None:
        convert(self, **dict.fromkeys(("linear", "cubic", "rate_limit", "damping"), as_number))
        at_least(self, 0.0, linear=self.linear, cubic=self.cubic, damping=self.damping)
        positive(self, rate_limit=self.rate_limit)
        super().__post_init__()

    def feedback(self, s: Scope, q: SX, rate: SX) -> SX:
        sigma, W = mrp_of_quaternion(q), s.number(self.rate_limit)
        asked = s.number(self.linear) * sigma + s.number(self.cubic) * sigma**3
        wanted = -2 * W / ca.pi * ca.atan(asked * ca.pi / (2 * W))
        return -s.number(self.damping) * (rate - wanted)


@dataclass(frozen=True)
class SlidingAttitude(AttitudeLaw):
    """Sliding mode: s = w + slope e, torque = feedforward - slope J e' - disturbance sat(s / layer), with e = 2 sign(q0) q; see `AttitudeLaw`.

    Whatever disturbs the craft by less than `disturbance` about each axis leaves |s| within `layer`, and with it each component of e, the
    error for small ones, within layer / slope. `articulus.spacecraft.reaction_bound` gives it for what flexible parts
    do in a slew. It needs the inertia, of the craft with its flexible parts as if they were rigid.

    Signals: `torque` on the craft, axes of the frame [N m], `error`, the angle that is missing [rad].

    Notes
    -----
    Source: Dwyer, Karray & Kim 1989; Slotine & Li 1991, sections 7.1 and 7.2.
    """

    slope: Number = quantity("1/s", "rate at which errors die out", default=0.1)
    layer: Number = quantity("rad/s", "s within which the torque is linear", default=1e-3)
    disturbance: Number = quantity("N m", "largest disturbing torque about each axis", default=1.0)
    name: str = "sliding_attitude"

    type_name = "sliding_attitude"

    def __post_init__(self) -> None:
        convert(self, **dict.fromkeys(("slope", "layer", "disturbance"), as_number))
        positive(self, slope=self.slope, layer=self.layer)
        at_least(self, 0.0, disturbance=self.disturbance)
        super().__post_init__()
        if not self.inertia:
            raise wrong(self, "inertia", "none", "3 moments, or 3 moments and 3 products")

    def feedback(self, s: Scope, q: SX, rate: SX) -> SX:
        sign, slope = ca.if_else(q[0] < 0, -1, 1), s.number(self.slope)
        error, error_rate = 2 * sign * q[1:], sign * (q[0] * rate + ca.cross(q[1:], rate))
        sliding = (rate + slope * error) / s.number(self.layer)
        saturated = ca.fmax(ca.fmin(sliding, 1), -1)
        J = inertia_matrix(s, self.inertia)
        return -slope * ca.mtimes(J, error_rate) - s.number(self.disturbance) * saturated
