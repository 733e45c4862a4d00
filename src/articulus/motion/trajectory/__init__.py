"""The best motion for a task: one `Problem` for all methods, one transcription one file."""

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
from articulus.motion.trajectory.keeping import Facing, InBox, Keep, OnLine
from articulus.motion.trajectory.legs import Itinerary, Leg, plan_legs
from articulus.motion.trajectory.obstacles import Apart, Ball, Clear, Crate, Hull, Obstacle, Rod
from articulus.motion.trajectory.online import reaching
from articulus.motion.trajectory.path_integral import PathIntegral
from articulus.motion.trajectory.path_jerk import JerkMotion
from articulus.motion.trajectory.path_motion import PathMotion
from articulus.motion.trajectory.path_run import path_speed
from articulus.motion.trajectory.planning import plan, solve_problem
from articulus.motion.trajectory.plans import Plan
from articulus.motion.trajectory.point_motion import PointMotion, point_to_point
from articulus.motion.trajectory.problem import Phase, PhaseConstraint, PhaseLink, Problem, ode
from articulus.motion.trajectory.receding import RecedingHorizon
from articulus.motion.trajectory.store import load_plan
from articulus.motion.trajectory.waypoint_motion import WaypointMotion, waypoints

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
    "JerkMotion",
    "Keep",
    "Leg",
    "MotionSymbols",
    "Obstacle",
    "OnLine",
    "PathIntegral",
    "PathMotion",
    "Phase",
    "PhaseConstraint",
    "PhaseLink",
    "Plan",
    "PointMotion",
    "Problem",
    "RecedingHorizon",
    "Rod",
    "Time",
    "WaypointMotion",
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
