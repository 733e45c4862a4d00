"""Impulses with which commands are convolved, so that modes are at rest when the commands are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import did_you_mean
from articulus.model.mechanism.numbers import as_numbers, convert, quantity
from articulus.simulation.loop.component import Controller, Scope
from articulus.simulation.loop.components.checks import sampling, wrong
from articulus.simulation.loop.components.columns import plain, recall
from articulus.simulation.loop.components.tracking import names


@dataclass(frozen=True)
class InputShaper(Controller):
    """u(t) = sum of amplitude_i command(t - delay_i), sampled; the command is what controllers before it in the list command.

    A delay between two instants is split between them, so that sum and mean delay of the impulses stay (Singer & Seering 1990).

    Parameters
    ----------
    delays : numbers [s]
        Ascending, not below zero.
    amplitudes : numbers
        One for each delay; a sum of one keeps the command at its end.
    period : number [s]
        Sampling period.
    commands : names
        Actuators, or coordinates where the run has none, whose commands are shaped; all if not given.
    before : numbers [command]
        Commands before the run, one for all or one each; those of the first instant if not given.
    name : str

    Signals: `output` [command], the shaped commands.
    """

    delays: Any = quantity("s", "times of the impulses", size="n")
    amplitudes: Any = quantity("-", "amplitudes of the impulses", size="n")
    period: float = quantity("s", "sampling period")
    commands: tuple[str, ...] = ()
    before: Any = quantity("command", "before the run; the first if not given", size="1 or m", default=None)
    name: str = "input_shaper"

    type_name = "input_shaper"
    signals: ClassVar = {"output": "command"}

    def __post_init__(self) -> None:
        convert(self, delays=plain, amplitudes=as_numbers, commands=names)
        if self.before is not None:
            convert(self, before=plain)
        if self.period is None:
            raise wrong(self, "period", "none", "a sampling period")
        sampling(self)
        if len(self.delays) != len(self.amplitudes):
            raise wrong(self, "amplitudes", f"{len(self.amplitudes)} numbers", f"{len(self.delays)}, one for each delay")  # fmt: skip
        if self.delays[0] < 0 or (np.diff(self.delays) < 0).any():
            raise wrong(self, "delays", f"{self.delays}", "ascending times, not below 0")

    @staticmethod
    def of(shaper: Any, period: float, **fields: Any) -> InputShaper:
        """Return the component that a shaper, such as `control.filters.zvd(...)`, is with a sampling period [s]."""
        return InputShaper(shaper.times, shaper.amplitudes, period, **fields)

    def work(self, s: Scope) -> None:
        places = self._places(s)
        y = s.commands[places]
        taps = self._taps(s)
        past = self._past(s, y, max(taps))
        n = len(places)
        out = sum((a * past[n * k : n * (k + 1)] for k, a in taps.items()), SX.zeros(n))
        s.write("output", out)
        s.replace_commands(places, out)

    def _places(self, s: Scope) -> list[int]:
        for name in self.commands:
            if name not in s.command_names:
                hint = did_you_mean(name, s.command_names)
                raise wrong(self, "commands", f"{name!r}", "something that is commanded", hint)
        return [k for k, name in enumerate(s.command_names) if not self.commands or name in self.commands]

    def _taps(self, s: Scope) -> dict[int, SX]:
        """Return the amplitude of the command of k instants ago, by k."""
        taps: dict[int, SX] = {}
        for delay, amplitude in zip(self.delays, self.amplitudes):
            instants = delay / self.period
            near = round(instants)
            if abs(instants - near) <= 1e-9 * near:  # rounding of the quotient is no part of a period
                instants = near
            whole, part = int(instants), instants - int(instants)
            for k, share in ((whole, 1.0 - part), (whole + 1, part)):
                if share:
                    taps[k] = taps.get(k, SX(0)) + share * s.number(amplitude)
        return taps

    def _past(self, s: Scope, y: SX, count: int) -> SX:
        """Return the commands of now and of `count` instants before, newest first, from a shift register."""
        if not count:
            return y
        if self.before is not None and len(self.before) not in (1, y.numel()):
            raise wrong(self, "before", f"{len(self.before)} numbers", f"1 or {y.numel()}")
        first = y if self.before is None else ca.DM(self.before) * ca.DM.ones(y.numel())
        register = recall(s, "register", ca.repmat(SX(first), count, 1))
        past = ca.vertcat(y, register)
        s.remember("register", past[: -y.numel()])
        return past
