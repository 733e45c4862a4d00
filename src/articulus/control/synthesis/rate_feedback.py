"""Feedback of co-located rates with noisy sensors and actuators, and the least motion that any feedback can leave.

A. V. Balakrishnan, On the minimum attainable rms attitude error, 3rd Annual Conference on Aerospace Computational Control, JPL, 1989.
For M q'' + D q' + K q = B (u + n_s), y = B' q' + n_o, D = 0, the Riccati equation of the filter is solved by
P = sqrt(d_s d_o) diag(K^-1, M^-1): no feedback of y leaves less, and u = -sqrt(d_s / d_o) y attains it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.linalg import splu

from articulus.control.design import Check, Design, check_design, named_controller, static
from articulus.errors import InputError
from articulus.linear import SecondOrder

SAME = 1e-9
"""Difference of a sensor's row from its actuator's column, relative, up to which they count as co-located."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RateFeedbackDesign(Design):
    """Feedback of rates with bounds of its cost.

    Parameters
    ----------
    gain : float
        u = -gain y.
    bound : array
        Upper bounds of the mean cost.
    rate_bound : array
        The same of the rates alone.
    """

    gain: float
    bound: np.ndarray
    rate_bound: np.ndarray


def rate_feedback(
    structure: Any, *, sensor_noise: float, actuator_noise: float, outputs: Any = None
) -> RateFeedbackDesign:
    """Return u = -sqrt(actuator_noise / sensor_noise) y on co-located rates y, with the attainable mean square of chosen displacements.

    Parameters
    ----------
    structure : Structure, Reduction or articulus.linear.SecondOrder
        Supported (K is definite); its outputs are the rates at its inputs, in the same order.
    sensor_noise, actuator_noise : float
        Spectral densities.
    outputs : array, (k, n)
        Displacements whose mean squares are computed: rows on the degrees of freedom; those at the actuators if not given.

    Returns
    -------
    Design
        Figures: `gain` (a number), `bound` and `rate_bound` (k,): least mean squares of the displacements and of their rates without
        damping of the structure itself, sqrt(d_s d_o) h K^-1 h' and sqrt(d_s d_o) h M^-1 h'.
    """
    s = SecondOrder.of(structure)
    if not all(d > 0 and np.isfinite(d) for d in (sensor_noise, actuator_noise)):
        raise InputError(
            f"rate_feedback: found densities {sensor_noise}, {actuator_noise}; expected numbers above 0"
        )
    if s.H_rate.shape != s.B.T.shape or np.abs(s.H).max(initial=0.0) > 0.0:
        raise InputError("rate_feedback: expected as many outputs as inputs, rates all of them")
    if np.abs(s.H_rate - s.B.T).max() > SAME * np.abs(s.B).max():
        worst = int(np.abs(s.H_rate - s.B.T).max(axis=1).argmax())
        raise InputError(
            f"rate_feedback: output '{s.outputs[worst]}' is not the rate at the input '{s.inputs[worst]}'; expected co-located pairs"
        )
    g = float(np.sqrt(actuator_noise / sensor_noise))
    rows = s.B.T if outputs is None else np.atleast_2d(np.asarray(outputs, dtype=float))
    scale = np.sqrt(actuator_noise * sensor_noise)
    try:
        bounds = [scale * np.einsum("kn,nk->k", rows, splu(m).solve(rows.T)) for m in (s.K, s.M)]
    except RuntimeError as error:
        raise InputError(
            "rate_feedback: found a singular stiffness or mass matrix; expected a supported structure"
        ) from error
    model = s.first_order()
    u = np.arange(len(model.inputs))
    controller = named_controller(model, static(-g * np.eye(len(u))), u, u, "rate feedback")
    symmetric = float(abs(s.K - s.K.T).max() / abs(s.K).max())
    check = Check("asymmetry of the stiffness, relative", symmetric, 1e-8, symmetric < 1e-8)
    return check_design(
        RateFeedbackDesign,
        "rate feedback",
        model,
        controller,
        u,
        u,
        {"gain": g, "bound": bounds[0], "rate_bound": bounds[1]},
        [check],
    )
