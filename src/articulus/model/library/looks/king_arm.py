"""The flexible arm of King: its links are drawn by their modes; here is the motor that carries them."""

from __future__ import annotations

from articulus.model.library.looks import Looks
from articulus.model.library.looks.shapes import DARK, STEEL, disc


def king_arm() -> Looks:
    """Return the shapes that do not bend."""
    return {
        "ground": (
            disc((0, 0, -0.09), (0, 0, 1), 0.06, 0.12, DARK),
            disc((0, 0, -0.02), (0, 0, 1), 0.03, 0.04, STEEL),
        )
    }
