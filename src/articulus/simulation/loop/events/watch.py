"""What the value of an event may be made of: time, state, parameters and every signal of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
from casadi import SX

from articulus.errors import InputError, did_you_mean
from articulus.model.mechanism import Description, Number, Parameter
from articulus.model.mechanism.expression import evaluate
from articulus.simulation.loop.functions import System
from articulus.simulation.loop.outputs import Outputs


@dataclass(frozen=True)
class EventWatch:
    """The loop as an event sees it, on symbols.

    Parameters
    ----------
    system : System
        The equations of the whole loop.
    """

    system: System

    @property
    def description(self) -> Description:
        """The mechanism."""
        return self.system.description

    @property
    def t(self) -> SX:
        """Time [s]."""
        return self.system.network.t

    @property
    def q(self) -> SX:
        """Positions, (nq,)."""
        return self.system.network.q

    @property
    def v(self) -> SX:
        """Velocities, (nv,)."""
        return self.system.network.v

    def ask(self, quantity: str, *inputs: SX, frames: tuple[str, ...] = (), tree: bool = False) -> Any:
        """Return a quantity of the mechanism at the given inputs, e.g. ask("pose", w.q, frames=("tool",)).

        Those that constraints change can only be asked of the mechanism with every loop cut: `tree=True`.
        """
        if not tree and (reason := self.system.network.refusal(quantity)):
            raise InputError(f"event: {reason}")
        return self.system.network.ask(quantity, *inputs, frames=frames)

    def number(self, x: Number) -> SX:
        """Return a number as an expression; a Parameter as its symbol."""
        network = self.system.network
        known = {p.name for p in network.parameters}

        def symbol(p: Parameter) -> SX:
            if p.name not in known:
                raise InputError(
                    f"event: the parameter '{p.name}' is one of neither mechanism, components nor events; {did_you_mean(p.name, known)}"
                )
            return network.number(p)

        return SX(evaluate(x, symbol, ca))

    def signal(self, name: str, event: str) -> SX:
        """Return t, q, v, a parameter, a signal of the run such as "multipliers", or one entry of these such as "q.lift".

        `event` is the name of the event that asks, for the text of an error.
        """
        network, outputs = self.system.network, self.system.outputs
        if name in ("t", "q", "v"):
            return {"t": self.t, "q": self.q, "v": self.v}[name]
        if name in outputs:
            return outputs[name]
        parameters = {p.name: p for p in network.parameters}
        if name in parameters:
            return network.number(parameters[name])
        for whole in ("q", "v", *outputs):
            if name.startswith(f"{whole}."):
                columns = Outputs(self.system, [whole]).blank()[whole].columns
                values = self.signal(whole, event)
                if name in columns[: values.numel()]:  # the balance of energy is made after the run
                    return ca.vec(values)[columns.index(name)]
        near = did_you_mean(name, ["t", "q", "v", *outputs, *parameters])
        raise InputError(f"event '{event}': no signal '{name}'; {near}")
