"""Synthesis of controllers by Riccati equations: one method, one file."""

from articulus.control.synthesis.decoupling import decoupling_pd
from articulus.control.synthesis.finite_time import FiniteTime
from articulus.control.synthesis.glqg import GeneralizedLqgDesign, glqg
from articulus.control.synthesis.kalman import Estimator
from articulus.control.synthesis.ltr import ltru, ltry
from articulus.control.synthesis.optimal_projection import optimal_projection
from articulus.control.synthesis.output_poles import output_poles
from articulus.control.synthesis.rate_feedback import rate_feedback
from articulus.control.synthesis.sliding import SlidingDesign, sliding_mode
from articulus.control.synthesis.tuned_absorber import TunedAbsorber, tuned_absorber
from articulus.control.synthesis.weighted_fixed_order import weighted_fixed_order
from articulus.control.synthesis.weighted_lqg import weighted_lqg

__all__ = [
    "Estimator",
    "FiniteTime",
    "GeneralizedLqgDesign",
    "SlidingDesign",
    "TunedAbsorber",
    "decoupling_pd",
    "glqg",
    "ltru",
    "ltry",
    "optimal_projection",
    "output_poles",
    "rate_feedback",
    "sliding_mode",
    "tuned_absorber",
    "weighted_fixed_order",
    "weighted_lqg",
]
