"""Analysis and design of controllers on linear models; one method, one file.

Every design method has the form `design = method(plant, ...)`. The plant is a `LinearModel`, a python-control system, a
structure or matrices (A, B, C, D); the result is a `Design`: the controller, and the closed loop that was checked.
"""

from articulus.control.design import Check, Design
from articulus.control.export import c_source, difference_equation
from articulus.control.lqr import lqr
from articulus.control.plant import as_plant
from articulus.control.sampling import sample

__all__ = [
    "Check",
    "Design",
    "as_plant",
    "c_source",
    "difference_equation",
    "lqr",
    "sample",
]
