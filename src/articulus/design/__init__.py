"""Models from measurements, and structure and controller improved together; one method, one file."""

from articulus.design.base_parameters import BaseParameters, base_parameters
from articulus.design.control_structure import ControlStructure, measure
from articulus.design.fits import Experiment, Fit, RecordCheck, check, fit
from articulus.design.inertial_fit import InertialFit, inertial_fit
from articulus.design.mean_squares import MeanSquareLimit
from articulus.design.methods import Continuation, QuadraticSteps, SequentialApproximations
from articulus.design.optimize import AtMost, CoDesign, optimize
from articulus.design.pareto import Front, FrontDesign, TradeOff
from articulus.design.program import Optimum, Point, Program, Section
from articulus.design.regulator_cost import RegulatorCost
from articulus.design.sized_structure import ModalRatio, RayleighDamping, SizedStructure, Terms

__all__ = [
    "AtMost",
    "BaseParameters",
    "CoDesign",
    "Continuation",
    "ControlStructure",
    "Experiment",
    "Fit",
    "Front",
    "FrontDesign",
    "InertialFit",
    "MeanSquareLimit",
    "ModalRatio",
    "Optimum",
    "Point",
    "Program",
    "QuadraticSteps",
    "RayleighDamping",
    "RecordCheck",
    "RegulatorCost",
    "Section",
    "SequentialApproximations",
    "SizedStructure",
    "Terms",
    "TradeOff",
    "base_parameters",
    "check",
    "fit",
    "inertial_fit",
    "measure",
    "optimize",
]
