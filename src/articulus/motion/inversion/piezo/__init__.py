"""Piezoelectric layers and stacks on beams and arms: what they push with, where they go, and a column that they hold up."""

from articulus.motion.inversion.piezo.arm_placement import Bay, Placement, bays, placement
from articulus.motion.inversion.piezo.beam_modes import BeamModes
from articulus.motion.inversion.piezo.beam_placement import BeamPlacement, beam_placement
from articulus.motion.inversion.piezo.buckling import BucklingControl, Column, buckling_control
from articulus.motion.inversion.piezo.invariance import ModeInvariance, mode_invariance
from articulus.motion.inversion.piezo.layers import PiezoLayers, StackBay
from articulus.motion.inversion.piezo.locked import LockedModes, locked_modes

__all__ = [
    "Bay",
    "BeamModes",
    "BeamPlacement",
    "BucklingControl",
    "Column",
    "LockedModes",
    "ModeInvariance",
    "PiezoLayers",
    "Placement",
    "StackBay",
    "bays",
    "beam_placement",
    "buckling_control",
    "locked_modes",
    "mode_invariance",
    "placement",
]
