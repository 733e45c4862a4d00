"""Following a path with the inputs of an inversion: on-line, and with feedback around them."""

from articulus.motion.inversion.tracking.feedforward import predict_positions
from articulus.motion.inversion.tracking.joint_control import JointControlDesign, joint_control
from articulus.motion.inversion.tracking.preview import Preview, preview
from articulus.motion.inversion.tracking.pseudolink import PseudolinkDesign, pseudolink

__all__ = [
    "JointControlDesign",
    "Preview",
    "PseudolinkDesign",
    "joint_control",
    "predict_positions",
    "preview",
    "pseudolink",
]
