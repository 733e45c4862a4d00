"""Reductions, one per file: each is a set of shapes, so that the reduced structure stays second order."""

from articulus.structure.reduction.balanced import BalancedReduction, balanced
from articulus.structure.reduction.base import Reduction
from articulus.structure.reduction.by_controllability import by_controllability, modal_measures
from articulus.structure.reduction.by_effective_mass import by_effective_mass
from articulus.structure.reduction.convergence import Convergence, convergence
from articulus.structure.reduction.craig_bampton import craig_bampton
from articulus.structure.reduction.guyan import guyan
from articulus.structure.reduction.modal import modal
from articulus.structure.reduction.residual_flexibility import residual_flexibility

__all__ = [
    "BalancedReduction",
    "Convergence",
    "Reduction",
    "balanced",
    "by_controllability",
    "by_effective_mass",
    "convergence",
    "craig_bampton",
    "guyan",
    "modal",
    "modal_measures",
    "residual_flexibility",
]
