"""Bar of a truss: it stretches, nothing else; its ends turn freely."""

from __future__ import annotations

import numpy as np

from articulus.structure.element.slender import ShapeRows, Slender, linear_rows


class Bar(Slender):
    """A bar between hinges."""

    bends = False

    def rows(self, xi: float, length: float) -> ShapeRows:
        out = linear_rows(xi, length)
        out.displacement[3:], out.derivative[3:], out.strain[3] = 0.0, 0.0, 0.0
        out.displacement[4], out.displacement[5] = -out.derivative[2], out.derivative[1]
        return out

    def stiffness(self) -> np.ndarray:
        return np.array([self.section.EA, 0.0, 0.0, 0.0, 0.0, 0.0])
