"""A control law of the user's own, as a CasADi function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from articulus.errors import unlike
from articulus.model.mechanism.numbers import convert, quantity
from articulus.simulation.loop.component import Controller, Scope
from articulus.simulation.loop.components.checks import sampling, wrong
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
    name : str
    """

    function: ca.Function
    inputs: tuple[str, ...] = ()
    period: float | None = quantity("s", "sampling period; continuous if not given", default=None)
    name: str = "expression"

    type_name = "expression"

    def __post_init__(self) -> None:
        convert(self, function=_one_output, inputs=names)
        object.__setattr__(self, "inputs", self.inputs or tuple(self.function.name_in()))
        if len(self.inputs) != self.function.n_in():
            raise wrong(self, "inputs", f"{len(self.inputs)} names", f"{self.function.n_in()}, one per input")
        sampling(self)

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
        s.command(self.function.expand()(*values))


def _one_output(function: Any) -> ca.Function:
    if not isinstance(function, ca.Function) or function.n_out() != 1 or function.size2_out(0) != 1:
        raise unlike("a casadi.Function with one column as output", repr(function))
    return function
