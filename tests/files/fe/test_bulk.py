"""Bulk data in every field format, coordinate systems, orientations, properties, sets."""

from pathlib import Path

import numpy as np
import pytest

from articulus.errors import InputError
from articulus.model.files import FeGrid, FeMaterial, FeSection, parse_bulk, read_bulk

from .support import BEAM, PROPERTIES, small

FREE = """GRID,1,,0.,0.,0.,,123456
GRID,2,,1.,0.,0.
CBAR,5,3,1,2,0.,1.,0.
MAT1,7,2.1+11,,.3,7850.
PBAR,3,7,1.-4,1.-9,2.-9,3.-9
"""

LARGE = """$ a comment
GRID*                  1                              0.              0.
*                     0.                          123456
grid*                  2                              1.              0.+G2
*G2                   0.
CBAR*                  5               3               1               2+
*                     0.              1.              0.
MAT1*                  7          2.1D11                             .3  $ steel
*                  7850.
PBAR*                  3               7           1.E-4           1.0-9+
+               2.-9    3.-9
ENDDATA
what follows is not read
"""

MIXED = """SOL 103
CEND
SPC = 9
BEGIN BULK
grid\t1\t\t0.\t0.\t0.
GRID    2               1.0E+0  .0      0.
CBAR    5       3       1       2       0.      1.      0.
MAT1*,7,2.1E+11,,.3
*,7850.
PBAR,3,7,1.-4,1.-9,2.-9,3.-9,,,+P
+P,,,,,,,,,+Q
+Q,0.,0.,0.
SPC1,9,123456,1
SPC1,8,3,2
"""


@pytest.mark.parametrize(
    "text",
    [FREE, LARGE.replace("+               2.-9    3.-9", "*                   2.-9            3.-9"), MIXED],
)
def test_every_format_says_the_same(text: str) -> None:
    model, reference = parse_bulk(text), parse_bulk(BEAM)
    assert (model.grids, model.beams, model.fixed) == (reference.grids, reference.beams, reference.fixed)


def test_what_one_bar_is() -> None:
    model = parse_bulk(BEAM)
    assert model.grids == (FeGrid(1, (0.0, 0.0, 0.0)), FeGrid(2, (1.0, 0.0, 0.0)))
    assert model.fixed == tuple((1, c) for c in range(1, 7))
    (beam,) = model.beams
    assert (beam.id, beam.grids, beam.orientation) == (5, (1, 2), (0.0, 1.0, 0.0))
    assert beam.section == FeSection(3, 1e-4, 1e-9, 2e-9, J=3e-9)
    assert beam.material == FeMaterial(7, 2.1e11, 2.1e11 / 2.6, 0.3, 7850.0)
    assert model.dofs == tuple((g, c) for g in (1, 2) for c in range(1, 7))


def test_small_line_behind_a_large_one_starts_a_row() -> None:
    """The row of a large card is two lines; a small line behind the first of them begins at field 10."""
    text = "PBAR*                  3               7           1.E-4           1.0-9\n*                   2.-9            3.-9\n"
    text += "+       1.      2.\n+       .5      .4\n"
    section = (
        parse_bulk(BEAM.replace(small("PBAR", 3, 7, "1.-4", "1.-9", "2.-9", "3.-9"), text)).beams[0].section
    )
    assert (section.k1, section.k2) == (0.5, 0.4)


def test_coordinate_systems() -> None:
    """System 1 is turned about z by 90 degrees at (1, 2, 3); system 2 rests on it, turned about its x."""
    text = (
        small("CORD2R", 2, 1, "1.", "0.", "0.", "1.", "-1.", "0.", "2.", "0.", "0.")
        + small("CORD2R", 1, 0, "1.", "2.", "3.", "1.", "2.", "5.", "1.", "7.", "3.")
        + small("GRID", 1, 1, "10.", "0.", "0.", 1)
        + small("GRID", 2, 2, "0.", "0.", "4.", 2)
        + small("CONM2", 9, 2, 1, "5.", "1.", "2.", "3.", None, "1.", ".1", "2.", ".2", ".3", "3.")
        + small("CONM2", 8, 1, -1, "5.", "1.", "2.", "4.")
    )
    model = parse_bulk(text)
    one, two = model.grids
    R1 = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    R2 = R1 @ np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
    np.testing.assert_allclose(one.position, [1, 12, 3], atol=1e-14)
    np.testing.assert_allclose(one.axes, R1, atol=1e-15)
    np.testing.assert_allclose(two.axes, R2, atol=1e-15)
    origin = np.array([1, 2, 3]) + R1 @ [1, 0, 0]
    np.testing.assert_allclose(two.position, origin + R2 @ [0, 0, 4], atol=1e-14)
    given, turned = model.masses
    np.testing.assert_allclose(given.offset, np.array([1, 2, 4]) - one.position, atol=1e-14)
    np.testing.assert_allclose(turned.offset, R1 @ [1, 2, 3], atol=1e-14)
    J = np.array([[1, -0.1, -0.2], [-0.1, 2, -0.3], [-0.2, -0.3, 3]])
    np.testing.assert_allclose(turned.inertia, R1 @ J @ R1.T, atol=1e-14)


