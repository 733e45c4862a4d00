"""Exact derivatives of runs by named parameters, gains and initial states.

Two ways, both of the run as it is computed, step for step: `forward` takes a tangent per parameter along with the run, `adjoint` goes
back from the figure to all parameters at once.
"""

from articulus.simulation.gradients.figures import ALL_FIGURES, Figure, Final, Largest, Mean, Rms, Smallest
from articulus.simulation.gradients.gradient import Gradient, gradient
from articulus.simulation.gradients.sensitivities import Sensitivities, sensitivities

__all__ = [
    "ALL_FIGURES",
    "Figure",
    "Final",
    "Gradient",
    "Largest",
    "Mean",
    "Rms",
    "Sensitivities",
    "Smallest",
    "gradient",
    "sensitivities",
]
