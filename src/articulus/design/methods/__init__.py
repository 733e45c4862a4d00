"""Methods of minimization under limits: a file each."""

from articulus.design.methods.approximations import SequentialApproximations
from articulus.design.methods.base import Method
from articulus.design.methods.continuation import Continuation
from articulus.design.methods.quadratic import QuadraticSteps

ALL_METHODS: tuple[type[Method], ...] = (QuadraticSteps, SequentialApproximations, Continuation)

__all__ = ["ALL_METHODS", "Continuation", "Method", "QuadraticSteps", "SequentialApproximations"]
