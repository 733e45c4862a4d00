"""Inputs that make the outputs of a system follow a wanted motion exactly, also where they must begin before the motion.

A flexible arm with its motor at one end and its tip at the other is not minimum-phase: the torque that moves the tip along a given
path starts before the tip does and ends after it. Every method returns an `Inversion`; one method, one file.
"""

from articulus.inversion.arms.accessibility import Accessibility, accessibility
from articulus.inversion.arms.proof import Forward, forward, prove
from articulus.inversion.arms.tip_torques import tip_torques
from articulus.inversion.links import minimal_vibration
from articulus.inversion.paths import (
    Circle,
    Jump,
    Line,
    Motion,
    Path,
    Profile,
    SplinePath,
    as_motion,
    from_csv,
)
from articulus.inversion.result import Inversion

__all__ = [
    "Accessibility",
    "Circle",
    "Forward",
    "Inversion",
    "Jump",
    "Line",
    "Motion",
    "Path",
    "Profile",
    "SplinePath",
    "accessibility",
    "as_motion",
    "forward",
    "from_csv",
    "minimal_vibration",
    "prove",
    "tip_torques",
]
