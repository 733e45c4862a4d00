"""The best motion for a task: one `Problem` for all methods, one transcription one file."""

from articulus.model.late import name_finder
from articulus.motion.trajectory import convected_chain, staircase, stochastic, truss
from articulus.motion.trajectory.costs import (
    Acceleration,
    Condition,
    Cost,
    Effort,
    FunctionCost,
    MotionSymbols,
    Time,
)
from articulus.motion.trajectory.keeping import Facing, InBox, OnLine
from articulus.motion.trajectory.legs import Itinerary, Leg, plan_legs
from articulus.motion.trajectory.obstacles import Apart, Ball, Clear, Crate, Hull, Rod
from articulus.motion.trajectory.online import reaching
from articulus.motion.trajectory.path_integral import PathIntegral
from articulus.motion.trajectory.path_run import path_speed
from articulus.motion.trajectory.planning import plan, solve_problem
from articulus.motion.trajectory.plans import Plan
from articulus.motion.trajectory.point_motion import point_to_point
from articulus.motion.trajectory.problem import Phase, PhaseConstraint, PhaseLink, Problem, ode
from articulus.motion.trajectory.receding import RecedingHorizon
from articulus.motion.trajectory.store import load_plan
from articulus.motion.trajectory.waypoint_motion import waypoints

__getattr__ = name_finder(
    __name__,
    "staircase",
    "stochastic",
    "truss",
    "path_motion",
    "path_jerk",
    "point_motion",
    "waypoint_motion",
    "online",
    "overload",
    "plans",
    "residual",
    "keeping",
    "obstacles",
)

__all__ = [
    "Acceleration",
    "Apart",
    "Ball",
    "Clear",
    "Condition",
    "Cost",
    "Crate",
    "Effort",
    "Facing",
    "FunctionCost",
    "Hull",
    "InBox",
    "Itinerary",
    "Leg",
    "MotionSymbols",
    "OnLine",
    "PathIntegral",
    "Phase",
    "PhaseConstraint",
    "PhaseLink",
    "Plan",
    "Problem",
    "RecedingHorizon",
    "Rod",
    "Time",
    "convected_chain",
    "load_plan",
    "ode",
    "path_speed",
    "plan",
    "plan_legs",
    "point_to_point",
    "reaching",
    "solve_problem",
    "staircase",
    "stochastic",
    "truss",
    "waypoints",
]
