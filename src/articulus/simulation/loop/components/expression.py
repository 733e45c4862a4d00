"""A control law of the user's own, as a CasADi function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import unlike
from articulus.model.mechanism.numbers import convert, quantity
from articulus.simulation.loop.component import Controller, Scope
from articulus.simulation.loop.components.checks import sampling, wrong
from articulus.simulation.loop.components.columns import recall
from articulus.simulation.loop.components.tracking import names


@dataclass(frozen=True)
class Expression(Controller):
    """u = function(inputs), part of the native code of the loop.

    Parameters
    ----------
    function : casadi.Function
        From some of t, q, v and signals to the commands, one column.
    inputs : names
        What each input is: "t", "q", "v" or a signal such as "gyro.rate"; the function's own input names if not given.
    period : number [s]
        Sampling period; continuous if not given.
    delays : whole numbers [periods]
        How old each input is, one number for each; until then the first value holds. None are if not given.
    every : int [periods]
        The command changes at every so many instants only, from the first one on.
    name : str

    With `delays` and `every` a law is computed task by task, each input read when it is needed: `parallel.run_nonstrict` finds the numbers.
    """

    function: ca.Function
    inputs: tuple[str, ...] = ()
    period: float | None = quantity("s", "sampling period; continuous if not given", default=None)
    delays: tuple[int, ...] = quantity("periods", "how old each input is", size="inputs", default=())
    every: int = quantity("periods", "instants from change to change of the command", default=1)
    name: str = "expression"

    type_name = "expression"

    def __post_init__(self) -> None:
        convert(self, function=_one_output, inputs=names)
        object.__setattr__(self, "inputs", self.inputs or tuple(self.function.name_in()))
        if len(self.inputs) != self.function.n_in():
            raise wrong(self, "inputs", f"{len(self.inputs)} names", f"{self.function.n_in()}, one per input")
        sampling(self)
        if isinstance(self.delays, str) or not hasattr(self.delays, "__iter__"):
            raise wrong(self, "delays", repr(self.delays), "numbers of periods, one per input")
        object.__setattr__(self, "delays", tuple(self.delays))
        if self.delays and len(self.delays) != len(self.inputs):
            raise wrong(self, "delays", f"{len(self.delays)} numbers", f"{len(self.inputs)}, one per input")
        for field, least in (("delays", 0), ("every", 1)):
            for n in self.delays if field == "delays" else (self.every,):
                if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < least:
                    raise wrong(self, field, repr(n), f"whole numbers of periods from {least} on")
        if (any(self.delays) or self.every > 1) and self.period is None:
            raise wrong(self, "period", "none, with delays", "the sampling period that delays count")

    def work(self, s: Scope) -> None:
        values = [s.read(signal) for signal in self.inputs]
        for i, (signal, value) in enumerate(zip(self.inputs, values)):
            if value.numel() != self.function.numel_in(i):
                raise wrong(
                    self,
                    f"input '{signal}'",
                    f"a signal of {value.numel()} numbers",
                    f"{self.function.numel_in(i)}, as the function takes",
                )
        if any(self.delays):
            values = [self._late(s, k, value) for k, value in enumerate(values)]
        u = self.function.expand()(*values)
        s.command(u if self.every == 1 else self._rarely(s, u))

    def _late(self, s: Scope, k: int, value: SX) -> SX:
        """Return an input as it was `delays` instants ago, from a shift register."""
        if not self.delays[k]:
            return value
        register = recall(s, f"input{k}", ca.repmat(value, self.delays[k], 1))
        s.remember(f"input{k}", ca.vertcat(value, register)[: register.numel()])
        return register[-value.numel() :]

    def _rarely(self, s: Scope, u: SX) -> SX:
        """Return the command of the last instant at which it could change."""
        passed = s.memory("passed", 0.0)
        s.remember("passed", ca.if_else(passed + 1 >= self.every, 0, passed + 1))
        u = ca.if_else(passed == 0, u, recall(s, "command", u))
        s.remember("command", u)
        return u


def _one_output(function: Any) -> ca.Function:
    if not isinstance(function, ca.Function) or function.n_out() != 1 or function.size2_out(0) != 1:
        raise unlike("a casadi.Function with one column as output", repr(function))
    return function
