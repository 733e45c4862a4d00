"""Programs in stages that only touch their neighbors: linear, quadratic, and nonlinear ones as a sequence of those."""

from articulus.motion.trajectory.staircase.ql import StaircaseQL
from articulus.motion.trajectory.staircase.solve import solve_stages
from articulus.motion.trajectory.staircase.sqp import StagedMotion, StagedProblem, solve_staged, to_stages
from articulus.motion.trajectory.staircase.stages import RowViolation, Stage, StageSolution

__all__ = [
    "RowViolation",
    "Stage",
    "StageSolution",
    "StagedMotion",
    "StagedProblem",
    "StaircaseQL",
    "solve_staged",
    "solve_stages",
    "to_stages",
]
