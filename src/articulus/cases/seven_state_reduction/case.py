"""Balanced and balanced stochastic truncation of a model of seven states with a near cancellation at s = -1."""

import numpy as np

from articulus.control import as_plant, balred, hankel_values, peak_gain
from articulus.control.connect import parallel, series
from articulus.control.reduction import bstmr, ohklmr
from articulus.control.reduction.reduced import ReducedModel
from articulus.linear import LinearModel

NUMERATOR = 0.05 * np.array([1, 801, 1024, 599, 451, 119, 49, 5.55])
DENOMINATOR = np.array([1, 12.6, 53.48, 90.94, 71.83, 27.22, 4.75, 0.3])


def plant() -> LinearModel:
    """Return the printed transfer function in controller form."""
    n = len(DENOMINATOR) - 1
    A = np.vstack([-DENOMINATOR[1:], np.eye(n)[:-1]])
    C = (NUMERATOR - NUMERATOR[0] * DENOMINATOR)[None, 1:]
    return as_plant((A, np.eye(n)[:, :1], C, [[NUMERATOR[0]]]))


def compute() -> dict:
    G = plant()
    relative = {k: bstmr(G, k) for k in (3, 4, 5)}
    absolute = {k: balred(G, k) for k in (3, 4, 5)}
    optimal = ohklmr(G, 4)
    phase, values = relative[3].values, absolute[3].values
    return {
        "singular values of the phase matrix, 1-5": phase[:5],
        "singular value 6 of the phase matrix": phase[5],
        "singular values of the phase matrix, 1-6, to 60 digits": phase[:6],
        "singular value 7 of the phase matrix, times 1e6": 1e6 * phase[6],
        "Hankel singular values 1-6": values[:6],
        "Hankel singular value 7, times 1e6": 1e6 * values[6],
        "BST to 3, 4 states: relative error": _errors(relative)[:2],
        "BST to 5 states: relative error": relative[5].error.value,
        "BST to 4, 5 states: product bound over the error": np.array(
            [relative[k].bound / relative[k].error.value for k in (4, 5)]
        ),
        "BT to 3, 4, 5 states: additive error": _errors(absolute),
        "BT to 3, 4, 5 states: bound": np.array([absolute[k].bound for k in (3, 4, 5)]),
        "BT to 3 states: relative error": relative_error(G, absolute[3].model),
        "optimal Hankel approximation to 4 states: Hankel norm of the error": hankel_values(
            parallel(G, optimal.model, -1.0)
        )[0],
    }


def _errors(found: dict[int, ReducedModel]) -> np.ndarray:
    return np.array([found[k].error.value for k in sorted(found)])


def relative_error(G: LinearModel, small: LinearModel) -> float:
    """Return the peak of G^-1 (G - G_r)."""
    inverse = as_plant((G.A - G.B @ G.C / G.D, G.B / G.D, -G.C / G.D, 1 / G.D))
    return peak_gain(series(parallel(G, small, -1.0), inverse)).value
