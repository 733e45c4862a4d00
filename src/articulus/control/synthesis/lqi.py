"""Regulators with integral action (`lqi` in MATLAB) and with weights of outputs (`lqry`)."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from articulus.control.design import RegulatorDesign, check_design, named_controller
from articulus.control.plant import Group, as_plant, of_matrices, places, with_states
from articulus.control.riccati import cross_weight, regulator, residual_check, weight
from articulus.control.synthesis.lqr import lqr
from articulus.errors import InputError
from articulus.linear import LinearModel


def lqi(
    plant: Any, Q: Any, R: Any, N: Any = None, *, tracked: Group = None, commands: Group = None
) -> RegulatorDesign:
    """Return the state feedback with integrals of outputs: u = -K x - Ki xi, xi' = y; sampled: xi + period y is the next xi.

    It has the least integral (sum) of z'Qz + u'Ru + 2 z'Nu, z = [x; xi]: constant disturbances leave no error in the tracked outputs.
    As a component, the course they follow is `y0` of `LinearController`, by the order of its `measured`.

    Parameters
    ----------
    plant : see `as_plant`
    Q : number, (n + k,) or (n + k, n + k)
        Weight of the states and, after them, of the integrals.
    R, N : see `lqr`
    tracked : names or number of outputs
        Whose integrals are fed back, at most as many as commands; all if not given.
    commands : names or number of inputs

    Returns
    -------
    Design
        Its plant has the states as outputs and, after them, the tracked outputs that are no states by name. The controller's states
        are named "integral of <output>". Figures: `gain` [K, Ki] (m, n + k), `cost` X.
    """
    model = as_plant(plant, "lqi")
    u = places(model.inputs, commands, "input", "lqi")
    y = places(model.outputs, tracked, "output", "lqi")
    if not 0 < len(y) <= len(u):
        raise InputError(
            f"lqi: found {len(y)} tracked outputs and {len(u)} commands; expected at least one, and at most as many as commands: "
            "name them by `tracked`"
        )
    whole = _with_integrals(model, y)
    q, r = weight(Q, len(whole.A), "Q", "lqi", False), weight(R, len(u), "R", "lqi", True)
    found = regulator(whole, u, q, r, cross_weight(N, q, r, "lqi"), "lqi")
    seen, columns = _with_states_as_outputs(model, y)
    n, k, step = len(model.A), len(y), model.period or 1.0
    B, D = np.zeros((k, len(seen.outputs))), np.zeros((len(u), len(seen.outputs)))
    B[np.arange(k), columns] = step
    D[:, :n] = -found.gain[:, :n]
    A = np.zeros((k, k)) if model.period is None else np.eye(k)
    every = np.arange(len(seen.outputs))
    controller = named_controller(seen, (A, B, -found.gain[:, n:], D), u, every, "lqi")
    controller = dataclasses.replace(controller, states=whole.states[n:])
    figures = {"gain": found.gain, "cost": found.X}
    return check_design(RegulatorDesign, "lqi", seen, controller, u, every, figures, [residual_check(found)])


def lqry(plant: Any, Q: Any, R: Any, N: Any = None, *, commands: Group = None) -> RegulatorDesign:
    """Return the state feedback with the least integral (sum) of y'Qy + u'Ru + 2 y'Nu; see `lqr`.

    Parameters
    ----------
    plant : see `as_plant`
    Q : number, (p,) or (p, p)
        Weight of the outputs.
    R, N, commands : see `lqr`
        N has the shape (p, m).
    """
    model = as_plant(plant, "lqry")
    u = places(model.inputs, commands, "input", "lqry")
    q, r = weight(Q, len(model.C), "Q", "lqry", False), weight(R, len(u), "R", "lqry", True)
    cross = cross_weight(N, q, r, "lqry")
    C, D = model.C, model.D[:, u]
    products = np.zeros((len(q), len(r))) if cross is None else cross
    R_u = r + D.T @ q @ D + D.T @ products + products.T @ D
    design = lqr(model, C.T @ q @ C, 0.5 * (R_u + R_u.T), C.T @ (q @ D + products), commands=commands)
    return dataclasses.replace(design, method="lqry")


def _with_integrals(model: LinearModel, y: np.ndarray) -> LinearModel:
    """Return the plant with the integrals of outputs as states after its own."""
    n, k, step = len(model.A), len(y), model.period or 1.0
    corner = np.zeros((k, k)) if model.period is None else np.eye(k)
    return of_matrices(
        np.block([[model.A, np.zeros((n, k))], [step * model.C[y], corner]]),
        np.vstack([model.B, step * model.D[y]]),
        period=model.period,
        states=model.states + tuple(f"integral of {model.outputs[i]}" for i in y),
        inputs=model.inputs,
        name=model.name,
    )


def _with_states_as_outputs(model: LinearModel, y: np.ndarray) -> tuple[LinearModel, np.ndarray]:
    """Return the plant with its states and the tracked outputs as outputs, and the places of the latter."""
    states = with_states(model)
    new = [int(i) for i in y if model.outputs[i] not in model.states]
    seen = dataclasses.replace(
        states,
        C=np.vstack([states.C, model.C[new]]),
        D=np.vstack([states.D, model.D[new]]),
        outputs=states.outputs + tuple(model.outputs[i] for i in new),
        output_units=states.output_units + tuple(model.output_units[i] for i in new),
    )
    return seen, np.array([seen.outputs.index(model.outputs[i]) for i in y])
