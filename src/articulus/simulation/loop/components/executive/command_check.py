"""The last look at commands before they leave the flight computer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import did_you_mean
from articulus.model.mechanism.numbers import as_numbers, convert, quantity
from articulus.simulation.loop.component import Controller, Scope
from articulus.simulation.loop.components.checks import at_least, sampling, wrong
from articulus.simulation.loop.components.columns import clip, column
from articulus.simulation.loop.components.tracking import optional


@dataclass(frozen=True)
class CommandCheck(Controller):
    """Commands at instants, after a check: one that is no number or beyond its bounds is refused, and the last good one holds.

    After `patience` refusals in a row the safe command takes its place until a good one comes. Good commands are followed at most at `rate`,
    and leave `delay` periods later. It checks the sum of all commands, those of a Python controller too: it stands behind the
    other controllers in the list of components.

    Parameters
    ----------
    actuators : names
        Whose commands it checks.
    lower, upper : numbers [unit of the command]
        One for all or one each.
    period : number [s]
    rate : numbers [unit of the command / s]
        Largest change per time; any if not given.
    safe : numbers [unit of the command]
    patience : int
        Refusals in a row that the last good command bridges.
    delay : int
        Whole number of periods.
    name : str

    Signals: `refused`, how many commands of each actuator were refused so far.
    """

    actuators: tuple[str, ...]
    lower: Any = quantity("command", "smallest command", size="1 or actuators")
    upper: Any = quantity("command", "largest command", size="1 or actuators")
    period: float = quantity("s", "sampling period")
    rate: Any = quantity(
        "command/s", "largest change per time; any if not given", size="1 or actuators", default=None
    )
    safe: Any = quantity("command", "command after too many refusals", size="1 or actuators", default=0.0)
    patience: int = quantity("instants", "refusals in a row that the last good command bridges", default=3)
    delay: int = quantity("periods", "whole number of periods by which commands leave late", default=0)
    name: str = "command_check"

    type_name = "command_check"
    signals: ClassVar = {"refused": "-"}

    def __post_init__(self) -> None:
        given = (self.actuators,) if isinstance(self.actuators, str) else tuple(self.actuators)
        object.__setattr__(self, "actuators", given)
        convert(self, **dict.fromkeys(("lower", "upper", "safe"), as_numbers), rate=optional)
        if self.rate is not None:
            at_least(self, 0.0, rate=self.rate)
        sampling(self)
        for field in ("patience", "delay"):
            held = getattr(self, field)
            if not isinstance(held, int | np.integer) or held < 0:
                raise wrong(self, field, repr(held), "a whole number, at least 0")

    def work(self, s: Scope) -> None:
        for name in self.actuators:
            if name not in s.command_names:
                hint = did_you_mean(name, s.command_names)
                raise wrong(self, "actuators", f"{name!r}", "names of actuators of this run", hint)
        places = [s.command_names.index(name) for name in self.actuators]
        n = len(places)
        u = s.commands[places]
        lower, upper, safe = (column(s, self, field, n) for field in ("lower", "upper", "safe"))
        last, bad, refused = (s.memory(name, [0.0] * n) for name in ("last", "bad", "refused"))
        good = ca.logic_and(u >= lower, u <= upper)  # false for what is no number
        bad = ca.if_else(good, 0, bad + 1)
        wanted = ca.if_else(good, u, ca.if_else(bad > self.patience, safe, last))
        out = wanted
        if self.rate is not None:
            step = column(s, self, "rate", n) * s.number(self.period)
            out = clip(wanted, last - step, last + step)
        s.remember("last", out)
        s.remember("bad", bad)
        refused = refused + ca.if_else(good, 0, 1)
        s.remember("refused", refused)
        out = self._late(s, out)
        s.write("refused", refused)
        s.replace_commands(places, out)

    def _late(self, s: Scope, y: SX) -> SX:
        """Return y of `delay` instants ago, zero before."""
        if not self.delay:
            return y
        registers = [s.memory(f"late{k}", [0.0] * y.numel()) for k in range(self.delay)]
        for k, value in enumerate((y, *registers[:-1])):
            s.remember(f"late{k}", value)
        return registers[-1]
