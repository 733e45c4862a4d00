"""Actuators within bounds, bands and lags: components that shape the command of another one."""

from __future__ import annotations

import abc
from dataclasses import dataclass, field

import casadi as ca
from casadi import SX

from articulus.model.mechanism.numbers import Number, as_number, convert, quantity, value_of
from articulus.simulation.loop.component import Actuator, Scope
from articulus.simulation.loop.components.checks import at_least, positive, wrong
from articulus.simulation.loop.components.columns import clip
from articulus.simulation.loop.components.torque import Torque


@dataclass(frozen=True)
class Shaping(Actuator):
    """An actuator whose command is reshaped before it gets there. Shapings nest: the outermost acts first.

    Parameters
    ----------
    actuator : Actuator or str
        The actuator behind it; the name of a joint means an ideal `Torque` in it.
    name : str
        That of the actuator behind if not given.

    Signals: those of the actuator behind.
    """

    actuator: Actuator
    name: str = field(default="", kw_only=True)
    joint: str = field(default="", init=False)

    def __post_init__(self) -> None:
        if isinstance(self.actuator, str):
            object.__setattr__(self, "actuator", Torque(self.actuator))
        if not isinstance(self.actuator, Actuator):
            raise wrong(self, "actuator", repr(self.actuator), "an actuator or the name of a joint")
        object.__setattr__(self, "name", self.name or self.actuator.name)
        object.__setattr__(self, "joint", self.actuator.joint)

    def signal_units(self) -> dict[str, str]:
        return self.actuator.signal_units()

    @property
    def path(self) -> tuple[str, ...]:
        return self.actuator.path

    def command_unit(self) -> str:
        return self.actuator.command_unit()

    @property
    def own(self) -> str:
        """Return a name for the state of this shaping, different from those of shapings behind it."""
        depth, behind = 1, self.actuator
        while isinstance(behind, Shaping):
            depth, behind = depth + 1, behind.actuator
        return f"{self.type_name}_{depth}"

    @abc.abstractmethod
    def shape(self, s: Scope, command: SX) -> SX:
        """Return what becomes of the command."""

    def drive(self, s: Scope, command: SX) -> None:
        self.actuator.drive(s, self.shape(s, command))


@dataclass(frozen=True)
class Saturation(Shaping):
    """The command, or the bound that it has passed; see `Shaping`.

    Parameters
    ----------
    actuator : Actuator or str
    lower, upper : number [unit of the command]
    """

    lower: Number = quantity("command", "smallest command")
    upper: Number = quantity("command", "largest command")

    type_name = "saturation"

    def __post_init__(self) -> None:
        super().__post_init__()
        convert(self, lower=as_number, upper=as_number)
        if not value_of(self.lower) <= value_of(self.upper):
            raise wrong(
                self,
                "lower",
                f"{value_of(self.lower):g} above upper = {value_of(self.upper):g}",
                "lower <= upper",
                "Are the two swapped?",
            )

    def shape(self, s: Scope, command: SX) -> SX:
        return clip(command, s.number(self.lower), s.number(self.upper))


@dataclass(frozen=True)
class DeadBand(Shaping):
    """Zero within +- width, and beyond it the command minus the width; see `Shaping`.

    Parameters
    ----------
    actuator : Actuator or str
    width : number [unit of the command]
    """

    width: Number = quantity("command", "half of the band that gives nothing")

    type_name = "dead_band"

    def __post_init__(self) -> None:
        super().__post_init__()
        convert(self, width=as_number)
        at_least(self, 0.0, width=self.width)

    def shape(self, s: Scope, command: SX) -> SX:
        width = s.number(self.width)
        return command - clip(command, -width, width)


@dataclass(frozen=True)
class RateLimit(Shaping):
    """y' = (command - y) / step, at most `rate` either way, from y = 0; see `Shaping`.

    A command that changes slower than the rate is followed with a lag of one step of the integration.

    Parameters
    ----------
    actuator : Actuator or str
    rate : number [unit of the command / s]
    """

    rate: Number = quantity("command/s", "largest rate either way")

    type_name = "rate_limit"

    def __post_init__(self) -> None:
        super().__post_init__()
        convert(self, rate=as_number)
        positive(self, rate=self.rate)

    def shape(self, s: Scope, command: SX) -> SX:
        limited, rate = s.state(self.own, 0.0), s.number(self.rate)
        s.rate(self.own, clip((command - limited) / s.h, -rate, rate))
        return limited


@dataclass(frozen=True)
class FirstOrderActuator(Shaping):
    """y' = w (command - y) from y = 0, and y drives the actuator behind; see `Shaping`.

    Parameters
    ----------
    actuator : Actuator or str
    bandwidth : number [rad/s]
        w, at which the amplitude has fallen to 71 percent.
    """

    bandwidth: Number = quantity("rad/s", "frequency at which the amplitude has fallen to 71 percent")

    type_name = "first_order"

    def __post_init__(self) -> None:
        super().__post_init__()
        convert(self, bandwidth=as_number)
        positive(self, bandwidth=self.bandwidth)

    def shape(self, s: Scope, command: SX) -> SX:
        y = s.state(self.own, 0.0)
        s.rate(self.own, s.number(self.bandwidth) * (command - y))
        return y


@dataclass(frozen=True)
class SecondOrderActuator(Shaping):
    """y'' = w^2 (command - y) - 2 zeta w y' from rest at y = 0, and y drives the actuator behind; see `Shaping`.

    Parameters
    ----------
    actuator : Actuator or str
    bandwidth : number [rad/s]
        w, the undamped natural frequency.
    damping : number [-]
        zeta; 1 is critical.
    """

    bandwidth: Number = quantity("rad/s", "undamped natural frequency")
    damping: Number = quantity("-", "damping ratio; 1 is critical", default=1.0)

    type_name = "second_order"

    def __post_init__(self) -> None:
        super().__post_init__()
        convert(self, bandwidth=as_number, damping=as_number)
        positive(self, bandwidth=self.bandwidth)
        at_least(self, 0.0, damping=self.damping)

    def shape(self, s: Scope, command: SX) -> SX:
        w, zeta = s.number(self.bandwidth), s.number(self.damping)
        y = s.state(self.own, (0.0, 0.0))
        s.rate(self.own, ca.vertcat(y[1], w**2 * (command - y[0]) - 2 * zeta * w * y[1]))
        return y[0]
