"""Non-causal inverse dynamics of whole mechanisms with flexible bodies: joint forces that move a tip along a path exactly."""

from articulus.motion.inversion.arms.accessibility import Accessibility
from articulus.motion.inversion.arms.comparison import rigid_feedforward, vibration
from articulus.motion.inversion.arms.proof import Forward, forward

__all__ = [
    "Accessibility",
    "Forward",
    "forward",
    "rigid_feedforward",
    "vibration",
]
