"""Frequency-weighted LQG: errors, commands, disturbances and noise shaped by filters, solved as an H2 problem."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from articulus.control.connect import series, side_by_side
from articulus.control.design import static
from articulus.control.plant import Group, PlantPartition, of_matrices
from articulus.control.synthesis.augw import Weight, weighting
from articulus.control.synthesis.h2syn import H2Design, h2syn
from articulus.linear import LinearModel


def weighted_lqg(
    plant: Any,
    *,
    measured: Group,
    commands: Group,
    errors: Weight = 1.0,
    effort: Weight = 1.0,
    disturbances: Weight = 1.0,
    noise: Weight = 1.0,
) -> H2Design:
    """Return the controller with the least mean square of weighted errors and commands under colored noise.

    Parameters
    ----------
    plant : see `as_plant`
        Inputs other than the commands are disturbances (if there are none: they act at the commands); outputs other than the
        measured ones are errors (if there are none: the measured ones are).
    measured, commands : names or number of outputs and of inputs
    errors, effort : number, numbers, (numerator, denominator) or system
        Weights of errors and commands over frequency; see `augw`. That of the commands must not vanish at high frequency.
    disturbances, noise : the same
        Filters that shape unit white noise into the disturbances and the noise of the measurements; that of the noise must
        not vanish at high frequency.

    Returns
    -------
    Design
        For the plant with its weights; the controller is, sign included, that of the plant given. Figure: `norm`.
    """
    weighted, k, p = weighted_plant(
        "weighted_lqg", plant, measured, commands, errors, effort, disturbances, noise
    )
    return dataclasses.replace(h2syn(weighted, measured=p, commands=k), method="weighted_lqg")


def weighted_plant(
    method: str,
    plant: Any,
    measured: Group,
    commands: Group,
    errors: Weight,
    effort: Weight,
    disturbances: Weight,
    noise: Weight,
) -> tuple[LinearModel, int, int]:
    """Return the plant between white noise and weighted errors, with its commands and measured outputs last, and how many these are; arguments as of `weighted_lqg`."""
    parts = PlantPartition.of(plant, commands, measured, method)
    m = parts.model
    w = parts.w if len(parts.w) else parts.u
    z = parts.z if len(parts.z) else parts.y
    p, k, n = len(parts.y), len(parts.u), len(m.A)
    core = of_matrices(
        m.A,
        np.hstack([m.B[:, w], np.zeros((n, p)), parts.B2]),
        np.vstack([m.C[z], np.zeros((k, n)), parts.C2]),
        np.block(
            [
                [m.D[np.ix_(z, w)], np.zeros((len(z), p)), m.D[np.ix_(z, parts.u)]],
                [np.zeros((k, len(w) + p)), np.eye(k)],
                [m.D[np.ix_(parts.y, w)], np.eye(p), parts.D22],
            ]
        ),
        m.period,
        states=m.states,
    )
    into = [weighting(disturbances, len(w), "disturbances", m), weighting(noise, p, "noise", m)]
    out = [weighting(errors, len(z), "errors", m), weighting(effort, k, "effort", m)]
    through = [of_matrices(*static(np.eye(size)), period=m.period) for size in (k, p)]
    found = series(series(side_by_side(*into, through[0]), core), side_by_side(*out, through[1]))
    u_names, y_names = tuple(m.inputs[i] for i in parts.u), tuple(m.outputs[i] for i in parts.y)
    white, weighted = len(found.inputs) - k, len(found.outputs) - p
    named = dataclasses.replace(
        found,
        inputs=tuple(f"white.{i}" for i in range(white)) + u_names,
        outputs=tuple(f"weighted.{i}" for i in range(weighted)) + y_names,
        period=m.period,
    )
    return named, k, p
