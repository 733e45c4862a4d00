"""Ways to close loops, one file each, all on M vdot + G' lambda = f."""

from articulus.dynamics.loops.augmented import augmented
from articulus.dynamics.loops.base import Factored, Problem, Solution, solve

__all__ = ["Factored", "Problem", "Solution", "augmented", "solve"]
