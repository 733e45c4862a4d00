"""The two-link manipulator: plain links of 2 m with hinges."""

from __future__ import annotations

from articulus.model.library.looks import Looks
from articulus.model.library.looks.shapes import BLUE, DARK, ORANGE, STEEL, box, disc, limb


def two_link() -> Looks:
    """Return the shapes of the arm, which hangs along -z and turns about y."""
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
