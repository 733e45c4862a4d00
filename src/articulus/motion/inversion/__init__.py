"""Inputs that make the outputs of a system follow a desired motion exactly, also where they must begin before the motion.

A flexible arm with its motor at one end and its tip at the other is not minimum-phase: the torque that moves the tip along a given
path starts before the tip does and ends after it. Every method returns an `Inversion`; one method, one file.
"""

from articulus.model.late import name_finder
from articulus.motion.inversion.arms.accessibility import accessibility
from articulus.motion.inversion.arms.proof import prove
from articulus.motion.inversion.arms.tip_torques import tip_torques
from articulus.motion.inversion.linear.invert import invert
from articulus.motion.inversion.linear.rigid import rigid
from articulus.motion.inversion.linear.tip_model import add_operating_point, tip_model
from articulus.motion.inversion.links import link_by_link
from articulus.motion.inversion.paths import (
    Circle,
    Line,
    Path,
    PathJump,
    PathSamples,
    Profile,
    SplinePath,
    from_csv,
    sample_path,
)
from articulus.motion.inversion.result import Inversion
from articulus.motion.inversion.servo import servo_plan
from articulus.motion.inversion.stable.inverse import stable_inversion
from articulus.motion.inversion.stable.mechanisms import mechanism_system
from articulus.motion.inversion.stable.system import NonlinearSystem
from articulus.motion.inversion.store import load_inversion
from articulus.motion.inversion.tracking.feedforward import feedforward

__getattr__ = name_finder(__name__, "arms", "links", "piezo", "servo", "stable", "tracking")

__all__ = [
    "Circle",
    "Inversion",
    "Line",
    "NonlinearSystem",
    "Path",
    "PathJump",
    "PathSamples",
    "Profile",
    "SplinePath",
    "accessibility",
    "add_operating_point",
    "feedforward",
    "from_csv",
    "invert",
    "link_by_link",
    "load_inversion",
    "mechanism_system",
    "prove",
    "rigid",
    "sample_path",
    "servo_plan",
    "stable_inversion",
    "tip_model",
    "tip_torques",
]
