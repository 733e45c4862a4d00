"""A controller of fixed order for weighted errors and commands under colored noise: `fixed_order` on the plant of `weighted_lqg`."""

from __future__ import annotations

import dataclasses
from typing import Any

from articulus.control.plant import Group
from articulus.control.synthesis.augw import Weight
from articulus.control.synthesis.fixed_order import DesignLimits, FixedOrderDesign, fixed_order
from articulus.control.synthesis.weighted_lqg import weighted_plant


def weighted_fixed_order(
    plant: Any,
    order: int,
    *,
    measured: Group,
    commands: Group,
    errors: Weight = 1.0,
    effort: Weight = 1.0,
    disturbances: Weight = 1.0,
    noise: Weight = 1.0,
    h2: float = 1.0,
    hinf: float = 0.0,
    damping: float | None = None,
    decay: float | None = None,
    starts: int = 6,
    iterations: int = 300,
    seed: int = 0,
) -> FixedOrderDesign:
    """Return the controller of given order with the least norms between white noise and weighted errors and commands.

    Parameters
    ----------
    plant : see `as_plant`
        As of `weighted_lqg`, whose controller has at least the order of the plant.
    order : int
    measured, commands, errors, effort, disturbances, noise
        See `weighted_lqg`.
    h2, hinf, starts, iterations, seed
        See `control.fixed_order`.
    damping : float [-]
        Least damping ratio of the poles.
    decay : float [1/s]
        Least distance of the poles from the imaginary axis.

    Returns
    -------
    Design
        For the plant with its weights; the controller is, sign included, that of the plant given. Figures: those of `control.fixed_order`.
    """
    weighted, k, p = weighted_plant(
        "weighted_fixed_order", plant, measured, commands, errors, effort, disturbances, noise
    )
    limits = None if damping is None and decay is None else DesignLimits(damping=damping, decay=decay)
    design = fixed_order(
        weighted,
        order,
        commands=k,
        measured=p,
        h2=h2,
        hinf=hinf,
        limits=limits,
        starts=starts,
        iterations=iterations,
        seed=seed,
    )
    return dataclasses.replace(design, method="fixed_order")
