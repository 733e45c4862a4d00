"""Inputs that make the outputs of a system follow a wanted motion exactly, also where they must begin before the motion.

A flexible arm with its motor at one end and its tip at the other is not minimum-phase: the torque that moves the tip along a given
path starts before the tip does and ends after it. Every method returns an `Inversion`; one method, one file.
"""

from articulus.motion.inversion.arms.accessibility import Accessibility, accessibility
from articulus.motion.inversion.arms.comparison import rigid_feedforward, vibration
from articulus.motion.inversion.arms.proof import Forward, forward, prove
from articulus.motion.inversion.arms.tip_torques import tip_torques
from articulus.motion.inversion.linear.invert import invert
from articulus.motion.inversion.linear.rigid import rigid
from articulus.motion.inversion.linear.tip_model import about, tip_model
from articulus.motion.inversion.links import link_by_link, minimal_vibration
from articulus.motion.inversion.paths import (
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
from articulus.motion.inversion.piezo.arm_placement import Bay, Placement, bays, placement
from articulus.motion.inversion.piezo.beam_modes import BeamModes
from articulus.motion.inversion.piezo.beam_placement import BeamPlacement, beam_placement
from articulus.motion.inversion.piezo.buckling import BucklingControl, Column, buckling_control
from articulus.motion.inversion.piezo.invariance import ModeInvariance, mode_invariance
from articulus.motion.inversion.piezo.layers import PiezoLayers, StackBay
from articulus.motion.inversion.piezo.locked import LockedModes, locked_modes
from articulus.motion.inversion.result import Inversion
from articulus.motion.inversion.servo import ServoPlan, servo_plan
from articulus.motion.inversion.stable.forward import ForwardRun, forward_run
from articulus.motion.inversion.stable.inverse import stable_inversion
from articulus.motion.inversion.stable.mechanisms import mechanism_system
from articulus.motion.inversion.stable.normal_form import NormalForm, normal_form
from articulus.motion.inversion.stable.regulator import Regulator, regulator
from articulus.motion.inversion.stable.system import NonlinearSystem
from articulus.motion.inversion.tracking.feedforward import feedforward, predicted
from articulus.motion.inversion.tracking.preview import Preview, preview
from articulus.motion.inversion.tracking.pseudolink import PseudolinkDesign, pseudolink

__all__ = [
    "Accessibility",
    "Bay",
    "BeamModes",
    "BeamPlacement",
    "BucklingControl",
    "Circle",
    "Column",
    "Forward",
    "ForwardRun",
    "Inversion",
    "Jump",
    "Line",
    "LockedModes",
    "ModeInvariance",
    "Motion",
    "NonlinearSystem",
    "NormalForm",
    "Path",
    "PiezoLayers",
    "Placement",
    "Preview",
    "Profile",
    "PseudolinkDesign",
    "Regulator",
    "ServoPlan",
    "SplinePath",
    "StackBay",
    "about",
    "accessibility",
    "as_motion",
    "bays",
    "beam_placement",
    "buckling_control",
    "feedforward",
    "forward",
    "forward_run",
    "from_csv",
    "invert",
    "link_by_link",
    "locked_modes",
    "mechanism_system",
    "minimal_vibration",
    "mode_invariance",
    "normal_form",
    "placement",
    "predicted",
    "preview",
    "prove",
    "pseudolink",
    "regulator",
    "rigid",
    "rigid_feedforward",
    "servo_plan",
    "stable_inversion",
    "tip_model",
    "tip_torques",
    "vibration",
]
