"""The human torso: trunk, head of radius 0.12 m and arms of radius 0.05 m, as its data have them."""

from __future__ import annotations

from articulus.model.library.looks import Looks
from articulus.model.library.looks.shapes import BLUE, DARK, disc, limb
from articulus.model.mechanism import Ellipsoid, Pose, Sphere

SKIN = "#d9a37e"


def human_torso() -> Looks:
    """Return the shapes of the torso."""
    return {
        "ground": (disc((0, 0, -0.03), (0, 0, 1), 0.16, 0.06, DARK),),
        "trunk": (
            Ellipsoid((0.15, 0.1, 0.2), at=Pose((0, 0, 0.46)), color=BLUE),
            limb((-0.05, 0, 0.1), (0.05, 0, 0.1), 0.095, BLUE),
            limb((0, 0, 0.1), (0, 0, 0.5), 0.09, BLUE),
            limb((-0.13, 0, 0.57), (0.13, 0, 0.57), 0.06, BLUE),
            limb((0, 0, 0.58), (0, 0, 0.66), 0.045, SKIN),
        ),
        "head": (Ellipsoid((0.095, 0.12, 0.105), at=Pose((0, -0.12, 0)), color=SKIN),),
        "right_upper_arm": (Sphere(0.06, color=BLUE), limb((0, 0, 0), (0, -0.45, 0), 0.045, BLUE)),
        "left_upper_arm": (Sphere(0.06, color=BLUE), limb((0, 0, 0), (0, 0.45, 0), 0.045, BLUE)),
        "right_lower_arm": (
            limb((0, 0, 0), (0, -0.34, 0), 0.036, SKIN),
            Sphere(0.045, at=Pose((0, -0.38, 0)), color=SKIN),
        ),
        "left_lower_arm": (
            limb((0, 0, 0), (0, 0.34, 0), 0.036, SKIN),
            Sphere(0.045, at=Pose((0, 0.38, 0)), color=SKIN),
        ),
    }
