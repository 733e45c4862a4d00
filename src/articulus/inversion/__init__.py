"""Inputs that make the outputs of a system follow a wanted motion exactly, also where they must begin before the motion.

A flexible arm with its motor at one end and its tip at the other is not minimum-phase: the torque that moves the tip along a given
path starts before the tip does and ends after it. Every method returns an `Inversion`; one method, one file.
"""

from articulus.inversion.arms.accessibility import Accessibility, accessibility
from articulus.inversion.arms.proof import Forward, forward, prove
from articulus.inversion.arms.tip_torques import tip_torques
from articulus.inversion.linear.invert import invert
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
from articulus.inversion.stable.forward import ForwardRun, forward_run
from articulus.inversion.stable.inverse import stable_inversion
from articulus.inversion.stable.mechanisms import mechanism_system
from articulus.inversion.stable.normal_form import NormalForm, normal_form
from articulus.inversion.stable.regulator import Regulator, regulator
from articulus.inversion.stable.system import NonlinearSystem

__all__ = [
    "Accessibility",
    "Circle",
    "Forward",
    "ForwardRun",
    "Inversion",
    "Jump",
    "Line",
    "Motion",
    "NonlinearSystem",
    "NormalForm",
    "Path",
    "Profile",
    "Regulator",
    "SplinePath",
    "accessibility",
    "as_motion",
    "forward",
    "forward_run",
    "from_csv",
    "invert",
    "mechanism_system",
    "minimal_vibration",
    "normal_form",
    "prove",
    "regulator",
    "stable_inversion",
    "tip_torques",
]
