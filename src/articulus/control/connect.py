"""Linear models connected: side by side, one after the other, in feedback."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.linalg

from articulus.errors import InputError
from articulus.linear import LinearModel

WELL_POSED = 1e-12
"""Smallest reciprocal condition of I - D_p D_k at which a feedback loop has a solution."""


def select(
    model: LinearModel, inputs: Sequence[int] | np.ndarray, outputs: Sequence[int] | np.ndarray
) -> LinearModel:
    """Return the model with some of its inputs and outputs, by number, in the order given."""
    i, o = list(inputs), list(outputs)
    return dataclasses.replace(
        model,
        B=model.B[:, i],
        C=model.C[o],
        D=model.D[np.ix_(o, i)],
        inputs=tuple(model.inputs[k] for k in i),
        outputs=tuple(model.outputs[k] for k in o),
        input_units=tuple(model.input_units[k] for k in i),
        output_units=tuple(model.output_units[k] for k in o),
    )


def side_by_side(*models: LinearModel) -> LinearModel:
    """Return the models as one, block-diagonal."""
    period = same_period(*models)
    joined: dict[str, Any] = {
        name: scipy.linalg.block_diag(*(getattr(m, name) for m in models)) for name in "ABCD"
    }
    for field in ("states", "inputs", "outputs", "input_units", "output_units"):
        joined[field] = tuple(x for m in models for x in getattr(m, field))
    return LinearModel(**joined, period=period, name=" ".join(m.name for m in models if m.name))


def series(first: LinearModel, second: LinearModel) -> LinearModel:
    """Return second(first): the outputs of the first are the inputs of the second, by number."""
    period = same_period(first, second)
    _fits("series", len(first.outputs), len(second.inputs))
    A = np.block([[first.A, np.zeros((len(first.A), len(second.A)))], [second.B @ first.C, second.A]])
    return LinearModel(
        A,
        np.vstack([first.B, second.B @ first.D]),
        np.hstack([second.D @ first.C, second.C]),
        second.D @ first.D,
        first.states + second.states,
        first.inputs,
        second.outputs,
        first.input_units,
        second.output_units,
        period=period,
        name=second.name or first.name,
    )


def parallel(first: LinearModel, second: LinearModel, sign: float = 1.0) -> LinearModel:
    """Return first + sign second: the same inputs go to both, the outputs are added; names are those of the first."""
    _fits("sum", len(first.inputs), len(second.inputs))
    _fits("sum", len(first.outputs), len(second.outputs))
    return dataclasses.replace(
        first,
        A=scipy.linalg.block_diag(first.A, second.A),
        B=np.vstack([first.B, second.B]),
        C=np.hstack([first.C, sign * second.C]),
        D=first.D + sign * second.D,
        states=first.states + second.states,
        period=same_period(first, second),
    )


def close(
    plant: LinearModel,
    controller: LinearModel,
    commands: Sequence[int] | np.ndarray,
    measured: Sequence[int] | np.ndarray,
) -> LinearModel:
    """Return the plant with the controller around it: u = K y + u', for the given inputs u and outputs y of the plant.

    All inputs and outputs of the plant stay; at the commands the inputs u' are added to what the controller commands. The
    sign is the controller's (no minus here).
    """
    period = same_period(plant, controller)
    u, y = np.asarray(commands, dtype=int), np.asarray(measured, dtype=int)
    _fits("feedback", len(y), len(controller.inputs))
    _fits("feedback", len(controller.outputs), len(u))
    Bu, Cy, Dyu = plant.B[:, u], plant.C[y], plant.D[np.ix_(y, u)]
    loop = np.eye(len(y)) - Dyu @ controller.D
    if loop.size and 1.0 / np.linalg.cond(loop) < WELL_POSED:
        raise InputError(
            "feedback: plant and controller pass signals on at once, and I - D_plant D_controller is singular"
        )
    # y = S (Cy x + Dyu Ck k + D[y] u'),  u = Dk y + Ck k + u' at the commands
    S = np.linalg.solve(loop, np.eye(len(y)))
    yx, yk, yin = S @ Cy, S @ Dyu @ controller.C, S @ plant.D[y]
    ux, uk, uin = controller.D @ yx, controller.C + controller.D @ yk, controller.D @ yin
    A = np.block([[plant.A + Bu @ ux, Bu @ uk], [controller.B @ yx, controller.A + controller.B @ yk]])
    B = np.vstack([plant.B + Bu @ uin, controller.B @ yin])
    Du = plant.D[:, u]
    return dataclasses.replace(
        plant,
        A=A,
        B=B,
        C=np.hstack([plant.C + Du @ ux, Du @ uk]),
        D=plant.D + Du @ uin,
        states=plant.states + controller.states,
        period=period,
    )


def same_period(*models: LinearModel) -> float | None:
    """Return the period that models have in common; a model without states belongs to any."""
    periods = {m.period for m in models if len(m.A)}
    if len(periods) > 1:
        found = ", ".join("continuous" if p is None else f"{p:g} s" for p in periods)
        raise InputError(
            f"connection of systems: found periods {found}; expected one; sample the continuous one first"
        )
    return periods.pop() if periods else models[0].period


def _fits(what: str, given: int, taken: int) -> None:
    if given != taken:
        raise InputError(f"{what}: found {given} signals where {taken} are taken; expected as many")
