"""Design on sampled frequency responses, measured or computed, without a state-space model of the plant."""

from articulus.control.sampled_response.grid import FrequencyGrid
from articulus.control.sampled_response.spectral import spectral_factor
from articulus.control.sampled_response.wiener_hopf import WienerHopf, wiener_hopf

__all__ = [
    "FrequencyGrid",
    "WienerHopf",
    "spectral_factor",
    "wiener_hopf",
]
