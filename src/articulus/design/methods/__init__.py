"""Methods of minimization under limits: a file each."""

from articulus.design.methods.approximations import SequentialApproximations
from articulus.design.methods.base import Minimizer
from articulus.design.methods.continuation import Continuation
from articulus.design.methods.quadratic import QuadraticSteps

ALL_METHODS: tuple[type[Minimizer], ...] = (QuadraticSteps, SequentialApproximations, Continuation)

__all__ = ["ALL_METHODS", "Continuation", "Minimizer", "QuadraticSteps", "SequentialApproximations"]
