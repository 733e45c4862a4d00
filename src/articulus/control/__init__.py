"""Analysis and design of controllers on linear models; one method, one file.

Every design method has the form `design = method(plant, ...)`. The plant is a `LinearModel`, a python-control system, a
structure or matrices (A, B, C, D); the result is a `Design`: the controller, and the closed loop that was checked.
"""

from articulus.control.analysis.damp import ModeTable, damp
from articulus.control.analysis.delay import DelayedModel, delayed
from articulus.control.analysis.gramians import gram, hankel_values
from articulus.control.analysis.margins import ChannelMargins, DiskMargin, Margins, margins
from articulus.control.analysis.modal_access import ModalAccess, modal_access
from articulus.control.analysis.norms import Norm, h2norm, hinfnorm, peak_gain
from articulus.control.analysis.open_loop import open_loop
from articulus.control.analysis.stable import stabsep
from articulus.control.analysis.strong_zeros import strong_zeros
from articulus.control.analysis.zero_dynamics import ZeroDynamics, zero_dynamics
from articulus.control.analysis.zeros import Zeros, tzero
from articulus.control.design import Check, Design
from articulus.control.equations import care, dare, dlyap, lyap
from articulus.control.export import c_source, difference_equation
from articulus.control.filters import Shaper, ei, notch, rolloff, zv, zvd
from articulus.control.plant import as_plant
from articulus.control.proof.check import Proof, check
from articulus.control.proof.run_margins import RunMargins, run_margins
from articulus.control.reduction.balanced import balred
from articulus.control.reduction.controller import reduce_controller
from articulus.control.reduction.hankel import ohklmr
from articulus.control.reduction.minimal import minreal
from articulus.control.reduction.reduced import ReducedModel
from articulus.control.reduction.schur import schmr
from articulus.control.reduction.second_order import second_order_balred
from articulus.control.reduction.stochastic import bstmr
from articulus.control.reduction.weighted import weighted_balred
from articulus.control.robust.averaging import Averaged, attracted, average_stability, averaged
from articulus.control.robust.blocks import Block, BlockStructure
from articulus.control.robust.cascade import cascade
from articulus.control.robust.gap import ncfmargin, nugap
from articulus.control.robust.lft import Fraction, fraction
from articulus.control.robust.margins import one_sided, perron, real_two_sided, two_sided
from articulus.control.robust.mu_semidefinite import mu_semidefinite
from articulus.control.robust.mussv import Mu, mussv
from articulus.control.robust.polynomials import FamilyStability, edges, kharitonov, polynomic
from articulus.control.robust.robgain import RobustPerformance, robgain, robustperf
from articulus.control.robust.robstab import RobustStability, robstab
from articulus.control.robust.uncertain import UncertainModel, uncertain
from articulus.control.robust.wcgain import WorstCaseGain, wcgain
from articulus.control.sampled_response.grid import FrequencyGrid
from articulus.control.sampled_response.spectral import spectral_factor
from articulus.control.sampled_response.wiener_hopf import WienerHopf, wiener_hopf
from articulus.control.sampling import sample, unsample
from articulus.control.second_order import second_order
from articulus.control.synthesis.augw import augw, mixsyn
from articulus.control.synthesis.decoupling import decoupling_pd
from articulus.control.synthesis.dksyn import dksyn
from articulus.control.synthesis.fixed_order import DesignLimits, fixed_order
from articulus.control.synthesis.h2syn import h2syn
from articulus.control.synthesis.hinfsyn import hinfsyn
from articulus.control.synthesis.kalman import Estimator, kalman
from articulus.control.synthesis.lqg import lqg
from articulus.control.synthesis.lqi import lqi, lqry
from articulus.control.synthesis.lqr import lqr
from articulus.control.synthesis.ltr import ltru, ltry
from articulus.control.synthesis.ncfsyn import ncfsyn
from articulus.control.synthesis.optimal_projection import optimal_projection
from articulus.control.synthesis.output_poles import output_poles
from articulus.control.synthesis.pidtune import pidtune
from articulus.control.synthesis.place import place
from articulus.control.synthesis.rate_feedback import rate_feedback
from articulus.control.synthesis.sampled_lq import lqgd, lqrd
from articulus.control.synthesis.sliding import SlidingDesign, sliding_mode
from articulus.control.synthesis.tuned_absorber import TunedAbsorber, tuned_absorber
from articulus.control.synthesis.weighted_lqg import weighted_lqg
from articulus.numerics.riccati import RiccatiSolution

__all__ = [
    "Averaged",
    "Block",
    "BlockStructure",
    "ChannelMargins",
    "Check",
    "DelayedModel",
    "Design",
    "DesignLimits",
    "DiskMargin",
    "Estimator",
    "FamilyStability",
    "Fraction",
    "FrequencyGrid",
    "Margins",
    "ModalAccess",
    "ModeTable",
    "Mu",
    "Norm",
    "Proof",
    "ReducedModel",
    "RiccatiSolution",
    "RobustPerformance",
    "RobustStability",
    "RunMargins",
    "Shaper",
    "SlidingDesign",
    "TunedAbsorber",
    "UncertainModel",
    "WienerHopf",
    "WorstCaseGain",
    "ZeroDynamics",
    "Zeros",
    "as_plant",
    "attracted",
    "augw",
    "average_stability",
    "averaged",
    "balred",
    "bstmr",
    "c_source",
    "care",
    "cascade",
    "check",
    "damp",
    "dare",
    "decoupling_pd",
    "delayed",
    "difference_equation",
    "dksyn",
    "dlyap",
    "edges",
    "ei",
    "fixed_order",
    "fraction",
    "gram",
    "h2norm",
    "h2syn",
    "hankel_values",
    "hinfnorm",
    "hinfsyn",
    "kalman",
    "kharitonov",
    "lqg",
    "lqgd",
    "lqi",
    "lqr",
    "lqrd",
    "lqry",
    "ltru",
    "ltry",
    "lyap",
    "margins",
    "minreal",
    "mixsyn",
    "modal_access",
    "mu_semidefinite",
    "mussv",
    "ncfmargin",
    "ncfsyn",
    "notch",
    "nugap",
    "ohklmr",
    "one_sided",
    "open_loop",
    "optimal_projection",
    "output_poles",
    "peak_gain",
    "perron",
    "pidtune",
    "place",
    "polynomic",
    "rate_feedback",
    "real_two_sided",
    "reduce_controller",
    "robgain",
    "robstab",
    "robustperf",
    "rolloff",
    "run_margins",
    "sample",
    "schmr",
    "second_order",
    "second_order_balred",
    "sliding_mode",
    "spectral_factor",
    "stabsep",
    "strong_zeros",
    "tuned_absorber",
    "two_sided",
    "tzero",
    "uncertain",
    "unsample",
    "wcgain",
    "weighted_balred",
    "weighted_lqg",
    "wiener_hopf",
    "zero_dynamics",
    "zv",
    "zvd",
]
