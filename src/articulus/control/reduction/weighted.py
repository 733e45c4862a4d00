"""Frequency-weighted balanced truncation (Enns 1984; `balred` with weights, `bstmr` of weighted plants in MATLAB).

The Gramians are those of the plant behind the right weight and before the left one: states that the weights do not let through
count little. No bound of the error is known in advance; it is measured.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from articulus.control.analysis.gramians import controllability_root, observability_root
from articulus.control.analysis.norms import peak_gain
from articulus.control.analysis.scaling import scale_states
from articulus.control.analysis.stable import require_stable, stable_poles
from articulus.control.connect import parallel, series
from articulus.control.plant import as_plant
from articulus.control.reduction.balanced import Balance, project_states
from articulus.control.reduction.reduced import (
    ReducedModel,
    divide_plant,
    join_parts,
    order_within,
    tail_sums,
)
from articulus.errors import InputError, NumericalError
from articulus.linear import LinearModel


@threadpool_limits.wrap(limits=1, user_api="blas")  # many small steps: threads only wait for each other
def weighted_balred(plant: Any, order: int, *, left: Any = None, right: Any = None) -> ReducedModel:
    """Return a plant G reduced so that left (G - G_r) right is small; poles that are not asymptotically stable stay.

    Parameters
    ----------
    plant : see `as_plant`
    order : int
        States of the reduced model.
    left, right : see `as_plant`
        Stable weights after the outputs and before the inputs; at least one.
    """
    if left is None and right is None:
        raise InputError("weighted_balred: found no weight; expected left, right or both; without use balred")
    full, stable, rest = divide_plant(plant, "weighted_balred")
    before, after = _weight(right, "right"), _weight(left, "left")
    k = order_within("weighted_balred", order, None, tail_sums(np.zeros(len(stable.A))), len(rest.A))
    n = len(stable.A)
    driven = stable if before is None else series(before, stable)  # states: weight, plant
    seen = stable if after is None else series(stable, after)  # states: plant, weight
    balance = Balance.of(controllability_root(driven)[len(driven.A) - n :], observability_root(seen)[:n])
    small = project_states(stable, balance, k, "weighted_balred")
    poles, inside = stable_poles(small.A, small.period)
    if not inside.all():
        raise NumericalError(
            f"weighted_balred: the model of order {order} is not stable, poles {poles}, which two-sided weights do not exclude; "
            "take another order, or one weight only"
        )
    difference = parallel(stable, small, -1.0)
    difference = difference if before is None else series(before, difference)
    difference = difference if after is None else series(difference, after)
    return ReducedModel(
        "weighted_balred",
        full,
        join_parts(full, small, rest),
        balance.values[:n],
        len(rest.A),
        "weighted",
        np.nan,
        peak_gain(difference),
        lambda w: np.linalg.norm(difference.response(w), 2, axis=(1, 2)),
    )


def _weight(weight: Any, side: str) -> LinearModel | None:
    if weight is None:
        return None
    model = scale_states(as_plant(weight, f"weighted_balred, {side} weight"))[0]
    require_stable(model, f"weighted_balred, {side} weight")
    return model
