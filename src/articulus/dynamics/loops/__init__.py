"""Ways to close loops, one file each, all on M vdot + G' lambda = f."""

from articulus.dynamics.loops.absolute import absolute
from articulus.dynamics.loops.augmented import augmented
from articulus.dynamics.loops.base import (
    ConstraintProblem,
    ConstraintSolution,
    Factorization,
    solve,
    suggested_penalty,
)
from articulus.dynamics.loops.canonical import canonical
from articulus.dynamics.loops.contact import GeneralJoint
from articulus.dynamics.loops.forms import FORMS, LoopForm, form
from articulus.dynamics.loops.joint_form import joint_form
from articulus.dynamics.loops.lagrange import lagrange
from articulus.dynamics.loops.multiple_chains import Grasp, multiple_chains, require_grasp
from articulus.dynamics.loops.null_space import null_space, partition
from articulus.dynamics.loops.operator_form import by_secondary, operator_form
from articulus.dynamics.loops.park import penalty_multipliers
from articulus.dynamics.loops.penalty import generic_penalty
from articulus.dynamics.loops.pivoted import independent
from articulus.dynamics.loops.projection import Projection
from articulus.dynamics.loops.regularized import regularized_dynamics
from articulus.dynamics.loops.servo import joint_directions, servo

__all__ = [
    "FORMS",
    "ConstraintProblem",
    "ConstraintSolution",
    "Factorization",
    "GeneralJoint",
    "Grasp",
    "LoopForm",
    "Projection",
    "absolute",
    "augmented",
    "by_secondary",
    "canonical",
    "form",
    "generic_penalty",
    "independent",
    "joint_directions",
    "joint_form",
    "lagrange",
    "multiple_chains",
    "null_space",
    "operator_form",
    "partition",
    "penalty_multipliers",
    "regularized_dynamics",
    "require_grasp",
    "servo",
    "solve",
    "suggested_penalty",
]
