"""New mechanisms from old ones: every function takes a `Description` and returns another."""

from articulus.model.mechanism.edit.attach import attached
from articulus.model.mechanism.edit.inertia import with_inertia
from articulus.model.mechanism.edit.lock import locked
from articulus.model.mechanism.edit.rebuild import rebuilt
from articulus.model.mechanism.edit.remove import without
from articulus.model.mechanism.edit.scale import Scale, scaled

__all__ = ["Scale", "attached", "locked", "rebuilt", "scaled", "with_inertia", "without"]
