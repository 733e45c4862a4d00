"""Ways to close loops, one file each, all on M vdot + G' lambda = f."""

from articulus.dynamics.loops.augmented import augmented
from articulus.dynamics.loops.base import Factored, Problem, Solution, solve, suggested_penalty
from articulus.dynamics.loops.lagrange import lagrange
from articulus.dynamics.loops.penalty import generic_penalty
from articulus.dynamics.loops.regularised import regularised

__all__ = [
    "Factored",
    "Problem",
    "Solution",
    "augmented",
    "generic_penalty",
    "lagrange",
    "regularised",
    "solve",
    "suggested_penalty",
]
