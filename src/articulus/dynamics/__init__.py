"""One algorithm a file, on symbols, in the form in which the literature prints it."""

from articulus.dynamics.quantities import QUANTITIES, Quantity, compilable, differentiable, function

__all__ = ["QUANTITIES", "Quantity", "compilable", "differentiable", "function"]
