"""Every mistake in bulk data is told with file, line, card, field, what was found and what is expected; all at once."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from articulus.errors import InputError, ModelError
from articulus.model.files import bulk_structure, parse_bulk, read_bulk

from .support import BEAM, DATA, small

BAR = small("CBAR", 5, 3, 1, 2, "0.", "1.", "0.")


def refused(text: str, **options: object) -> str:
    with pytest.raises(ModelError) as caught:
        parse_bulk(text, "m.bdf", **options)  # type: ignore[arg-type]
    return str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "1.      0.      0.",
            "1       0.      0.",
            "m.bdf:2: GRID 2, field 4 (X1): found '1'; expected a real number such as 1.5-3. Write 1. with",
        ),
        ("1.      0.      0.", "1e0     0.      0.", "Write the decimal point."),
        ("1.      0.      0.", "1.+999  0.      0.", "GRID 2, field 4 (X1): found '1.+999'"),
        ("123456", "1237", "m.bdf:1: GRID 1, field 8 (PS): found '1237'; expected digits of 1 to 6"),
        ("GRID    2 ", "GRID    x ", "GRID x, field 2 (ID): found 'x'; expected an integer of at least 1"),
        (
            "GRID    2 ",
            "GRID    1 ",
            "GRID 1, field 2 (ID): found a second 1, the first at m.bdf:1; expected ids that differ",
        ),
        (
            "GRID    2 ",
            "GIRD    2 ",
            "m.bdf:2: found the card 'GIRD'; expected a card that is read here. did you mean 'GRID'?",
        ),
        (
            "GRID    2               1.",
            "GRID    2       4       1.",
            "GRID 2, field 3 (CP): found system 4; expected 0, or the id",
        ),
        (
            BAR,
            small("CBAR", 5, 3, 1, 8, "0.", "1.", "0."),
            "m.bdf:3: CBAR 5, field 5 (GB): found grid 8; expected the id of a GRID",
        ),
        (
            BAR,
            small("CBAR", 5, 9, 1, 2, "0.", "1.", "0."),
            "CBAR 5, field 3 (PID): found property 9; expected the id of a PBAR",
        ),
        (
            BAR,
            small("CBEAM", 5, 3, 1, 2, "0.", "1.", "0."),
            "found property 3, a PBAR; expected the id of a PBEAM",
        ),
        (
            BAR,
            small("CBAR", 5, 3, 1, 2, "2.", "0.", "0."),
            "CBAR 5, field 6 (X1): found the vector (2, 0, 0) along the beam (1, 0, 0)",
        ),
        (BAR, small("CBAR", 5, 3, 1, 2), "found a vector of zeros; expected a direction across the beam"),
        (BAR, small("CBAR", 5, 3, 1, 1, "0.", "1.", "0."), "found grids 1 and 1 at the same place"),
        (
            BAR,
            small("CBAR", 5, 3, 1, 2, "0.", "1.", "0.", "GOO"),
            "field 9 (OFFT): found 'GOO'; expected GGG or BGG",
        ),
        (
            BAR,
            small("CBAR", 5, 3, 1, 2, "0.", "1.", "0.", None, 47),
            "m.bdf:4: CBAR 5, field 2 (PA): found '47'; expected digits of 1 to 6, none twice",
        ),
        (
            BAR,
            small("CBAR", 5, 3, 1, 2, "0.", "1.", "0.", None, 4, 456),
            "m.bdf:4: CBAR 5, field 3 (PB): found 4, released at both ends",
        ),
        (
            "PBAR    3       7",
            "PBAR    3       8",
            "m.bdf:5: PBAR 3, field 3 (MID): found material 8; expected the id of a MAT1. valid names: 7",
        ),
        ("1.-4", "-1. ", "field 4 (A): found -1.; expected a number above zero"),
        (
            "2.1+11          .3",
            "2.1+11            ",
            "MAT1 7, field 4 (G): found E; expected two of E, G and NU",
        ),
        ("7850.", "-7850.", "field 6 (RHO): found -7850.; expected a number of at least 0"),
        (
            "7850.   ",
            "7850.           " + " " * 24 + " " * 8 + "\n+       1.      1.      1.      1.      1.",
            "field 6 (behind the last)",
        ),
    ],
)
def test_one_mistake(old: str, new: str, message: str) -> None:
    assert old in BEAM
    assert message in refused(BEAM.replace(old, new, 1))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (small("CHEXA", 1) * 3, "m.bdf:6: found the card 'CHEXA' (3 times); expected a card that is read here"),
        (small("DMIG", "K", 0, 6, 1), "Read it with read_dmig."),
        (small("SPC1", 1, 1, 8), "SPC1 1, field 4 (G): found grid 8; expected the id of a GRID or SPOINT"),
        (small("SPC1", 1, 1, 8, "THRU", 9), "a range without any grid"),
        (small("SPC1", 1, 1, 8, "THRU", 3), "field 6 (last): found 3; expected an id of 8"),
        (small("SPC1", 1, None, 2), "found no component; expected digits of 1 to 6: 2 is a grid"),
        (small("SPC", 1, 2, 1, ".5"), "Prescribed displacements are not read."),
        (small("SPC1", 1, 1, 2) + small("SPC1", 2, 2, 2), "m.bdf: found the constraint sets 1, 2; expected one. Choose it: spc=..."),
        (small("SPOINT", 2), "found 2, which is a GRID"),
        (small("CORD2R", 1, 2, *["0."] * 9) + small("CORD2R", 2, 1, *["0."] * 9), "CORD2R 1, field 3 (RID): found system 2; expected a system that does not rest on this one"),
        (small("CORD2R", 1, 7, *["0."] * 9), "found system 7, which is not there"),
        (small("CORD2R", 1, 0, "0.", "0.", "0.", "0.", "0.", "1.", "0.", "0.", "2."), "m.bdf:7: CORD2R 1, field 2 (C): found A, B and C on one line"),
        (small("CONM2", 6, 2, None, "-1."), "field 5 (M): found -1."),
        (small("CONM2", 6, 2, None, "1.", *[None] * 4, "1.", "3.", "1."), "an inertia with the moment -2"),
        (small("PBAR", 4, 7, "1.", "1.", "1.", *[None] * 13, "2."), "m.bdf:8: PBAR 4, field 4 (I12): found 2, beside I1 = 1 and I2 = 1; expected I1 I2 > I12^2"),
        (small("PBEAM", 4, 7, "1.", "1.", "1.", None, None, None, "NO", "1.", "3."), "m.bdf:7: PBEAM 4, field 4 (A): found 3.; expected 1 as at end A. Only sections that stay the same"),
        ("GRID,7,,0.,0.,0.,,,,,9\n", "m.bdf:6: found 10 fields in a line; expected at most 8"),
        ("PBAR    4       7       1.      1.      1.                              +A\n+B      1.\n", "found the continuation 'B' behind one that asks for 'A'"),
        (small("PBAR", 4, 7, "1.", "1.", "1.") + "\n" + " " * 8 + "1.\n", "m.bdf:8: found a continuation behind a blank line"),
        ("INCLUDE 'x.bdf'\n", "m.bdf:6: found INCLUDE 'x.bdf': a text has no folder"),
    ],
)  # fmt: skip
def test_one_card_more(more: str, message: str) -> None:
    parse_bulk(BEAM)
    assert message in refused(BEAM + more)


def test_all_at_once_in_the_order_of_the_lines() -> None:
    text = BEAM.replace("1.      0.", "1       0.").replace("1.-4", "1-4").replace("GRID    1", "GRID    0")
    lines = [line.split(":")[1] for line in refused(text).splitlines()]
    assert lines == sorted(lines)
    assert {"1", "2", "5"} <= set(lines)


def test_without_anything() -> None:
    assert "found no grid" in refused("")
    assert "a card in front of it" in refused("+       1.\n")
    assert "the constraint set 3" in refused(BEAM, spc=3)


def test_includes_stay_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "secret.bdf").write_text(BEAM)
    for name in ("../secret.bdf", str(tmp_path / "secret.bdf"), "missing.bdf", "model.bdf"):
        (tmp_path / "inside" / "model.bdf").write_text(f"INCLUDE '{name}'\n")
        with pytest.raises(ModelError, match=r"model\.bdf:1: found INCLUDE") as caught:
            read_bulk(tmp_path / "inside" / "model.bdf")
        assert "MAT1" not in str(caught.value)


def test_what_a_structure_cannot_hold() -> None:
    with pytest.raises(InputError, match="scalar point 9"):
        bulk_structure(parse_bulk(BEAM + small("SPOINT", 9)))
    with pytest.raises(InputError, match=r"rod 6: J = 0\.1"):
        bulk_structure(parse_bulk(BEAM + small("CROD", 6, 4, 1, 2) + small("PROD", 4, 7, "1.", ".1")))
    with pytest.raises(InputError, match=r"CMASS2 of grid 2: masses 0, 1\.5, 0 along its axes"):
        bulk_structure(parse_bulk(BEAM + small("CMASS2", 6, "1.5", 2, 2)))
    follows = small("GRID", 3, None, "2.", "0.", "0.", None, 2) + small("RBE2", 6, 2, 123456, 3)
    with pytest.raises(InputError, match="node 'grid3': 'y' follows other nodes by a tie"):
        bulk_structure(parse_bulk(BEAM + follows))
    unequal = small("PBAR", 4, 7, "1.", "1.", "1.", *[None] * 11, ".5", ".6", ".1")
    with pytest.raises(InputError, match=r"beam 5: I12 = 0\.1 with shear factors"):
        bulk_structure(parse_bulk(BEAM.replace("CBAR    5       3", "CBAR    5       4") + unequal))


PIECES = [
    "GRID",
    "CBAR",
    "PBEAM",
    "CORD2R",
    "SPC1",
    "CONM2",
    "THRU",
    "YES",
    ",",
    "*",
    "+",
    "$",
    "\n",
    "\t",
    " " * 8,
    "1",
    "-1",
    "1.",
    "1.-3",
]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(data=st.data())
def test_any_text(data: st.DataObject) -> None:
    """Texts of pieces, and files with pieces put in or taken out, give a model or a refusal, nothing else."""
    source = data.draw(st.sampled_from(["", BEAM, (DATA / "outboard.blk").read_text()[:1500]]))
    for _ in range(data.draw(st.integers(0, 8))):
        at = data.draw(st.integers(0, len(source)))
        piece = data.draw(st.sampled_from(PIECES) | st.text(max_size=5))
        source = source[:at] + piece + source[at + data.draw(st.integers(0, 9)) :]
    try:
        bulk_structure(parse_bulk(source))
    except (ModelError, InputError) as error:
        text = str(error)
    else:
        text = "read"
    assert text