def orientation(bar: str, more: str = "") -> tuple[float, ...]:
    text = BEAM.replace(small("CBAR", 5, 3, 1, 2, "0.", "1.", "0."), bar) + more
    return parse_bulk(text).beams[0].orientation


def test_orientation_vectors() -> None:
    assert orientation(small("CBAR", 5, 3, 1, 2, "0.", "3.", "4.")) == (0.0, 0.6, 0.8)
    third = small("GRID", 3, None, "9.", "0.", "-2.")
    np.testing.assert_allclose(
        orientation(small("CBAR", 5, 3, 1, 2, 3), third), np.array([9, 0, -2]) / 85**0.5
    )
    # axes of displacement at end A turned about x by 90 degrees: its y is basic z
    turned = small("CORD2R", 4, 0, "0.", "0.", "0.", "0.", "-1.", "0.", "1.", "0.", "0.")
    text = (BEAM + turned).replace(
        small("GRID", 1, "", "0.", "0.", "0.", "", 123456), small("GRID", 1, "", "0.", "0.", "0.", 4)
    )
    np.testing.assert_allclose(parse_bulk(text).beams[0].orientation, [0, 0, 1], atol=1e-15)
    basic = text.replace(
        small("CBAR", 5, 3, 1, 2, "0.", "1.", "0."), small("CBAR", 5, 3, 1, 2, "0.", "1.", "0.", "BGG")
    )
    assert parse_bulk(basic).beams[0].orientation == (0.0, 1.0, 0.0)


def section(card: str) -> FeSection:
    text = BEAM.replace("CBAR    5       3", "CBEAM   5       4") + card
    return parse_bulk(text).beams[0].section


def test_beam_sections() -> None:
    start = (4, 7, "1.", "2.", "3.", ".1", "4.", "5.")
    plain = section(small("PBEAM", *start))
    assert plain == FeSection(4, 1.0, 2.0, 3.0, 0.1, 4.0, 5.0, 1.0, 1.0)
    stations = (*start, "NO", "1.", "1.", "2.", None, None, None, None, ".5", ".6")
    assert section(small("PBEAM", *stations)) == FeSection(4, 1.0, 2.0, 3.0, 0.1, 4.0, 5.0, 0.5, 0.6)
    stress = (*start, *["0."] * 8, "YES", "1.", *[None] * 6, *["0."] * 8, ".5", ".6")
    assert section(small("PBEAM", *stress)) == FeSection(4, 1.0, 2.0, 3.0, 0.1, 4.0, 5.0, 0.5, 0.6)


def test_material_by_any_two() -> None:
    for fields in (("2.6", "1.", None), ("2.6", None, ".3"), (None, "1.", ".3")):
        text = BEAM.replace(small("MAT1", 7, "2.1+11", "", ".3", "7850."), small("MAT1", 7, *fields))
        found = parse_bulk(text).beams[0].material
        np.testing.assert_allclose((found.E, found.G, found.nu), (2.6, 1.0, 0.3), rtol=1e-14)


def test_rods_and_mass_scale() -> None:
    text = (
        BEAM
        + small("CROD", 6, 4, 1, 2)
        + small("PROD", 4, 7, "2.-4", None, None, ".5")
        + small("CONM2", 8, 2, None, "3.")
    )
    model = parse_bulk(text + "PARAM,WTMASS,.1\nPARAM,POST,-1\n")
    assert model.rods[0].section == FeSection(4, 2e-4, 0.0, 0.0, nsm=0.05)
    np.testing.assert_allclose((model.rods[0].material.rho, model.masses[0].mass), (785.0, 0.3))
    assert model.notes == ("model.bdf:10: PARAM POST is read over",)


def test_sets() -> None:
    grids = "".join(small("GRID", i, "", f"{i}.", "0.", "0.") for i in (1, 2, 3, 5))
    text = (
        grids
        + small("SPOINT", 10, "THRU", 12)
        + small("SPC1", 1, 12, 1, "THRU", 4)
        + small("SPC", 1, 5, 3, "0.", 10)
    )
    text += small("ASET1", 3, 1, 2) + small("ASET", 3, 456, 11, 0)
    model = parse_bulk(text)
    assert model.scalar_points == (10, 11, 12)
    assert model.fixed == ((1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2), (5, 3), (10, 0))
    assert model.retained == ((1, 3), (2, 3), (3, 4), (3, 5), (3, 6), (11, 0))


def test_choice_of_constraints() -> None:
    text = BEAM + small("SPC1", 4, 1, 2) + small("SPC1", 6, 2, 2)
    permanent = tuple((1, c) for c in range(1, 7))
    assert parse_bulk(text, spc=4).fixed == (*permanent, (2, 1))
    for deck in ("SPC = 6\nBEGIN BULK\n" + text, ("SPC = 6\nBEGIN BULK\n" + text).replace("\n", "\r\n")):
        assert parse_bulk(deck).fixed == (*permanent, (2, 2))
    with pytest.raises(InputError, match="spc: found '4'"):
        parse_bulk(text, spc="4")  # type: ignore[arg-type]


def test_include(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "steel.bdf").write_text(PROPERTIES)
    (tmp_path / "model.bdf").write_text(BEAM.replace(PROPERTIES, "INCLUDE 'parts/steel.bdf'\n"))
    assert read_bulk(tmp_path / "model.bdf").beams == parse_bulk(BEAM).beams
