"""Analysis and design of controllers on linear models; one method, one file.

Every design method has the form `design = method(plant, ...)`. The plant is a `LinearModel`, a python-control system, a
structure or matrices (A, B, C, D); the result is a `Design`: the controller, and the closed loop that was checked.
"""

from articulus.control.analysis.gramians import gram, hankel_values
from articulus.control.analysis.norms import Norm, h2norm, hinfnorm, peak_gain
from articulus.control.analysis.stable import stabsep
from articulus.control.design import Check, Design
from articulus.control.export import c_source, difference_equation
from articulus.control.lqr import lqr
from articulus.control.plant import as_plant
from articulus.control.sampling import sample

__all__ = [
    "Check",
    "Design",
    "Norm",
    "as_plant",
    "c_source",
    "difference_equation",
    "gram",
    "h2norm",
    "hankel_values",
    "hinfnorm",
    "lqr",
    "peak_gain",
    "sample",
    "stabsep",
]
