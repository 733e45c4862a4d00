"""The best motion for a task: one `Problem` for all methods, one transcription one file."""

from articulus.trajectory.convected_chain import ConvectedChain, ConvectedLink, Segment
from articulus.trajectory.keeping import Facing, InBox, Keep, OnLine
from articulus.trajectory.obstacles import Ball, Clear, Crate, Hull, Obstacle, Rod
from articulus.trajectory.online import Deadlines, reaching
from articulus.trajectory.overload import Overload
from articulus.trajectory.path_integral import PathIntegral
from articulus.trajectory.path_jerk import JerkMotion
from articulus.trajectory.path_motion import PathMotion
from articulus.trajectory.path_run import path_speed
from articulus.trajectory.planning import Plan, Violation, plan, solve_problem
from articulus.trajectory.point_motion import PointMotion, point_to_point
from articulus.trajectory.problem import Constraint, Link, Phase, Problem, ode
from articulus.trajectory.receding import RecedingHorizon
from articulus.trajectory.residual import Residual
from articulus.trajectory.riccati_plan import FeedbackPlan
from articulus.trajectory.staircase import (
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
from articulus.trajectory.stochastic import FeedbackLaw, Jump, feedback_law
from articulus.trajectory.store import load_plan
from articulus.trajectory.truss import (
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
from articulus.trajectory.waypoint_motion import WaypointMotion, waypoints

__all__ = [
    "ArmMotion",
    "Ball",
    "Bay",
    "Clear",
    "Constraint",
    "ConvectedChain",
    "ConvectedLink",
    "Crate",
    "Deadlines",
    "Facing",
    "FeedbackLaw",
    "FeedbackPlan",
    "Hull",
    "InBox",
    "JerkMotion",
    "Jump",
    "Keep",
    "Link",
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
