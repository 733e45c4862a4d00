"""New mechanisms from old ones: every function takes a `Description` and returns another."""

from articulus.model.mechanism.edit.attach import attach
from articulus.model.mechanism.edit.inertia import with_inertia
from articulus.model.mechanism.edit.lock import lock_joints
from articulus.model.mechanism.edit.rebuild import rebuilt
from articulus.model.mechanism.edit.remove import without
from articulus.model.mechanism.edit.scale import SimilarityFactors, rescale

__all__ = ["SimilarityFactors", "attach", "lock_joints", "rebuilt", "rescale", "with_inertia", "without"]
