"""Linear models with their modes from free decays, from records of inputs and outputs, and from frequency responses."""

from articulus.design.modal.decay import DecayFit, decay_fit
from articulus.design.modal.decay_figure import DecayFigure
from articulus.design.modal.modal_fit import ModalFit
from articulus.design.modal.observer import observer_fit
from articulus.design.modal.response import response_fit
from articulus.design.modal.subspace import subspace_fit

__all__ = ["DecayFigure", "DecayFit", "ModalFit", "decay_fit", "observer_fit", "response_fit", "subspace_fit"]
