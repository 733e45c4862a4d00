"""Controllers of lower order (`balred` of a controller with stability weights in MATLAB; Anderson & Liu 1989).

A controller of lower order K_r stabilizes the plant for sure if (K - K_r) P (I - K P)^-1 is smaller than one at all frequencies
and K_r has the unstable poles of K; so this is the weight with which K is reduced.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from articulus.control.analysis.norms import peak_gain
from articulus.control.connect import parallel, select
from articulus.control.design import Design, check_design
from articulus.control.reduction.weighted import weighted_balred
from articulus.errors import NumericalError


@dataclass(frozen=True, eq=False, kw_only=True)
class ReducedDesign(Design):
    """A design whose controller was reduced.

    Parameters
    ----------
    full_order : int
        States before.
    weighted_error : float
        Error of the controller, weighted by the closed loop.
    values : array
        Weighted Hankel values.
    change : float
        Hinf norm of the change of the closed loop, over its own.
    """

    full_order: int
    weighted_error: float
    values: np.ndarray
    change: float = np.nan


def reduce_controller(design: Design, order: int) -> ReducedDesign:
    """Return a design with a controller of lower order, its closed loop checked like any other.

    Parameters
    ----------
    design : Design
        Its closed loop is the weight.
    order : int
        States of the new controller; unstable poles of the old one stay.

    Returns
    -------
    Design
        Figures: `weighted_error`, below one the theory promises stability (above it the loop may still be stable, as the checks
        tell); `change`, peak over frequency of what changes in the closed loop, over the peak of the closed loop; `values`,
        weighted singular values of the states of the controller; `full_order`.

    Raises
    ------
    NumericalError
        If the closed loop is unstable; `result` then holds the design.
    """
    plant, controller = design.plant, design.controller
    u = np.array([plant.inputs.index(name) for name in controller.outputs])
    y = np.array([plant.outputs.index(name) for name in controller.inputs])
    found = weighted_balred(controller, order, right=select(design.closed, u, y))
    small = dataclasses.replace(found.model, states=tuple(f"k.{i}" for i in range(order)))
    figures = {"full_order": len(controller.A), "weighted_error": found.error.value, "values": found.values}
    method = f"{design.method}, {order} states"
    try:
        new = check_design(ReducedDesign, method, plant, small, u, y, figures)
    except NumericalError as error:
        raise NumericalError(
            f"{error}; weighted error {found.error.value:.4g} at order {order}, expected below 1: keep more states",
            result=error.result,
        ) from None
    change = peak_gain(parallel(design.closed, new.closed, -1.0)).value / peak_gain(design.closed).value
    return dataclasses.replace(new, change=change)
