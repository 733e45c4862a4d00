"""A cable that hangs between two supports, as beads on massless cables."""
