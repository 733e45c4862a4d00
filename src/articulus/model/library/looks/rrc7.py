"""The Robot Research arm: housings of its joints and the tubes between them, slimmer towards the tool."""

from __future__ import annotations

from articulus.model.library.looks import Looks
from articulus.model.library.looks.shapes import BLACK, BLUE, GREY, STEEL, disc, limb

NEXT = ((0, 0, 0.5), (0.3, 0.1, 0), (0.1, 0, 0.3), (0.3, -0.1, 0), (0.08, 0, 0.4), (0.19, -0.08, 0))
"""The next hinge in the frame of each link [m]."""
RADII = (0.11, 0.1, 0.085, 0.075, 0.06, 0.05, 0.045)


def rrc7() -> Looks:
    """Return the shapes of the arm; every link turns about its z axis."""
    looks: Looks = {"ground": (disc((0, 0, -0.14), (0, 0, 1), 0.17, 0.08, BLACK),)}
    for k, radius in enumerate(RADII):
        motor = disc((0, 0, 0), (0, 0, 1), radius, 2.2 * radius, BLUE)
        cap = disc((0, 0, 0), (0, 0, 1), 0.7 * radius, 2.45 * radius, STEEL)
        link = [limb((0, 0, 0), NEXT[k], 0.62 * radius, GREY)] if k < len(NEXT) else []
        looks[f"link{k + 1}"] = (motor, cap, *link)
    return looks
