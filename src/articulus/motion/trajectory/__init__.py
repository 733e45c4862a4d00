"""The best motion for a task: one `Problem` for all methods, one transcription one file."""

from articulus.motion.trajectory.convected_chain import ConvectedChain, ConvectedLink, Segment
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
from articulus.motion.trajectory.online import Deadlines, reaching
from articulus.motion.trajectory.overload import Overload
from articulus.motion.trajectory.path_integral import PathIntegral
from articulus.motion.trajectory.path_jerk import JerkMotion
from articulus.motion.trajectory.path_motion import PathMotion
from articulus.motion.trajectory.path_run import path_speed
from articulus.motion.trajectory.planning import plan, solve_problem
from articulus.motion.trajectory.plans import Plan, Violation
from articulus.motion.trajectory.point_motion import PointMotion, point_to_point
from articulus.motion.trajectory.problem import Constraint, Link, Phase, Problem, ode
from articulus.motion.trajectory.receding import RecedingHorizon
from articulus.motion.trajectory.residual import Residual
from articulus.motion.trajectory.riccati_plan import FeedbackPlan
from articulus.motion.trajectory.staircase import (
    RowViolation,
    Stage,
    StagedMotion,
    StagedProblem,
    StageSolution,
    StaircaseQL,
    solve_staged,
    solve_stages,
    staged,
)
from articulus.motion.trajectory.stochastic import FeedbackLaw, Jump, feedback_law
from articulus.motion.trajectory.store import load_plan
from articulus.motion.trajectory.truss import (
    ArmMotion,
    Bay,
    ShapeCurve,
    Truss,
    TrussMotion,
    double_octahedral,
    follow_curve,
    octahedral,
    track_frame,
    track_nodes,
)
from articulus.motion.trajectory.waypoint_motion import WaypointMotion, waypoints

__all__ = [
    "Acceleration",
    "Apart",
    "ArmMotion",
    "Ball",
    "Bay",
    "Clear",
    "Condition",
    "Constraint",
    "ConvectedChain",
    "ConvectedLink",
    "Cost",
    "Crate",
    "Deadlines",
    "Effort",
    "Facing",
    "FeedbackLaw",
    "FeedbackPlan",
    "FunctionCost",
    "Hull",
    "InBox",
    "Itinerary",
    "JerkMotion",
    "Jump",
    "Keep",
    "Leg",
    "Link",
    "MotionSymbols",
    "Obstacle",
    "OnLine",
    "Overload",
    "PathIntegral",
    "PathMotion",
    "Phase",
    "Plan",
    "PointMotion",
    "Problem",
    "RecedingHorizon",
    "Residual",
    "Rod",
    "RowViolation",
    "Segment",
    "ShapeCurve",
    "Stage",
    "StageSolution",
    "StagedMotion",
    "StagedProblem",
    "StaircaseQL",
    "Time",
    "Truss",
    "TrussMotion",
    "Violation",
    "WaypointMotion",
    "double_octahedral",
    "feedback_law",
    "follow_curve",
    "load_plan",
    "octahedral",
    "ode",
    "path_speed",
    "plan",
    "plan_legs",
    "point_to_point",
    "reaching",
    "solve_problem",
    "solve_staged",
    "solve_stages",
    "staged",
    "track_frame",
    "track_nodes",
    "waypoints",
]
