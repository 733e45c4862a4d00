"""The best motion for a task: one `Problem` for all methods, one transcription one file."""

from articulus.trajectory.obstacles import Ball, Clear, Crate, Hull, Obstacle, Rod
from articulus.trajectory.plan import Plan, Violation, plan, solve_problem
from articulus.trajectory.problem import Constraint, Link, Phase, Problem, ode

__all__ = [
    "Ball",
    "Clear",
    "Constraint",
    "Crate",
    "Hull",
    "Link",
    "Obstacle",
    "Phase",
    "Plan",
    "Problem",
    "Rod",
    "Violation",
    "ode",
    "plan",
    "solve_problem",
]
