"""A cantilever in the form of an eighth of a circle, bent out of its plane by a tip force."""

import numpy as np

from articulus.simulation.exact_beams import Beam, Section, static

E = 1e7
SQUARE = Section(1.0, E, E / 12, E / 12, E / 12, E / 2, E / 2, rotary=(1 / 6, 1 / 12, 1 / 12))


def compute() -> dict:
    arc = Beam.arc(100.0, np.pi / 4, 16, SQUARE).support(0)
    tips = {force: static(arc.load(-1, force=(0, 0, force)), steps=6)[-1, 4:] for force in (300.0, 600.0)}
    return {
        f"tip at {force:g} lbf, {digits} [in]": tip[[1, 0, 2]]
        for force, tip in tips.items()
        for digits in ("first solution", "eight straight elements", "differential equations")
    }
