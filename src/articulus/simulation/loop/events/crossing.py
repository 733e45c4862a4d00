"""A signal or a function of signals passes zero or another level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import Finding, InputError
from articulus.model.mechanism.numbers import Number, as_number, quantity
from articulus.simulation.loop.events.base import Event, Situation, passing
from articulus.simulation.loop.events.watch import EventWatch


@dataclass(frozen=True)
class Crossing(Event):
    """A signal, or a function of signals, passes a level after the start; one that starts at the level has to come back to it.

    Parameters
    ----------
    function : str or casadi.Function
        One entry of a signal, such as "q.elbow", "wrist.force.2", "multipliers.rod" or "t"; or a function of signals with
        one number out.
    direction : int
        1 rising, -1 falling, 0 both.
    stop : bool
        Whether the run ends there.
    action : callable, optional
        From t, q, v to new q, v.
    name : str
    level : number [unit of the signal]
        What is passed.
    inputs : names
        What each input of the function is: "t", "q", "v", a signal such as "gyro.rate", a parameter; its own input names if
        not given.
    """

    function: ca.Function | str
    direction: int = passing()
    stop: bool = False
    action: Callable[[float, np.ndarray, np.ndarray], tuple[Any, Any]] | None = None
    name: str = "crossing"
    level: Number = quantity("any", "what is passed", default=0.0)
    inputs: tuple[str, ...] = ()

    type_name = "crossing"

    def __post_init__(self) -> None:
        check_crossing(self)

    def value(self, watch: EventWatch) -> SX:
        return excess(self, watch)

    def happen(self, situation: Situation) -> bool:
        if self.action is not None:
            q, v = self.action(situation.t, situation.q.copy(), situation.v.copy())
            situation.q, situation.v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        return self.stop


def check_crossing(event: Any) -> None:
    """Check and convert the fields function, level and inputs of an event."""
    kind = type(event).__name__
    if not isinstance(event.function, (ca.Function, str)):
        raise InputError(
            Finding(
                f"{kind}.function",
                repr(event.function),
                "the name of a signal, such as 'q.elbow', or a casadi.Function of inputs named t, q, v or otherwise (`inputs`)",
                field="function",
            )
        )
    own = (event.function,) if isinstance(event.function, str) else tuple(event.function.name_in())
    given = (event.inputs,) if isinstance(event.inputs, str) else tuple(event.inputs)
    if given and len(given) != len(own):
        raise InputError(f"event '{event.name}': {len(given)} inputs; expected {len(own)}, one per input")
    object.__setattr__(event, "inputs", given)
    object.__setattr__(event, "level", as_number(event.level))


def excess(event: Any, watch: EventWatch) -> SX:
    """Return the signal or function of an event less its level."""
    if isinstance(event.function, str):
        out = [watch.signal(event.function, event.name)]
    else:
        names = event.inputs or tuple(event.function.name_in())
        given = [watch.signal(name, event.name) for name in names]
        for i, (name, value) in enumerate(zip(names, given)):
            if value.numel() != event.function.numel_in(i):
                raise InputError(
                    f"event '{event.name}', input '{name}': a signal of {value.numel()} numbers; expected "
                    f"{event.function.numel_in(i)}, as the function takes"
                )
        out = event.function.expand().call(given)
    if len(out) != 1 or out[0].numel() != 1:
        found = f"{len(out)} outputs" if len(out) != 1 else f"{out[0].numel()} numbers"
        raise InputError(f"event '{event.name}': the value has {found}; expected one number")
    return out[0] - watch.number(event.level)
