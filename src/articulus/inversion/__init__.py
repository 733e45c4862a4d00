"""Inputs that make the outputs of a system follow a wanted motion exactly, also where they must begin before the motion.

A flexible arm with its motor at one end and its tip at the other is not minimum-phase: the torque that moves the tip along a given
path starts before the tip does and ends after it. Every method returns an `Inversion`; one method, one file.
"""

from articulus.inversion.arms.accessibility import Accessibility, accessibility
from articulus.inversion.arms.comparison import rigid_feedforward, vibration
from articulus.inversion.arms.proof import Forward, forward, prove
from articulus.inversion.arms.tip_torques import tip_torques
from articulus.inversion.linear.invert import invert
from articulus.inversion.linear.rigid import rigid
from articulus.inversion.linear.tip_model import about, tip_model
from articulus.inversion.links import link_by_link, minimal_vibration
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
from articulus.inversion.piezo.arm_placement import Bay, Placement, bays, placement
from articulus.inversion.piezo.beam_modes import BeamModes
from articulus.inversion.piezo.beam_placement import BeamPlacement, beam_placement
from articulus.inversion.piezo.buckling import BucklingControl, Column, buckling_control
from articulus.inversion.piezo.invariance import ModeInvariance, mode_invariance
from articulus.inversion.piezo.layers import PiezoLayers, StackBay
from articulus.inversion.piezo.locked import LockedModes, locked_modes
from articulus.inversion.result import Inversion
from articulus.inversion.servo import ServoPlan, servo_plan
from articulus.inversion.stable.forward import ForwardRun, forward_run
from articulus.inversion.stable.inverse import stable_inversion
from articulus.inversion.stable.mechanisms import mechanism_system
from articulus.inversion.stable.normal_form import NormalForm, normal_form
from articulus.inversion.stable.regulator import Regulator, regulator
from articulus.inversion.stable.system import NonlinearSystem
from articulus.inversion.tracking.feedforward import feedforward, predicted
from articulus.inversion.tracking.preview import Preview, preview
from articulus.inversion.tracking.pseudolink import PseudolinkDesign, pseudolink

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
