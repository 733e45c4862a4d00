"""The PUMA 600: base column, shoulder, upper arm, forearm, wrist and flange, sized after the model's hinges."""

from __future__ import annotations

from articulus.model.library.looks import Looks
from articulus.model.library.looks.shapes import BLACK, GREY, STEEL, WHITE, disc, limb, tapered_link, tube


def puma600() -> Looks:
    """Return the shapes of the arm; x of link 2 and -y of link 3 lead along them."""
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
