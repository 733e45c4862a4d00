"""Design on sampled frequency responses, measured or computed, without a state-space model of the plant."""

from articulus.control.sampled_response.bands import merge_bands
from articulus.control.sampled_response.grid import FrequencyGrid
from articulus.control.sampled_response.realize import fit_response, unstable_part
from articulus.control.sampled_response.sampled_plant import SampledPlant
from articulus.control.sampled_response.spectral import spectral_factor
from articulus.control.sampled_response.uncertainty import uncertainty_spectrum
from articulus.control.sampled_response.wiener_hopf import WienerHopf, general_wiener_hopf, wiener_hopf

__all__ = [
    "FrequencyGrid",
    "SampledPlant",
    "WienerHopf",
    "fit_response",
    "general_wiener_hopf",
    "merge_bands",
    "spectral_factor",
    "uncertainty_spectrum",
    "unstable_part",
    "wiener_hopf",
]
