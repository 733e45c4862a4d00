"""What is computed with once takes plain numbers, and says so: no parameters, texts, wrong counts or NaN."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.structure import Lumped, Section, Spring, beam, beam_body

P = art.Parameter("x", 1.0)
NUMBERS = (
    "length", "EI", "mass_per_length", "EA", "GJ", "GA", "rotary_inertia", "tip_mass", "tip_inertia", "damping",
)  # fmt: skip
WRONG = {"parameter": P, "text": "1.0", "four": [1.0, 2.0, 3.0, 4.0], "nan": np.nan, "complex": 1j}


@pytest.mark.parametrize("bad", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_a_beam(name, bad):
    given = {"length": 1.0, "EI": 1.0, "mass_per_length": 1.0, name: bad}
    with pytest.raises(art.InputError, match=name):
        beam_body(**given)


@pytest.mark.parametrize("name", ["elements", "modes", "torsion"])
@pytest.mark.parametrize("bad", [P, 1.5, -1, "2", None, True], ids=str)
def test_counts_of_a_beam(name, bad):
    with pytest.raises(art.InputError, match=f"{name} = .*whole number"):
        beam_body(1.0, EI=1.0, mass_per_length=1.0, **{name: bad})


def test_parameters_are_explained():
    with pytest.raises(art.InputError, match=r"EI = Parameter\(name='x'.*a Parameter.*cannot be in it"):
        beam(1.0, EI=P, mass_per_length=1.0)
    pairs = (P, 1.0)
    for make in (
        lambda: beam(1.0, EI=pairs, mass_per_length=1.0),
        lambda: Section(P, 1.0),
        lambda: Section.of_material(E=P, density=1.0, area=1.0, Iy=1.0, Iz=1.0),
        lambda: Lumped(0, P),
        lambda: Lumped(0, 1.0, (P, 1.0, 1.0)),
        lambda: Spring(0, 1, (P,) * 6),
        lambda: Section(1.0, 1.0, 1.0, 1.0, 1.0, rotary=(P, 1.0, 1.0)),
        lambda: Section.tube(P, 0.0, 1.0, 1.0, 1.0),
    ):
        with pytest.raises(art.InputError, match="Parameter"):
            make()
