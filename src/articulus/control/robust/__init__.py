"""Robustness: structured singular value, uncertain parameters, polynomials with uncertain coefficients."""

from articulus.control.robust.averaging import Averaged, attraction_region, average_law, average_stability
from articulus.control.robust.blocks import Block, BlockStructure
from articulus.control.robust.cascade import cascade
from articulus.control.robust.lft import Fraction, fraction
from articulus.control.robust.margins import one_sided, perron, real_two_sided, two_sided
from articulus.control.robust.mu_semidefinite import mu_semidefinite
from articulus.control.robust.mussv import Mu
from articulus.control.robust.polynomials import FamilyStability, edges, kharitonov, polynomic
from articulus.control.robust.robgain import RobustPerformance
from articulus.control.robust.robstab import RobustStability
from articulus.control.robust.uncertain import UncertainModel
from articulus.control.robust.wcgain import WorstCaseGain

__all__ = [
    "Averaged",
    "Block",
    "BlockStructure",
    "FamilyStability",
    "Fraction",
    "Mu",
    "RobustPerformance",
    "RobustStability",
    "UncertainModel",
    "WorstCaseGain",
    "attraction_region",
    "average_law",
    "average_stability",
    "cascade",
    "edges",
    "fraction",
    "kharitonov",
    "mu_semidefinite",
    "one_sided",
    "perron",
    "polynomic",
    "real_two_sided",
    "two_sided",
]
