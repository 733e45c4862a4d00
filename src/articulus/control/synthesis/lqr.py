"""Linear quadratic regulator (`lqr`, `dlqr` in MATLAB)."""

from __future__ import annotations

from typing import Any

import numpy as np

from articulus.control.design import RegulatorDesign, check_design, named_controller, static
from articulus.control.plant import Group, as_plant, places, with_states
from articulus.control.riccati import cross_weight, regulator, residual_check, weight


def lqr(plant: Any, Q: Any, R: Any, N: Any = None, *, commands: Group = None) -> RegulatorDesign:
    """Return the state feedback u = -K x with the least integral of x'Qx + u'Ru + 2 x'Nu; of a sampled plant, the least sum.

    Parameters
    ----------
    plant : see `as_plant`
    Q : number, (n,) or (n, n)
        Weight of the states, positive semidefinite.
    R : number, (m,) or (m, m)
        Weight of the commands, positive definite.
    N : (n, m)
        Weight of products of states and commands.
    commands : str, int or sequence of str
        Names of the inputs that the regulator drives, or how many of the last; all if not given.

    Returns
    -------
    Design
        Its plant has the states as outputs. Figures: `gain` K (m, n), `cost` X (n, n): the cost from x is x'Xx.
    """
    model = as_plant(plant, "lqr")
    u = places(model.inputs, commands, "input", "lqr")
    n = len(model.A)
    q, r = weight(Q, n, "Q", "lqr", False), weight(R, len(u), "R", "lqr", True)
    found = regulator(model, u, q, r, cross_weight(N, q, r, "lqr"), "lqr")
    seen = with_states(model)
    controller = named_controller(seen, static(-found.gain), u, np.arange(n), "lqr")
    figures = {"gain": found.gain, "cost": found.X}
    checks = [residual_check(found)]
    return check_design(
        RegulatorDesign, "lqr", seen, controller, u, np.arange(n), figures, checks, flow=found.flow
    )
