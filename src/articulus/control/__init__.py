"""Analysis and design of controllers on linear models; one method, one file.

Every design method has the form `design = method(plant, ...)`. The plant is a `LinearModel`, a python-control system, a
structure or matrices (A, B, C, D); the result is a `Design`: the controller, and the closed loop that was checked.

Methods of one paper and tools of specialists have lists of their own: `control.analysis` (access to modes, zero dynamics),
`control.interaction` (control and structure solved in turn), `control.reduction` (other reductions), `control.robust` (families of polynomials, diagonal margins, linear fractions, averaging),
`control.sampled_response` (Wiener-Hopf design on responses) and `control.synthesis` (output feedback, absorbers, projections).
"""

from articulus.control import analysis as analysis
from articulus.control import filters as filters
from articulus.control import interaction as interaction
from articulus.control import proof as proof
from articulus.control import reduction as reduction
from articulus.control import robust as robust
from articulus.control import sampled_response as sampled_response
from articulus.control import synthesis as synthesis
from articulus.control.analysis.damp import damp
from articulus.control.analysis.delay import with_delays
from articulus.control.analysis.gramians import gram, hankel_values
from articulus.control.analysis.margins import margins
from articulus.control.analysis.norms import h2norm, hinfnorm, peak_gain
from articulus.control.analysis.open_loop import open_loop
from articulus.control.analysis.stable import stabsep
from articulus.control.analysis.zeros import tzero
from articulus.control.design import Check, Design
from articulus.control.equations import care, dare, dlyap, lyap
from articulus.control.export import c_source, difference_equation
from articulus.control.filters import notch, rolloff
from articulus.control.plant import as_plant
from articulus.control.proof.check import check
from articulus.control.proof.run_margins import run_margins
from articulus.control.reduction.balanced import balred
from articulus.control.reduction.minimal import minreal
from articulus.control.robust.gap import ncfmargin, nugap
from articulus.control.robust.mussv import mussv
from articulus.control.robust.robgain import robgain, robustperf
from articulus.control.robust.robstab import robstab
from articulus.control.robust.uncertain import uncertain
from articulus.control.robust.wcgain import wcgain
from articulus.control.sampling import sample, unsample
from articulus.control.second_order import second_order
from articulus.control.synthesis.augw import augw, mixsyn
from articulus.control.synthesis.dksyn import dksyn
from articulus.control.synthesis.fixed_order import DesignLimits, fixed_order
from articulus.control.synthesis.h2syn import h2syn
from articulus.control.synthesis.hinfsyn import hinfsyn
from articulus.control.synthesis.kalman import kalman
from articulus.control.synthesis.lqg import lqg
from articulus.control.synthesis.lqi import lqi, lqry
from articulus.control.synthesis.lqr import lqr
from articulus.control.synthesis.ncfsyn import ncfsyn
from articulus.control.synthesis.pidtune import pidtune
from articulus.control.synthesis.place import place
from articulus.control.synthesis.sampled_lq import lqgd, lqrd
from articulus.model.late import name_finder

__getattr__ = name_finder(
    __name__,
    "analysis",
    "filters",
    "interaction",
    "proof",
    "reduction",
    "robust",
    "sampled_response",
    "synthesis",
)

__all__ = [
    "Check",
    "Design",
    "DesignLimits",
    "as_plant",
    "augw",
    "balred",
    "c_source",
    "care",
    "check",
    "damp",
    "dare",
    "difference_equation",
    "dksyn",
    "dlyap",
    "fixed_order",
    "gram",
    "h2norm",
    "h2syn",
    "hankel_values",
    "hinfnorm",
    "hinfsyn",
    "kalman",
    "lqg",
    "lqgd",
    "lqi",
    "lqr",
    "lqrd",
    "lqry",
    "lyap",
    "margins",
    "minreal",
    "mixsyn",
    "mussv",
    "ncfmargin",
    "ncfsyn",
    "notch",
    "nugap",
    "open_loop",
    "peak_gain",
    "pidtune",
    "place",
    "robgain",
    "robstab",
    "robustperf",
    "rolloff",
    "run_margins",
    "sample",
    "second_order",
    "stabsep",
    "tzero",
    "uncertain",
    "unsample",
    "wcgain",
    "with_delays",
]
