"""New mechanisms from old ones: every function takes a `Description` and returns another."""

from articulus.mechanism.edit.attach import attached
from articulus.mechanism.edit.inertia import with_inertia
from articulus.mechanism.edit.lock import locked
from articulus.mechanism.edit.rebuild import rebuilt
from articulus.mechanism.edit.remove import without
from articulus.mechanism.edit.scale import Scale, scaled

__all__ = ["Scale", "attached", "locked", "rebuilt", "scaled", "with_inertia", "without"]
