"""The loop transfer of a plant and its controller, cut open at the commands or at the measured outputs."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from articulus.control.analysis.delay import DelayedModel
from articulus.control.connect import select, series
from articulus.control.design import Design
from articulus.control.plant import as_plant
from articulus.errors import InputError
from articulus.linear import LinearModel
from articulus.linear.connect import matching


def open_loop(
    plant: Any, controller: LinearModel | None = None, at: str = "commands"
) -> LinearModel | DelayedModel:
    """Return L such that the closed loop is negative feedback around it, 1 / (1 + L), for `margins` and plots.

    Parameters
    ----------
    plant : Design, DelayedModel, or see `as_plant`
    controller : LinearModel
        Controller u = K y, sign included, as in `Design.controller`; its signals are named as those of the plant. Not for a Design.
    at : str
        Where the loop is cut: "commands", L = -K P, or "measured", L = -P K.
    """
    if at not in ("commands", "measured"):
        raise InputError(f"open_loop: found at='{at}'; expected 'commands' or 'measured'")
    if isinstance(plant, Design):
        plant, controller = plant.plant, plant.controller
    if controller is None:
        raise InputError("open_loop: found no controller; expected a Design, or plant and controller")
    parts = plant.parts if isinstance(plant, DelayedModel) else ((None, as_plant(plant, "open_loop")),)
    models = [model for _, model in parts]
    u = matching(models[0].inputs, controller, "output", "open_loop")
    y = matching(models[-1].outputs, controller, "input", "open_loop")
    models[0] = select(models[0], u, range(len(models[0].outputs)))
    models[-1] = select(models[-1], range(len(models[-1].inputs)), y)
    back = dataclasses.replace(controller, C=-controller.C, D=-controller.D)
    if not isinstance(plant, DelayedModel):
        return series(models[0], back) if at == "commands" else series(back, models[0])
    delays = [np.asarray(d) for d, _ in parts]
    delays[0] = delays[0][u]
    chain = list(zip(delays, models))
    own = (np.zeros(len(controller.inputs)), back)
    return DelayedModel(tuple([*chain, own] if at == "commands" else [own, *chain]))
