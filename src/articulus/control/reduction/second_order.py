"""Reduction of a structure that keeps its second-order form M q'' + D q' + K q = B u, with the error as measured."""

from __future__ import annotations

import numpy as np

from articulus.control.analysis.norms import peak_gain
from articulus.control.connect import parallel
from articulus.control.plant import as_plant
from articulus.control.reduction.reduced import ReducedModel
from articulus.structure import Structure
from articulus.structure.reduction.balanced import BalancedReduction, balanced
from articulus.structure.reduction.modal import modal


def second_order_balred(
    structure: Structure, count: int, *, candidates: int
) -> tuple[BalancedReduction, ReducedModel]:
    """Return a structure on the `count` shapes that matter most between inputs and outputs, and how far it is from the full one.

    Parameters
    ----------
    structure : Structure
        With inputs, outputs and damping in every mode; without rigid motions.
    count : int
        Coordinates to keep.
    candidates : int
        Normal modes of lowest frequency that represent the full structure, also where the error is measured.

    Returns
    -------
    BalancedReduction, ReducedModel
        The first has M, D, K, B, H; the second its first-order form, the position-velocity singular values and the error.
        No bound is known in advance.
    """
    reduction = balanced(structure, count, candidates=candidates)
    full, model = as_plant(modal(structure, candidates)), as_plant(reduction)
    difference = parallel(full, model, -1.0)
    return reduction, ReducedModel(
        "second_order_balred",
        full,
        model,
        reduction.values,
        0,
        "additive",
        np.nan,
        peak_gain(difference),
        lambda w: np.linalg.norm(difference.response(w), 2, axis=(1, 2)),
    )
