"""Named parameters of a loop fitted to measured runs, with exact sensitivities."""

from articulus.design.fits.check import RecordCheck, check
from articulus.design.fits.experiment import Experiment
from articulus.design.fits.fit import ParameterFit, fit

__all__ = ["Experiment", "ParameterFit", "RecordCheck", "check", "fit"]
