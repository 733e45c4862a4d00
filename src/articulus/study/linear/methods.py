"""Design methods that a file can ask for, and the kinds of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from articulus import control
from articulus.control import Design
from articulus.control.reduction import ReducedModel, bstmr, ohklmr, schmr
from articulus.control.synthesis import (
    glqg,
    ltru,
    ltry,
    optimal_projection,
    output_poles,
    weighted_fixed_order,
    weighted_lqg,
)
from articulus.linear import LinearModel

Reducer = Callable[..., ReducedModel]


@dataclass(frozen=True)
class DesignMethod:
    """A design method with the keys of its table of arguments.

    Parameters
    ----------
    function : callable
        Takes the plant and the arguments by name.
    required, optional : dict of key to kind
        Kinds: "states", "commands", "measured", "outputs" (weights of these: a number, a list, a matrix, or a table by their
        names), "noise" (as "states", or of the inputs `noise`), "matrix", "number", "integer", "flag", "names", "poles", "weight"
        (over frequency).
    """

    function: Callable[..., Design]
    required: Mapping[str, str]
    optional: Mapping[str, str]

    @property
    def kinds(self) -> dict[str, str]:
        """All keys with their kinds."""
        return {**self.required, **self.optional}


COMMANDS = {"commands": "names"}
PORTS = {"commands": "names", "measured": "names"}
LQ = {"Q": "states", "R": "commands"}
LQG = {**LQ, "W": "noise", "V": "measured"}
HINF = {"gamma": "number", "relax": "number", "shift": "number", "iterations": "integer"}
PERIOD = {"period": "number"}
DELAY = {"delay": "number"}

METHODS: dict[str, DesignMethod] = {
    "lqr": DesignMethod(control.lqr, LQ, {"N": "matrix", **COMMANDS}),
    "lqry": DesignMethod(control.lqry, {"Q": "outputs", "R": "commands"}, {"N": "matrix", **COMMANDS}),
    "lqi": DesignMethod(control.lqi, {"Q": "matrix", "R": "commands"}, {"N": "matrix", "tracked": "names", **COMMANDS}),
    "lqrd": DesignMethod(control.lqrd, {**LQ, **PERIOD}, {"N": "matrix", **DELAY, **COMMANDS}),
    "lqg": DesignMethod(control.lqg, LQG, {"N": "matrix", "noise": "names", "current": "flag", **PORTS}),
    "lqgd": DesignMethod(control.lqgd, {**LQG, **PERIOD}, {**DELAY, "noise": "names", "current": "flag", **PORTS}),
    "ltru": DesignMethod(ltru, {**LQG, "recovery": "number"}, PORTS),
    "ltry": DesignMethod(ltry, {**LQG, "recovery": "number"}, PORTS),
    "weighted_lqg": DesignMethod(
        weighted_lqg, PORTS, dict.fromkeys(("errors", "effort", "disturbances", "noise"), "weight")
    ),
    "fixed_order": DesignMethod(
        weighted_fixed_order,
        {"order": "integer", **PORTS},
        {
            **dict.fromkeys(("errors", "effort", "disturbances", "noise"), "weight"),
            **dict.fromkeys(("h2", "hinf", "damping", "decay"), "number"),
            **dict.fromkeys(("starts", "iterations", "seed"), "integer"),
        },
    ),
    "place": DesignMethod(control.place, {"poles": "poles"}, COMMANDS),
    "output_poles": DesignMethod(output_poles, {"poles": "poles"}, PORTS),
    "pidtune": DesignMethod(
        control.pidtune,
        {"crossover": "number"},
        {"phase_margin": "number", "integral": "flag", "commands": "names", "measured": "names"},
    ),
    "h2syn": DesignMethod(control.h2syn, PORTS, {}),
    "optimal_projection": DesignMethod(optimal_projection, {"order": "integer", **PORTS}, {"iterations": "integer"}),
    "glqg": DesignMethod(glqg, PORTS, {"order": "integer", "gamma": "number", "bounded": "names", "sector": "matrix", "starts": "integer", "iterations": "integer", "seed": "integer"}),
    "hinfsyn": DesignMethod(control.hinfsyn, PORTS, {**HINF, "tolerance": "number"}),
    "mixsyn": DesignMethod(control.mixsyn, {}, {**dict.fromkeys(("W1", "W2", "W3"), "weight"), **HINF, **PORTS}),
    "ncfsyn": DesignMethod(control.ncfsyn, {}, {"W1": "weight", "W2": "weight", "relax": "number", **PORTS}),
}  # fmt: skip
"""Methods by name; a new one is a line here."""

REDUCERS: dict[str, Reducer] = {"balred": control.balred, "schmr": schmr, "bstmr": bstmr, "ohklmr": ohklmr}
"""Reductions by name."""


def weighted_names(kind: str, plant: LinearModel, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of what the weights of a kind are for."""
    from articulus.control.plant import places

    chosen = {
        "commands": arguments.get("commands"),
        "measured": arguments.get("measured"),
        "noise": arguments.get("noise"),
    }
    if kind == "commands" and chosen["commands"] is None and chosen["noise"] is not None:
        noise = set(places(plant.inputs, chosen["noise"], "input", "noise").tolist())
        return tuple(name for k, name in enumerate(plant.inputs) if k not in noise)
    if kind == "commands" or (kind == "noise" and chosen["noise"] is not None):
        return tuple(plant.inputs[k] for k in places(plant.inputs, chosen[kind], "input", kind))
    if kind in ("measured", "outputs"):
        return tuple(plant.outputs[k] for k in places(plant.outputs, chosen.get(kind), "output", kind))
    return plant.states
