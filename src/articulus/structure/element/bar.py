"""Bar of a truss: it stretches, nothing else; its ends turn freely."""

from __future__ import annotations

import numpy as np

from articulus.structure.element.slender import Rows, Slender, linear_rows


class Bar(Slender):
    """A bar between hinges."""

    def rows(self, xi: float, length: float) -> Rows:
        out = linear_rows(xi, length)
        out.displacement[3:] = 0.0
        out.strain[3] = 0.0
        return out

    def stiffness(self) -> np.ndarray:
        return np.array([self.section.EA, 0.0, 0.0, 0.0, 0.0, 0.0])
