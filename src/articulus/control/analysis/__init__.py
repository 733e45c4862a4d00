"""What a linear model does: norms, Gramians, zeros, modes, margins; one question, one file."""

from articulus.control.analysis.gain_loci import GainLoci, gain_loci
from articulus.control.analysis.modal_access import ModalAccess, modal_access
from articulus.control.analysis.strong_zeros import strong_zeros
from articulus.control.analysis.zero_dynamics import ZeroDynamics, zero_dynamics

__all__ = [
    "GainLoci",
    "ModalAccess",
    "ZeroDynamics",
    "gain_loci",
    "modal_access",
    "strong_zeros",
    "zero_dynamics",
]
