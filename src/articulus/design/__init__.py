"""Models from measurements, and structure and controller improved together; one method, one file."""

from articulus.design.base_parameters import BaseParameters, base_parameters
from articulus.design.fits import Experiment, Fit, RecordCheck, check, fit

__all__ = ["BaseParameters", "Experiment", "Fit", "RecordCheck", "base_parameters", "check", "fit"]
