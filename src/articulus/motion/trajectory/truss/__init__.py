"""Kinematics of highly redundant manipulators: trusses of variable geometry, and arms of many joints."""

from articulus.motion.trajectory.truss.arm import ArmMotion, track_frame
from articulus.motion.trajectory.truss.curve import ShapeCurve, follow_curve
from articulus.motion.trajectory.truss.direct import TrussMotion, track_nodes
from articulus.motion.trajectory.truss.nodes import Truss, TrussBay, double_octahedral, octahedral

__all__ = [
    "ArmMotion",
    "ShapeCurve",
    "Truss",
    "TrussBay",
    "TrussMotion",
    "double_octahedral",
    "follow_curve",
    "octahedral",
    "track_frame",
    "track_nodes",
]
