"""Named parameters of a loop fitted to measured runs, with exact sensitivities."""

from articulus.design.fits.check import RecordCheck, check
from articulus.design.fits.experiment import Experiment
from articulus.design.fits.fit import Fit, fit

__all__ = ["Experiment", "Fit", "RecordCheck", "check", "fit"]
