"""A narrow plate bends like the beam of `spinning_beam`."""

import numpy as np
from spinning_beam import buckling, first_squares


def expected():
    inconsistent = first_squares("inconsistent")
    return {
        "consistent: first frequency over that at rest, spin 0.1, 0.3, 0.5, 0.9, 1, 2 of it": np.sqrt(
            first_squares("consistent")
        ),
        "inconsistent: the same, spin 0.1, 0.3, 0.5, 0.9": np.sqrt(inconsistent[:4]),
        "inconsistent: square of the frequency is negative at spin 2 (1 = yes)": inconsistent[5] < 0,
        "ruthless: the same, spin 0.1, 0.3, 0.5, 0.9, 1, 2": np.sqrt(first_squares("ruthless")),
        "buckling acceleration along the plate, m L^3 / D, 4 modes": buckling(4),
    }
