"""What a linear model does: norms, Gramians, zeros, modes, margins; one question, one file."""

from articulus.control.analysis.damp import ModeTable
from articulus.control.analysis.delay import DelayedModel
from articulus.control.analysis.gain_loci import GainLoci, gain_loci
from articulus.control.analysis.margins import ChannelMargins, DiskMargin, Margins
from articulus.control.analysis.modal_access import ModalAccess, modal_access
from articulus.control.analysis.norms import Norm
from articulus.control.analysis.strong_zeros import strong_zeros
from articulus.control.analysis.zero_dynamics import ZeroDynamics, zero_dynamics
from articulus.control.analysis.zeros import Zeros

__all__ = [
    "ChannelMargins",
    "DelayedModel",
    "DiskMargin",
    "GainLoci",
    "Margins",
    "ModalAccess",
    "ModeTable",
    "Norm",
    "ZeroDynamics",
    "Zeros",
    "gain_loci",
    "modal_access",
    "strong_zeros",
    "zero_dynamics",
]
