"""What machines of the library look like, one function each; Cat 215B has a file of its own."""

from __future__ import annotations

from articulus.model.library.looks import Looks
from articulus.model.library.looks.shapes import (
    BLACK,
    BLUE,
    DARK,
    GOLD,
    GREY,
    ORANGE,
    STEEL,
    WHITE,
    box,
    disc,
    limb,
    tapered_link,
    tube,
)
from articulus.model.mechanism import Ellipsoid, Pose, Sphere


def hub_with_appendages() -> Looks:
    """Return the shapes of the hub, between the roots of its appendages.

    The spacecraft with flexible appendages: its hub; arrays, radiators, antenna and boom are drawn by their modes.
    """
    return {
        "hub": (
            box((7.0, 7.0, 3.2), (0, 0, 0), GOLD),
            box((7.1, 7.1, 0.4), (0, 0, 0), GREY),
            *(box((1.2, 0.5, 0.8), (x, s * 3.75, 0), DARK) for x in (0, 3) for s in (1, -1)),
            *(tube((s * 3.4, 0, 0), (s * 4.0, 0, 0), 0.5, DARK) for s in (1, -1)),
            disc((0, 0, 1.9), (0, 0, 1), 2.2, 0.6, WHITE),
            disc((0, 0, -1.9), (0, 0, 1), 1.2, 0.6, DARK),
        ),
    }


SKIN = "#d9a37e"


def human_torso() -> Looks:
    """Return the shapes of the torso.

    The human torso: trunk, head of radius 0.12 m and arms of radius 0.05 m, as its data have them.
    """
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


def king_arm() -> Looks:
    """Return the shapes that do not bend.

    The flexible arm of King: its links are drawn by their modes; here is the motor that carries them.
    """
    return {
        "ground": (
            disc((0, 0, -0.09), (0, 0, 1), 0.06, 0.12, DARK),
            disc((0, 0, -0.02), (0, 0, 1), 0.03, 0.04, STEEL),
        )
    }


def padilla_arm() -> Looks:
    """Return the shapes that do not bend, on a table under the arm.

    The flexible arm of Padilla and von Flotow: shoulder, elbow and tip body; its links are drawn by their modes.
    """
    return {
        "ground": (disc((0, 0, -0.11), (0, 0, 1), 0.14, 0.06, DARK),),
        "shoulder": (
            disc((0, 0, 0), (0, 0, 1), 0.075, 0.15, BLUE),
            disc((0, 0, 0.08), (0, 0, 1), 0.05, 0.02, STEEL),
        ),
        "elbow": (
            disc((0, 0, 0), (0, 0, 1), 0.055, 0.12, ORANGE),
            disc((0, 0, -0.075), (0, 0, 1), 0.07, 0.02, DARK),
        ),
        "tip_body": (
            box((0.07, 0.07, 0.07), (0, 0, 0), STEEL),
            disc((0, 0, -0.06), (0, 0, 1), 0.05, 0.02, DARK),
        ),
    }


def puma600() -> Looks:
    """Return the shapes of the arm; x of link 2 and -y of link 3 lead along them.

    The PUMA 600: base column, shoulder, upper arm, forearm, wrist and flange, sized after the model's hinges.
    """
    return {
        "ground": (
            tube((0, 0, -0.66), (0, 0, -0.12), 0.085, GREY),
            disc((0, 0, -0.66), (0, 0, 1), 0.16, 0.03, BLACK),
        ),
        "link1": (
            tube((0, 0, -0.12), (0, 0, 0.1), 0.095, WHITE),
            tube((0, -0.08, 0), (0, 0.085, 0), 0.09, WHITE),
            disc((0, -0.08, 0), (0, 1, 0), 0.07, 0.02, GREY),
        ),
        "link2": (
            tapered_link((-0.11, 0), (0.432, 0), (0.26, 0.15), 0.11, WHITE),
            disc((0, 0, 0), (0, 0, 1), 0.095, 0.13, GREY),
            disc((0.432, 0, 0), (0, 0, 1), 0.06, 0.13, GREY),
        ),
        "link3": (
            tapered_link((0, 0.04), (0.02, -0.36), (0.17, 0.09), 0.09, WHITE),
            tube((0.02, -0.36, 0), (0.02, -0.4, 0), 0.04, GREY),
        ),
        "link4": (
            disc((0, 0, 0), (0, 1, 0), 0.04, 0.09, WHITE),
            tube((0, 0, -0.045), (0, 0, 0), 0.038, WHITE),
        ),
        "link5": (disc((0, 0, 0), (0, 0, 1), 0.03, 0.1, GREY), tube((0, 0, 0), (0, -0.045, 0), 0.028, GREY)),
        "link6": (
            disc((0, 0, -0.006), (0, 0, 1), 0.032, 0.012, STEEL),
            limb((0, 0, -0.012), (0, 0, -0.03), 0.006, BLACK),
        ),
    }


NEXT = ((0, 0, 0.5), (0.3, 0.1, 0), (0.1, 0, 0.3), (0.3, -0.1, 0), (0.08, 0, 0.4), (0.19, -0.08, 0))
"""The next hinge in the frame of each link [m]."""
RADII = (0.11, 0.1, 0.085, 0.075, 0.06, 0.05, 0.045)


def rrc7() -> Looks:
    """Return the shapes of the arm; every link turns about its z axis.

    The Robot Research arm: housings of its joints and the tubes between them, slimmer towards the tool.
    """
    looks: Looks = {"ground": (disc((0, 0, -0.14), (0, 0, 1), 0.17, 0.08, BLACK),)}
    for k, radius in enumerate(RADII):
        motor = disc((0, 0, 0), (0, 0, 1), radius, 2.2 * radius, BLUE)
        cap = disc((0, 0, 0), (0, 0, 1), 0.7 * radius, 2.45 * radius, STEEL)
        link = [limb((0, 0, 0), NEXT[k], 0.62 * radius, GREY)] if k < len(NEXT) else []
        looks[f"link{k + 1}"] = (motor, cap, *link)
    return looks


def two_link() -> Looks:
    """Return the shapes of the arm, which hangs along -z and turns about y.

    The two-link manipulator: plain links of 2 m with hinges.
    """
    hinge = disc((0, 0, 0), (0, 1, 0), 0.13, 0.3, STEEL)
    return {
        "ground": (
            box((0.5, 0.5, 0.08), (0, 0, 0.24), DARK),
            box((0.12, 0.08, 0.22), (0, 0.19, 0.11), DARK),
            box((0.12, 0.08, 0.22), (0, -0.19, 0.11), DARK),
        ),
        "link1": (limb((0, 0, 0), (0, 0, -2), 0.08, BLUE), hinge),
        "link2": (limb((0, 0, 0), (0, 0, -1.93), 0.065, ORANGE), hinge),
    }
