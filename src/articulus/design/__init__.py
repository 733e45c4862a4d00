"""Models from measurements, and structure and controller improved together; one method, one file."""

from articulus.design import modal
from articulus.design.base_parameters import BaseParameters, base_parameters
from articulus.design.calibration import Calibration, FrameMeasurement, calibrate
from articulus.design.control_structure import ControlStructure, measure
from articulus.design.excitation import Excitation, excitation
from articulus.design.fits import Experiment, ParameterFit, RecordCheck, check, fit
from articulus.design.inertial_fit import InertialFit, inertial_fit
from articulus.design.link_sizing import RoundLink
from articulus.design.mean_squares import MeanSquareLimit
from articulus.design.methods import Continuation, QuadraticSteps, SequentialApproximations
from articulus.design.objectives import AtMost
from articulus.design.optimize import CoDesign, optimize
from articulus.design.pareto import Front, FrontDesign, TradeOff
from articulus.design.program import DesignProgram, LineSection, Optimum, Point
from articulus.design.regulator_cost import RegulatorCost
from articulus.design.sized_structure import ModalRatio, RayleighDamping, SizedStructure, Terms
from articulus.design.uncertainty_weight import UncertaintyWeight, uncertainty_weight
from articulus.design.validation import Validation, validate
from articulus.model.files.write_back import write_back

__all__ = [
    "AtMost",
    "BaseParameters",
    "Calibration",
    "CoDesign",
    "Continuation",
    "ControlStructure",
    "DesignProgram",
    "Excitation",
    "Experiment",
    "FrameMeasurement",
    "Front",
    "FrontDesign",
    "InertialFit",
    "LineSection",
    "MeanSquareLimit",
    "ModalRatio",
    "Optimum",
    "ParameterFit",
    "Point",
    "QuadraticSteps",
    "RayleighDamping",
    "RecordCheck",
    "RegulatorCost",
    "RoundLink",
    "SequentialApproximations",
    "SizedStructure",
    "Terms",
    "TradeOff",
    "UncertaintyWeight",
    "Validation",
    "base_parameters",
    "calibrate",
    "check",
    "excitation",
    "fit",
    "inertial_fit",
    "measure",
    "modal",
    "optimize",
    "uncertainty_weight",
    "validate",
    "write_back",
]
