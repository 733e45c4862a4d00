"""CQUAD8 of decks: the thick shell of eight nodes, its shear, its material axes, what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from articulus.errors import InputError, ModelError
from articulus.model.files.fe.bulk import parse_bulk
from articulus.model.files.fe.structure import bulk_structure
from articulus.model.files.fe.write import bulk_text
from articulus.structure import MindlinQuadrilateral8, Plate, Statics, Structure
from articulus.structure.plate import Ply

from .support import small

CORNERS = np.array([[0, 0, 0], [1.1, 0.1, 0], [0.9, 0.8, 0.1], [-0.2, 0.7, 0]])
PLACES = np.vstack([CORNERS, (CORNERS + np.roll(CORNERS, -1, axis=0)) / 2 + [0.0, 0.0, 0.05]])
GRIDS = "".join(small("GRID", i + 1, None, *(f"{x:.2f}" for x in p)) for i, p in enumerate(PLACES))
GRAPHITE = small("MAT8", 8, "1.81+11", "1.03+10", ".28", "7.17+9", "6.+9", "4.+9", "1600.")
STEEL = small("MAT1", 7, "2.1+11", None, ".3", "7850.")
PLATE = small("PSHELL", 3, 7, ".01", 7, None, 7)
PLY = Ply(1e-3, 1.81e11, 1.03e10, 0.28, 7.17e9, 1600.0, G13=6e9, G23=4e9)


def quad(*behind: object) -> str:
    return small("CQUAD8", 1, 3, *range(1, 9), *behind)


def test_layers_along_the_axis_of_a_system():
    """Grids, MCID and ZOFFS stand where the quick reference guide has them, thicknesses blank in between."""
    system = small("CORD2R", 5, 0, *["0."] * 5, "1.", "1.", "2.", "0.")
    card = small("PCOMP", 3, *[None] * 7, 8, "1.-3", "0.", None, 8, "1.-3", "90.")
    model = parse_bulk(GRIDS + GRAPHITE + system + card + quad(*[None] * 4, 5, ".02"), "m.bdf")
    found = bulk_structure(model)
    plate = Plate.laminate([PLY, replace(PLY, angle=np.pi / 2)], bottom=0.019)
    expected = Structure.assemble(
        np.round(PLACES, 2), [MindlinQuadrilateral8(range(4), range(4, 8), plate, (1, 2, 0))]
    )
    for A, B in ((found.K, expected.K), (found.M, expected.M)):
        np.testing.assert_allclose(A.toarray(), B.toarray(), atol=1e-9 * abs(B).max())
    again = bulk_structure(parse_bulk(bulk_text(model), "m.bdf"))
    assert abs(again.K - found.K).max() < 1e-9 * abs(found.K).max()


@pytest.mark.parametrize(("shear", "S"), [((7, None), 5 / 6), ((None, None), np.inf)])
def test_clamped_strip(shear, S):
    """L^3 / (3 D b) + L / (S G h b), 10 elements; without MID3 the strip does not yield to transverse shear."""
    L, b, h, n = 1.0, 0.1, 0.1, 10
    x = np.linspace(0, L, 2 * n + 1)
    lines = [(x, 0.0), (x[::2], b / 2), (x, b)]
    number, cards, names = 0, "", {}
    for row, (places, y) in enumerate(lines):
        for place in places:
            number += 1
            names[round(place, 6), row] = number
            cards += small("GRID", number, None, f"{place:.3f}", f"{y:.3f}", "0.")
    for i in range(n):
        a, m, e = (round(x[2 * i + k], 6) for k in range(3))
        around = [(a, 0), (e, 0), (e, 2), (a, 2), (m, 0), (e, 1), (m, 2), (a, 1)]
        cards += small("CQUAD8", i + 1, 3, *(names[p] for p in around))
    cards += small("MAT1", 7, "7.+10", "3.5+10", "0.") + small("PSHELL", 3, 7, ".1", 7, None, *shear)
    root, tip = ([names[p, row] for row in range(3)] for p in (0.0, L))
    s = bulk_structure(parse_bulk(cards + small("SPC1", 1, 123456, *root), "strip.bdf"))
    load = sum(w * s.rows(f"grid{g}")[2] for w, g in zip((1 / 6, 2 / 3, 1 / 6), tip))
    D, G = 7e10 * h**3 / 12, 3.5e10
    np.testing.assert_allclose(
        load @ Statics(s).solve(load), (L**3 / (3 * D) + L / (S * G * h)) / b, rtol=1e-3
    )


@pytest.mark.parametrize(
    ("card", "message"),
    [
        (small("CQUAD8", 1, 3, 1, 2, 3, 4, 5, 6), "CQUAD8 1, field 2 (G7): found nothing; expected an integer"),
        (small("CQUAD8", 1, 3, 1, 2, 3, 4, 5, 6, 7, 7), "found 1, 2, 3, 4, 5, 6, 7, 7; expected grids that differ"),
        (small("CQUAD8", 1, 3, 1, 2, 3, 4, 5, 6, 7, 9), "CQUAD8 1, field 3 (G8): found grid 9"),
        (quad(".02"), "(T1 ... T4): found '.02'"),
        (quad(*[None] * 4, 8), "CQUAD8 1, field 8 (MCID): found system 8"),
    ],
)  # fmt: skip
def test_mistakes(card, message):
    with pytest.raises(ModelError) as caught:
        parse_bulk(GRIDS + STEEL + PLATE + card, "m.bdf")
    assert message in str(caught.value), str(caught.value)


def test_a_membrane_is_refused():
    deck = GRIDS + STEEL + small("PSHELL", 3, 7, ".01") + quad()
    with pytest.raises(InputError, match="CQUAD8 1: its property 3 does not bend"):
        bulk_structure(parse_bulk(deck, "m.bdf"))
