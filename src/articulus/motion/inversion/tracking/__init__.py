"""Following a path with the inputs of an inversion: on-line, and with feedback around them."""

from articulus.motion.inversion.tracking.feedforward import predict_positions
from articulus.motion.inversion.tracking.preview import Preview, preview
from articulus.motion.inversion.tracking.pseudolink import PseudolinkDesign, pseudolink

__all__ = [
    "Preview",
    "PseudolinkDesign",
    "predict_positions",
    "preview",
    "pseudolink",
]
