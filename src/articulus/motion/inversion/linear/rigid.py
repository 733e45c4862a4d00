"""`rigid`: the inputs of a plant that follows its slow motion only, as inverse dynamics of rigid bodies give them; to compare with."""

from __future__ import annotations

from typing import Any

import numpy as np

from articulus.control.plant import Group
from articulus.errors import InputError
from articulus.motion.inversion.linear.invert import STEPS, choose_ports
from articulus.motion.inversion.paths import Path, as_path, require_smooth
from articulus.motion.inversion.result import Inversion

TERMS = 3
"""Powers of s of the inverse at low frequency: static forces, damping, inertia."""


def rigid(
    plant: Any,
    path: Path,
    *,
    inputs: Group = None,
    outputs: Group = None,
    step: float | None = None,
) -> Inversion:
    """Return the inputs k0 y + k1 y' + k2 y'', the first terms of the inverse of the plant at low frequency.

    For an arm with flexible links these are the torques of the same arm with rigid links; they begin and end with the path. The
    states are those of the rigid motion, without the deflections by its accelerations.

    Parameters
    ----------
    plant, path, inputs, outputs, step
        See `invert`; a continuous plant with as many inputs as outputs.
    """
    model = choose_ports(plant, inputs, outputs, None, "rigid")[0]
    path = as_path(path)
    n, m, p = len(model.A), len(model.inputs), len(model.outputs)
    if model.period is not None or m != p or path.count != p:
        raise InputError(
            f"rigid: found {m} inputs, {p} outputs and a path of {path.count} coordinates; expected a continuous plant and as many of each"
        )
    require_smooth(path, TERMS - 1, "rigid")
    whole = np.block([[model.A, model.B], [model.C, model.D]])
    if np.linalg.cond(whole) > 1e15:
        raise InputError(
            "rigid: found a zero at s = 0; expected outputs that constant inputs or inertia forces can hold at any value"
        )
    terms = [np.linalg.solve(whole, np.vstack([np.zeros((n, p)), np.eye(p)]))]
    for _ in range(1, TERMS):  # x' = A x + B u, 0 = C x + D u, power by power of s
        terms.append(np.linalg.solve(whole, np.vstack([terms[-1][:n], np.zeros((p, p))])))
    h = step or (path.t_end - path.t0) / STEPS
    count = int(np.ceil((path.t_end - path.t0) / h - 1e-9))
    t = path.t0 + h * np.arange(count + 1)
    motion = path.derivatives(t, TERMS - 1)
    u = sum(motion[k] @ terms[k][n:].T for k in range(TERMS))
    x = motion[0] @ terms[0][:n].T + motion[1] @ terms[1][:n].T
    return Inversion(
        "rigid",
        t,
        np.asarray(u),
        motion[0],
        model.inputs,
        model.outputs,
        model.input_units,
        model.output_units,
        path.t0,
        path.t_end,
        x,
        model.states,
    )
