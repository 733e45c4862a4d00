"""One algorithm a file, on symbols, in the form in which the literature prints it."""

from articulus.dynamics.quantities import QUANTITIES, Quantity, compilable, function

__all__ = ["QUANTITIES", "Quantity", "compilable", "function"]
