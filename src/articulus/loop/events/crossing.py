"""A function passes zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import InputError, did_you_mean
from articulus.loop.equations import Network
from articulus.loop.events.base import Event, Situation, passing


@dataclass(frozen=True)
class Crossing(Event):
    """A user's function of t, q and v passes zero.

    Parameters
    ----------
    function : casadi.Function
        With inputs named among t, q and v, and one number out.
    direction : int
        1 rising, -1 falling, 0 both.
    stop : bool
        Whether the run ends there.
    action : callable, optional
        From t, q, v to new q, v.
    name : str
    """

    function: ca.Function
    direction: int = passing()
    stop: bool = False
    action: Callable[[float, np.ndarray, np.ndarray], tuple[Any, Any]] | None = None
    name: str = "crossing"

    type_name = "crossing"

    def __post_init__(self) -> None:
        if not isinstance(self.function, ca.Function):
            raise InputError(
                f"Crossing.function: found {self.function!r}; expected a casadi.Function of inputs named t, q or v"
            )

    def value(self, network: Network) -> SX:
        known = {"t": network.t, "q": network.q, "v": network.v}
        names = [self.function.name_in(i) for i in range(self.function.n_in())]
        for name in names:
            if name not in known:
                raise InputError(
                    f"event '{self.name}': input '{name}' is unknown; {did_you_mean(name, known)}"
                )
        out = self.function.call([known[name] for name in names])
        if len(out) != 1 or out[0].numel() != 1:
            raise InputError(
                f"event '{self.name}': the function gives {len(out)} outputs; expected one number"
            )
        return out[0]

    def happen(self, situation: Situation) -> bool:
        if self.action is not None:
            q, v = self.action(situation.t, situation.q.copy(), situation.v.copy())
            situation.q, situation.v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        return self.stop
