"""Models of lower order, with the bound of their error and the error as measured; one method, one file."""

from articulus.control.reduction.controller import reduce_controller
from articulus.control.reduction.hankel import ohklmr
from articulus.control.reduction.reduced import ReducedModel
from articulus.control.reduction.schur import schmr
from articulus.control.reduction.second_order import second_order_balred
from articulus.control.reduction.stochastic import bstmr
from articulus.control.reduction.weighted import weighted_balred

__all__ = [
    "ReducedModel",
    "bstmr",
    "ohklmr",
    "reduce_controller",
    "schmr",
    "second_order_balred",
    "weighted_balred",
]
