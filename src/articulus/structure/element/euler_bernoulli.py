"""Euler-Bernoulli beam: sections stay square to the axis; Hermite's cubics, linear stretch and twist."""

from __future__ import annotations

import numpy as np

from articulus.structure.element.slender import ShapeRows, Slender
from articulus.structure.element.timoshenko import beam_rows


class EulerBernoulli(Slender):
    """A beam without shear deformation."""

    def rows(self, xi: float, length: float) -> ShapeRows:
        return beam_rows(xi, length)

    def stiffness(self) -> np.ndarray:
        s = self.section
        return np.array([s.EA, 0.0, 0.0, s.GJ, s.EIy, s.EIz])
