"""Piezoelectric and electrostrictive actuators: hysteresis, a quadratic law, and the strain feedback that makes them linear."""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.model.mechanism.numbers import Number, as_number, convert, quantity, value_of
from articulus.simulation.loop.component import Scope
from articulus.simulation.loop.components.actuator_wrappers import Shaping
from articulus.simulation.loop.components.checks import at_least, positive, wrong
from articulus.simulation.loop.components.columns import clip

DRIVE, RESPONSE = "drive", "response"


@dataclass(frozen=True, kw_only=True)
class Hysteresis(Shaping):
    """An actuator whose free strain, in the unit of its command, lags behind its drive; see `Shaping`.

    With the command u, the drive U of the amplifier, the lagging strain w and the strain y,

        U' = bandwidth (u + feedback (u - y) - U),   w = w(U, its past),   y = w + w^2 / (2 bias)

    and y drives the actuator behind. The feedback of the measured strain makes the loop of y over u smaller: of a closed loop
    without the lag of the amplifier, u = (U + feedback y) / (1 + feedback), so its area is that of y over U divided by 1 + feedback.

    Parameters
    ----------
    actuator : Actuator or str
    bandwidth : number [rad/s]
        Bandwidth of the amplifier, which charges the actuator, without feedback.
    bias : number [unit of the command]
        Drive about which an electrostrictive actuator works, whose strain is quadratic in the whole drive: (bias + w)^2 / (2 bias) less
        its value at rest. Infinite for a piezoelectric one.
    feedback : number [-]
        Gain of the inner loop.
    measured : str
        Signal that the inner loop measures in place of the free strain, such as "gauge.strain".
    scale : number [unit of the command / unit of the signal]
        What the inner loop takes for the strain, over what it measures.

    Signals: those of the actuator behind, `drive` U and `response` y [unit of the command].
    """

    bandwidth: Number = quantity("rad/s", "bandwidth of the amplifier", default=1e3)
    bias: Number = quantity("command", "drive at rest of an electrostrictive actuator", default=math.inf)
    feedback: Number = quantity("-", "gain of the strain feedback", default=0.0)
    measured: str = ""
    scale: Number = quantity("command/signal", "strain of the inner loop over what it measures", default=1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        convert(self, **dict.fromkeys(("bandwidth", "bias", "feedback", "scale"), as_number))
        positive(self, bandwidth=self.bandwidth)
        at_least(self, 0.0, feedback=self.feedback)
        if not abs(value_of(self.bias)) > 0.0:
            raise wrong(
                self,
                "bias",
                f"{value_of(self.bias):g}",
                "a drive other than zero",
                "An electrostrictor has no linear range without one.",
            )

    def signal_units(self) -> dict[str, str]:
        unit = self.command_unit()
        return super().signal_units() | {DRIVE: unit, RESPONSE: unit}

    @abc.abstractmethod
    def lag(self, s: Scope, drive: SX) -> tuple[SX, SX]:
        """Return the strain w that lags behind the drive, and the states on which it rests."""

    @abc.abstractmethod
    def give_rates(self, s: Scope, state: SX, drive: SX, rate: SX) -> None:
        """Give the rates of the states of the hysteresis under a drive and its rate."""

    def shape(self, s: Scope, command: SX) -> SX:
        drive = s.state(f"{self.own} {DRIVE}", 0.0)
        w, state = self.lag(s, drive)
        y = w if math.isinf(value_of(self.bias)) else w + w**2 / (2 * s.number(self.bias))
        seen = s.number(self.scale) * (s.read(self.measured) if self.measured else y)
        rate = s.number(self.bandwidth) * (command + s.number(self.feedback) * (command - seen) - drive)
        s.rate(f"{self.own} {DRIVE}", rate)
        self.give_rates(s, state, drive, rate)
        s.write(DRIVE, drive)
        s.write(RESPONSE, y)
        return y


@dataclass(frozen=True, kw_only=True)
class BoucWenActuator(Hysteresis):
    """Hysteresis by one differential equation: w = U - h; see `Hysteresis`.

        h' = alpha U' - beta |U'| h - gamma U' |h|

    With gamma = 0 a cycle of the amplitude A ends at h = (alpha / beta) tanh(beta A) and has the area
    4 (alpha / beta) (A - tanh(beta A) / beta).

    Parameters
    ----------
    actuator : Actuator or str
    alpha : number [-]
        Part of a small change of the drive that does not arrive.
    beta, gamma : number [1 / unit of the command]
        beta above |gamma|: a cycle then dissipates. h never exceeds alpha / (beta + gamma).

    Others as of `Hysteresis`.

    Notes
    -----
    Source: Low & Guo 1995.
    """

    alpha: Number = quantity("-", "part of a small change of the drive that does not arrive", default=0.2)
    beta: Number = quantity("1/command", "how fast the lag saturates")
    gamma: Number = quantity("1/command", "difference of loading and unloading", default=0.0)

    type_name = "bouc_wen"

    def __post_init__(self) -> None:
        super().__post_init__()
        convert(self, **dict.fromkeys(("alpha", "beta", "gamma"), as_number))
        at_least(self, 0.0, alpha=self.alpha)
        if not value_of(self.beta) > abs(value_of(self.gamma)):
            raise wrong(
                self,
                "beta",
                f"{value_of(self.beta):g} beside gamma = {value_of(self.gamma):g}",
                "beta above |gamma|",
                "Without it a cycle gives energy.",
            )

    def lag(self, s: Scope, drive: SX) -> tuple[SX, SX]:
        h = s.state(f"{self.own} lag", 0.0)
        return drive - h, h

    def give_rates(self, s: Scope, state: SX, drive: SX, rate: SX) -> None:
        alpha, beta, gamma = (s.number(x) for x in (self.alpha, self.beta, self.gamma))
        lost = beta * ca.fabs(rate) * state + gamma * rate * ca.fabs(state)
        s.rate(f"{self.own} lag", alpha * rate - lost)


@dataclass(frozen=True, kw_only=True)
class PreisachActuator(Hysteresis):
    """Hysteresis by Preisach's model with a uniform density of relays: w = (1 - part) U + part P; see `Hysteresis`.

        P = (2 / extent) integral from 0 to extent of clip(p_r, +-(extent - r)) dr

    p_r is the play of U with the half width r: what a relay of Preisach's plane of half width r and center c shows is whether p_r is above
    c. So extremes wipe out smaller ones, and loops between the same extremes are congruent. A cycle of the amplitude A up to the
    extent, beyond which the relays are saturated, has the area (4 / 3) part A^3 / extent, as Rayleigh's law.

    A play follows with a lag of one step of the integration.

    Parameters
    ----------
    actuator : Actuator or str
    extent : number [unit of the command]
        Drive at which all relays are switched.
    part : number [-]
        Part of the strain that the relays make.
    plays : int
        Half widths that stand for all.

    Others as of `Hysteresis`.

    Notes
    -----
    Sources: Mayergoyz 2003; Krejci 1996.
    """

    extent: Number = quantity("command", "drive at which all relays are switched")
    part: Number = quantity("-", "part of the strain that the relays make", default=0.3)
    plays: int = quantity("-", "half widths that stand for all relays", default=24)

    type_name = "preisach"

    def __post_init__(self) -> None:
        super().__post_init__()
        convert(self, extent=as_number, part=as_number)
        positive(self, extent=self.extent)
        if not 0.0 <= value_of(self.part) <= 1.0:
            raise wrong(self, "part", f"{value_of(self.part):g}", "a part from 0 to 1")
        if isinstance(self.plays, bool) or not isinstance(self.plays, int) or self.plays < 1:
            raise wrong(self, "plays", repr(self.plays), "a whole number above zero")

    def lag(self, s: Scope, drive: SX) -> tuple[SX, SX]:
        p = s.state(f"{self.own} plays", (0.0,) * self.plays)
        left = s.number(self.extent) - self._widths(s)
        relays = 2.0 * ca.sum1(ca.fmax(ca.fmin(p, left), -left)) / self.plays
        part = s.number(self.part)
        return (1 - part) * drive + part * relays, p

    def give_rates(self, s: Scope, state: SX, drive: SX, rate: SX) -> None:
        width = self._widths(s)
        s.rate(f"{self.own} plays", (clip(state, drive - width, drive + width) - state) / s.h)

    def _widths(self, s: Scope) -> SX:
        """Return the half widths in the middle of equal parts of the extent, (plays,)."""
        return s.number(self.extent) * (ca.DM(range(self.plays)) + 0.5) / self.plays
