"""The flexible arm of Padilla and von Flotow: shoulder, elbow and tip body; its links are drawn by their modes."""

from __future__ import annotations

from articulus.model.library.looks import Looks
from articulus.model.library.looks.shapes import BLUE, DARK, ORANGE, STEEL, box, disc


def padilla_arm() -> Looks:
    """Return the shapes that do not bend, on a table under the arm."""
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
