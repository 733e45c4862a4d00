"""Transverse shear of decks: MID3 and TS/T of a PSHELL, G1Z and G2Z of the layers of a PCOMP."""

from __future__ import annotations

import numpy as np
import pytest

from articulus.errors import ModelError
from articulus.model.files.fe.bulk import parse_bulk
from articulus.model.files.fe.structure import bulk_structure
from articulus.model.files.fe.write import bulk_text
from articulus.structure import Statics

from .support import small

L, WIDTH, N = 1.0, 0.1, 20
ALUMINIUM = small("MAT1", 1, "7.+10", "3.5+10", "0.", "2700.")
SKIN = small("MAT8", 1, "7.+10", "7.+10", "0.", "3.5+10", "3.5+10", "3.5+10", "1600.")
CORE = small("MAT8", 2, "1.+6", "1.+6", "0.", "5.+5", "5.+5", "8.+5", "50.")
RIGID_CORE = small("MAT8", 2, "1.+6", "1.+6", "0.", "5.+5", None, None, "50.")
SANDWICH = small("PCOMP", 10, *[None] * 7, 1, "5.-4", "0.", None, 2, ".02", "0.", None, 1, "5.-4", "0.")


def strip(cards: str, theta: str | None = None) -> str:
    """Return a deck of a clamped strip along x, grids 1 to 2 (N + 1); Poisson's ratios are zero."""
    grids = "".join(
        small("GRID", 2 * i + j + 1, None, f"{L * i / N:.3f}", f"{WIDTH * j:.3f}", "0.")
        for i in range(N + 1)
        for j in range(2)
    )
    quads = "".join(
        small("CQUAD4", i + 1, 10, 2 * i + 1, 2 * i + 3, 2 * i + 4, 2 * i + 2, theta) for i in range(N)
    )
    return grids + cards + quads + small("SPC1", 1, 123456, 1, 2)


def tip(text: str) -> float:
    """Return how far a unit force moves the end of the strip."""
    s = bulk_structure(parse_bulk(text, "strip.bdf"))
    load = sum(0.5 * s.rows(f"grid{2 * N + j}")[2] for j in (1, 2))
    return float(load @ Statics(s).solve(load))


@pytest.mark.parametrize(
    ("fields", "theta", "S"),
    [
        ((1, None), None, 5 / 6 * 0.1 * 3.5e10),
        ((1, ".5"), None, 0.5 * 0.1 * 3.5e10),
        ((2, None), None, 5 / 6 * 0.1 * 5e5),
        ((2, "1."), "90.", 0.1 * 8e5),
        ((None, None), None, np.inf),
    ],
)
def test_shear_of_a_solid_section(fields, theta, S):
    """L^3 / (3 D b) + L / (S b): what MID3 and TS/T give; nothing where MID3 is blank. 20 elements along the strip."""
    found = tip(strip(ALUMINIUM + CORE + small("PSHELL", 10, 1, ".1", 1, None, *fields), theta))
    D = 7e10 * 0.1**3 / 12
    np.testing.assert_allclose(found, (L**3 / (3 * D) + L / S) / WIDTH, rtol=2e-3)


@pytest.mark.parametrize(("theta", "G"), [(None, 5e5), ("90.", 8e5)])
def test_shear_of_a_sandwich(theta, G):
    """A core that yields: D of two skins, S = G d^2 / c."""
    found = tip(strip(SKIN + CORE + SANDWICH, theta))
    D, S = 7e10 * (0.021**3 - 0.02**3) / 12, G * 0.0205**2 / 0.02
    np.testing.assert_allclose(found, (L**3 / (3 * D) + L / S) / WIDTH, rtol=3e-3)


def test_a_core_without_moduli_is_rigid_and_noted():
    text = strip(SKIN.replace("3.5+10", "       ") + RIGID_CORE + SANDWICH)
    skins_only = strip(SKIN + RIGID_CORE + SANDWICH)
    for deck in (text, skins_only):
        (note,) = parse_bulk(deck, "strip.bdf").notes
        assert "PCOMP 10" in note
        assert "MAT8 2 do not yield to transverse shear: G1Z and G2Z are not given" in note
    assert parse_bulk(strip(SKIN + CORE + SANDWICH), "strip.bdf").notes == ()
    D = 7e10 * (0.021**3 - 0.02**3) / 12
    np.testing.assert_allclose(tip(skins_only), L**3 / (3 * D) / WIDTH, rtol=3e-3)


@pytest.mark.parametrize("property", ["PSHELL", "PCOMP"])
def test_transverse_shear_is_written_and_read_back(property):
    section = SANDWICH if property == "PCOMP" else small("PSHELL", 10, 1, ".1", 1, None, 2, ".7")
    model = parse_bulk(strip(SKIN + CORE + section), "strip.bdf")
    again = parse_bulk(bulk_text(model), "strip.bdf")
    assert again.shells == model.shells
    A, B = bulk_structure(model).K, bulk_structure(again).K
    assert abs(A - B).max() < 1e-9 * abs(A).max()


@pytest.mark.parametrize(
    ("cards", "message"),
    [
        (small("PSHELL", 10, 1, ".1", None, None, 1), "field 7 (MID3): found 1; expected nothing without MID2"),
        (small("PSHELL", 10, 1, ".1", 1, None, 9), "field 7 (MID3): found material 9; expected the id of a MAT1 or MAT8"),
        (small("PSHELL", 10, 1, ".1", 1, None, 1, "0."), "field 8 (TS/T): found 0"),
        (small("PSHELL", 10, 1, ".1", 1, None, 3) + small("MAT1", 3, "7.+10", "0.", "0."), "MAT1 3, field 4 (G): found 0."),
        (small("PSHELL", 10, 1, ".1", 1) + small("MAT8", 3, "1.+6", "1.+6", "0.", "5.+5", "-1."), "(G1Z): found -1"),
        (small("PCOMP", 10, *[None] * 7, 1, "0.", "0."), "(T1): found 0"),
    ],
)  # fmt: skip
def test_refusals(cards, message):
    with pytest.raises(ModelError) as error:
        parse_bulk(strip(ALUMINIUM + cards), "strip.bdf")
    assert message in str(error.value), str(error.value)
