"""The spacecraft with flexible appendages: its hub; arrays, radiators, antenna and boom are drawn by their modes."""

from __future__ import annotations

from articulus.model.library.looks import Looks
from articulus.model.library.looks.shapes import DARK, GOLD, GREY, WHITE, box, disc, tube


def hub_with_appendages() -> Looks:
    """Return the shapes of the hub, between the roots of its appendages."""
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
