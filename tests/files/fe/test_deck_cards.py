"""Cards of shells, joints and systems of coordinates, each against the same model built by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from articulus.errors import ModelError
from articulus.model import files
from articulus.model.files.fe.bulk import parse_bulk
from articulus.model.files.fe.structure import bulk_structure
from articulus.model.files.fe.write import bulk_text
from articulus.structure import (
    EulerBernoulli,
    Lumped,
    MindlinQuadrilateral,
    Plate,
    RigidLink,
    Section,
    ShellQuadrilateral,
    ShellTriangle,
    Statics,
    Structure,
)
from articulus.structure.element import ScalarSpring
from articulus.structure.plate import Ply
from articulus.structure.solution import rigid_motions
from articulus.structure.ties import Average

from .support import BEAM, PROPERTIES, small

CORNERS = np.array([[0, 0, 0], [1.1, 0.1, 0], [0.9, 0.8, 0.1], [-0.2, 0.7, 0]])
GRIDS = "".join(small("GRID", i + 1, None, *(f"{x:.1f}" for x in p)) for i, p in enumerate(CORNERS))
STEEL = small("MAT1", 7, "2.1+11", None, ".3", "7850.")
GRAPHITE = small("MAT8", 8, "1.81+11", "1.03+10", ".28", "7.17+9", None, None, "1600.")
PLY = Ply(1e-3, 1.81e11, 1.03e10, 0.28, 7.17e9, 1600.0)
SECTION = Section(
    0.785, 2.1e7, 420.0, 210.0, 2.1e11 / 2.6 * 3e-9, rotary=(7850 * 3e-9, 7850 * 2e-9, 7850 * 1e-9)
)
"""Of the PBAR of BEAM: I1 = 1e-9 bends in plane 1, x and y."""


def read(text: str) -> Structure:
    return bulk_structure(parse_bulk(text, "m.bdf"))


def same(found: Structure, expected: Structure) -> None:
    assert found.dofs.tolist() == expected.dofs.tolist()
    for A, B in ((found.K, expected.K), (found.M, expected.M)):
        np.testing.assert_allclose(A.toarray(), B.toarray(), atol=1e-9 * abs(B).max())


# shells


def test_quadrilateral_of_one_material():
    found = read(
        GRIDS
        + STEEL
        + small("PSHELL", 3, 7, ".01", 7, "2.", 7, None, "4.")
        + small("CQUAD4", 1, 3, 1, 2, 3, 4)
    )
    plate = Plate.isotropic(0.01, 2.1e11, 0.3, 7850.0)
    ABD = plate.ABD.copy()
    ABD[3:, 3:] *= 2
    shear = 5 / 6 * 0.01 * 2.1e11 / 2.6 * np.eye(2)  # MID3, TS/T blank
    plate = Plate(ABD, plate.mass + 4, 0.0, plate.rotary, shear)
    same(found, Structure.assemble(CORNERS, [MindlinQuadrilateral(0, 1, 2, 3, plate)]))


def test_membrane_without_bending():
    found = read(GRIDS + STEEL + small("PSHELL", 3, 7, ".01") + small("CTRIA3", 1, 3, 1, 2, 4))
    plate = Plate.isotropic(0.01, 2.1e11, 0.3, 7850.0)
    assert np.linalg.matrix_rank(found.K.toarray(), tol=1e-9 * abs(found.K).max()) == 6
    np.testing.assert_allclose(found.samples.mass.sum(), plate.mass * 0.5 * (1.1 * 0.7 + 0.2 * 0.1))


@pytest.mark.parametrize(("option", "angles"), [("SYM", (0, 30, 30, 0)), ("", (0, 30))])
def test_lay_up(option, angles):
    """Layers turned by THETA from the side of the first two grids; blank MID and T repeat the layer before; SYM mirrors."""
    card = small(
        "PCOMP", 3, None, ".5", None, None, None, None, option, 8, "1.-3", "0.", "YES", None, None, "30."
    )
    found = read(GRIDS + GRAPHITE + card + small("CTRIA3", 1, 3, 1, 2, 4, "20."))
    plies = [replace(PLY, angle=np.radians(a + 20)) for a in angles]
    same(found, Structure.assemble(CORNERS, [ShellTriangle(0, 1, 3, Plate.laminate(plies, extra=0.5))]))


def test_material_axes_of_a_system_and_offset():
    """MCID: the x axis of a system, projected; ZOFFS and Z0 both move the layers along the normal."""
    system = small("CORD2R", 5, 0, *["0."] * 5, "1.", "1.", "2.", "0.")
    card = small("PCOMP", 3, ".001", *[None] * 6, 8, "1.-3", "0.", None, 8, "1.-3", "90.")
    found = read(GRIDS + GRAPHITE + system + card + small("CQUAD4", 1, 3, 1, 2, 3, 4, 5, ".02"))
    plies = [PLY, replace(PLY, angle=np.pi / 2)]
    plate = Plate.laminate(plies, bottom=0.021)
    same(found, Structure.assemble(CORNERS, [ShellQuadrilateral(0, 1, 2, 3, plate, along=(1, 2, 0))]))


@pytest.mark.parametrize(
    ("cards", "message"),
    [
        (small("CQUAD4", 1, 4, 1, 2, 3, 4), "CQUAD4 1, field 3 (PID): found property 4; expected the id of a PSHELL or PCOMP"),
        (small("CQUAD4", 1, 3, 1, 2, 3, 9), "CQUAD4 1, field 7 (G4): found grid 9"),
        (small("CQUAD4", 1, 3, 1, 2, 3, 3), "field 4 (G1): found 1, 2, 3, 3; expected grids that differ"),
        (small("CTRIA3", 1, 3, 1, 2, 3, 8), "CTRIA3 1, field 7 (MCID): found system 8"),
        (small("PSHELL", 5, 7, ".01", -1), "PSHELL 5, field 5 (MID2): found -1"),
        (small("PSHELL", 5, 9, ".01"), "PSHELL 5, field 3 (MID1): found material 9; expected the id of a MAT1 or MAT8"),
        (small("PCOMP", 5, *[None] * 6, "SMEAR", 7, "1.-3"), "PCOMP 5, field 9 (LAM): found 'SMEAR'"),
        (small("PCOMP", 5), "PCOMP 5, field 2 (MID1): found no layer"),
        (small("MAT8", 9, "1.+9", "1.+11", ".3"), "MAT8 9, field 5 (NU12): found 0.3 with E1 = 1e+09 and E2 = 1e+11"),
        (small("RBE2", 6, 1, None, 2), "RBE2 6, field 4 (CM): found no component"),
        (small("RBE2", 6, 1, 123, 8), "RBE2 6, field 3 (G): found grid 8"),
        (small("RBE3", 6, None, 1, 123, "-1.", 123, 2, 3), "RBE3 6, field 6 (WT): found -1."),
        (small("RBE3", 6, None, 1, 123, "1.", 123, 2, 3, 4, "UM", 1, 1), "(UM): found UM"),
        (small("CELAS2", 6, "5.", 1, 12), "CELAS2 6, field 5 (C): found 12; expected one component"),
        (small("PBARL", 6, 7, None, "HAT", *[None] * 4, "1."), "PBARL 6, field 5 (TYPE): found 'HAT'; expected one of ROD, TUBE"),
        (small("PBARL", 6, 7, None, "TUBE", *[None] * 4, "1.", "2."), "expected DIM2, the inner radius, less than DIM1"),
        (small("CORD2C", 6, 9, *["0."] * 5, "1.", "1.", "2.", "0."), "CORD2C 6, field 3 (RID): found system 9"),
    ],
)  # fmt: skip
def test_mistakes(cards, message):
    with pytest.raises(ModelError) as caught:
        parse_bulk(GRIDS + STEEL + small("PSHELL", 3, 7, ".01") + cards, "m.bdf")
    assert message in str(caught.value)
    assert "m.bdf:" in str(caught.value)


# joints

POSITIONS = np.array([[0, 0, 0], [1, 0, 0], [1.5, 0.5, 0.2]])
FAR = small("GRID", 3, None, "1.5", ".5", ".2")
BODY = small("CONM2", 9, 3, None, "2.")


def test_rigid_element():
    found = read(BEAM + FAR + BODY + small("RBE2", 6, 2, 123456, 3))
    by_hand = [EulerBernoulli(0, 1, SECTION), Lumped(1, 2.0, offset=(0.5, 0.5, 0.2))]
    same(found, Structure.assemble(POSITIONS, by_hand, names=("grid1", "grid2", "grid3"), fixed={0: "all"}))
    np.testing.assert_allclose(found.rows("grid3")[:3, :3], np.eye(3))


def test_mean_element():
    """A body on the mean of four grids: weights 1, 1, 2, 2; the tie written out by hand as least squares."""
    shell = GRIDS + STEEL + small("PSHELL", 3, 7, ".01", 7) + small("CQUAD4", 1, 3, 1, 2, 3, 4)
    body = small("GRID", 9, None, ".3", ".4", "1.") + small("CONM2", 8, 9, None, "2.")
    found = read(shell + body + small("RBE3", 6, None, 9, 123456, "1.", 123, 1, 2, "2.", 123, 3, 4))
    top = np.array([0.3, 0.4, 1.0])
    G, w = [], np.repeat([1, 1, 2, 2], 3)
    for p in CORNERS:
        x, y, z = p - top
        G.append(np.hstack([np.eye(3), [[0, z, -y], [-z, 0, x], [y, -x, 0]]]))
    A = np.vstack(G)
    moves = np.linalg.solve((A.T * w) @ A, A.T * w)
    expected = np.zeros((6, 24))
    expected[:, [6 * i + k for i in range(4) for k in range(3)]] = moves
    np.testing.assert_allclose(found.rows("grid9"), expected, atol=1e-12)
    assert rigid_motions(found).shape[1] == 6
    by_hand = Structure.assemble(
        np.vstack([CORNERS, top]),
        [ShellQuadrilateral(0, 1, 2, 3, Plate.isotropic(0.01, 2.1e11, 0.3, 7850.0)), Lumped(4, 2.0)],
        ties=[Average(4, {0: 1, 1: 1, 2: 2, 3: 2})],
    )
    same(found, by_hand)


def test_springs_and_masses():
    """CELAS2 to the ground and between grids, along axes of their own; CMASS2 on three translations is a mass."""
    turned = small("CORD2R", 1, 0, *["0."] * 5, "1.", ".6", ".8", "0.") + small(
        "GRID", 3, None, "1.", "0.", "0.", 1
    )
    cards = small("CELAS2", 11, "30.", 2, 2) + small("CELAS2", 12, "70.", 3, 1, 2, 3)
    cards += "".join(small("CMASS2", 20 + c, "1.5", 3, c) for c in (1, 2, 3)) + small(
        "CMASS2", 30, ".2", 3, 4
    )
    found = read(BEAM + turned + cards)
    J = 0.2 * np.outer([0.6, 0.8, 0], [0.6, 0.8, 0])
    by_hand = [
        EulerBernoulli(0, 1, SECTION),
        Lumped(2, 1.5, (J[0, 0], J[1, 1], 0.0, J[0, 1], 0.0, 0.0)),
        ScalarSpring(30.0, 1, (0, 1, 0, 0, 0, 0)),
        ScalarSpring(70.0, 2, (0.6, 0.8, 0, 0, 0, 0), 1, (0, 0, 1, 0, 0, 0)),
    ]
    same(found, Structure.assemble(POSITIONS[[0, 1, 1]], by_hand, fixed={0: "all"}))


def test_pinned_end():
    """A beam clamped at A and pinned at B, and one on behind it: the hinge carries no moment about y and z, but torsion."""
    second = small("GRID", 3, None, "2.", "0.", "0.", None, 23) + small(
        "CBAR", 6, 3, 2, 3, "0.", "1.", "0.", None, 56
    )
    s = read(BEAM + second)
    tip = s.rows("grid2")[1]
    stiffness = 1 / (tip @ Statics(s).solve(tip))
    np.testing.assert_allclose(
        stiffness, 3 * SECTION.EIz, rtol=1e-9
    )  # the second beam only turns about its ends
    twist = s.rows("grid3")[3]
    np.testing.assert_allclose(twist @ Statics(s).solve(twist), 2 / SECTION.GJ, rtol=1e-9)
    assert "beam6a" in s.names
    np.testing.assert_allclose(s.rows("beam6a")[:4], s.rows("grid2")[:4])


def test_offset_ends():
    """Offsets in the axes of displacement of each grid: the same as grids at the ends with rigid links."""
    card = small("CBAR", 5, 3, 1, 2, "0.", "1.", "0.", None, None, None, ".0", ".1", ".2", ".3", ".1", "-.2")
    found = read(
        BEAM.replace(small("CBAR", 5, 3, 1, 2, "0.", "1.", "0."), card) + small("CONM2", 9, 2, None, "1.")
    )
    ends = np.vstack([POSITIONS[:2], POSITIONS[:2] + np.array([[0, 0.1, 0.2], [0.3, 0.1, -0.2]])])
    up = np.cross(ends[3] - ends[2], [0, 1, 0])
    by_hand = Structure.assemble(
        ends,
        [EulerBernoulli(2, 3, SECTION, up), Lumped(1, 1.0)],
        fixed={0: "all"},
        ties=[RigidLink(0, [2]), RigidLink(1, [3])],
    )
    same(found, by_hand)


# sections by shape


@pytest.mark.parametrize(
    ("shape", "dims", "area", "I1", "I2", "J"),
    [
        ("ROD", (0.02,), 1.2566e-3, 1.2566e-7, 1.2566e-7, 2.5133e-7),
        ("TUBE", (0.02, 0.015), 5.4978e-4, 8.5903e-8, 8.5903e-8, 1.7181e-7),
        ("BAR", (0.02, 0.06), 1.2e-3, 3.6e-7, 4.0e-8, 0.2633 * 0.06 * 0.02**3),
        ("BOX", (0.04, 0.06, 0.002, 0.004), 6.08e-4, 2.516907e-7, 1.670827e-7, 2.682919e-7),
        ("I", (0.1, 0.05, 0.05, 0.004, 0.006, 0.006), 9.52e-4, 1.554357e-6, 1.254693e-7, 9.0773e-9),
    ],
)
@pytest.mark.parametrize("card", ["PBARL", "PBEAML"])
def test_shapes(card, shape, dims, area, I1, I2, J):
    """Sums over rectangles by the parallel-axis theorem, Bredt's 4 A^2 / sum(s / t), circles; the torsion of a 3:1 rectangle is 0.2633 a b^3 (Timoshenko & Goodier)."""
    more = ["YES", "1.", *(f"{d}" for d in dims), "0."] if card == "PBEAML" else []
    text = GRIDS + STEEL + small(card, 3, 7, None, shape, *[None] * 4, *(f"{d}" for d in dims), "0.", *more)
    element = "CBAR" if card == "PBARL" else "CBEAM"
    section = parse_bulk(text + small(element, 1, 3, 1, 2, "0.", "0.", "1."), "m.bdf").beams[0].section
    np.testing.assert_allclose(
        (section.area, section.I1, section.I2, section.J), (area, I1, I2, J), rtol=2e-4
    )


# grids


def test_curved_systems():
    """Points of cylindrical and spherical systems that rest on each other; axes of displacement follow the place."""
    frame = ["0."] * 3 + ["1.", "0.", "0."] + ["1.", "1.", "0."]  # z along x, x along y
    text = small("CORD2C", 1, 0, *frame) + small(
        "CORD2S", 2, 1, "2.", "90.", "1.", "2.", "90.", "2.", "3.", "90.", "1."
    )
    text += small("GRID", 1, 1, "2.", "30.", "5.", 1) + small("GRID", 2, 2, "3.", "90.", "0.", 2)
    a, b = parse_bulk(text, "m.bdf").grids
    c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
    np.testing.assert_allclose(a.position, (5, 2 * c, 2 * s), atol=1e-12)
    np.testing.assert_allclose(np.array(a.axes).T, [[0, c, s], [0, -s, c], [1, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(b.position, (1, 0, 5), atol=1e-12)
    np.testing.assert_allclose(np.array(b.axes).T, [[0, 0, 1], [-1, 0, 0], [0, -1, 0]], atol=1e-12)


def test_supports_along_curved_axes():
    """A ring of twelve bars that may only grow: forces of 1 N outwards at its corners stretch each by 1 / (2 sin 15 deg EA)."""
    text = small("CORD2C", 1, 0, *["0."] * 5, "1.", "1.", "0.", "0.") + small(
        "GRDSET", None, 1, None, None, None, 1, 23456
    )
    text += "".join(small("GRID", i + 1, None, "2.", f"{30.0 * i}", "0.") for i in range(12)) + PROPERTIES
    text += "".join(
        small("CBAR", i + 1, 3, i + 1, (i + 1) % 12 + 1, "0.", "0.", "1.", "BGG") for i in range(12)
    )
    s = read(text)
    assert s.count == 12
    n = np.array([[np.cos(a), np.sin(a), 0] for a in np.radians(30.0 * np.arange(12))])
    radial = np.array([n[i] @ s.rows(f"grid{i + 1}")[:3] for i in range(12)])
    moved = radial @ Statics(s).solve(radial.T @ np.ones(12))
    chord, lean = 4 * np.sin(np.pi / 12), np.pi / 12
    np.testing.assert_allclose(moved, chord / (4 * SECTION.EA * np.sin(lean) ** 2), rtol=1e-9)


# writing


def test_what_is_written_is_read():
    grids = tuple(files.FeGrid(i + 1, tuple(p)) for i, p in enumerate(CORNERS.tolist()))
    steel, ply = (
        files.FeMaterial(7, 2.1e11, 8e10, 0.3125, 7850.0),
        files.Orthotropic(8, 1.8e11, 1e10, 0.28, 7e9, 1600.0),
    )
    layers = tuple(
        files.Layer(m, t, a) for m, t, a in ((ply, 1e-3, 0.3), (steel, 2e-3, 0.0), (ply, 1e-3, -0.3))
    )
    strip = files.FeSection(4, 1e-4, 1e-9, 2e-9, J=3e-9)
    model = files.BulkModel(
        "model", grids,
        beams=(files.FeBeam(5, (1, 3), (0.0, 0.0, 1.0), strip, steel, ((5, 6), ()), ((0.0, 0.0, 0.1), (0.0, 0.2, 0.0))),),
        shells=(
            files.FeShell(1, (1, 2, 3, 4), files.LayUp(2, layers, -1e-3, 0.4), 0.2, None, 0.01),
            files.FeShell(2, (1, 2, 4), files.ShellSection(3, 0.01, steel, None, 1.0, 0.1), along=(0.0, 1.0, 0.0)),
        ),
        springs=(files.ScalarElement(8, 5.0, (1, 3), (2, 3)),),
        scalar_masses=tuple(files.ScalarElement(10 + c, 0.5, (2, c)) for c in (1, 2, 3)),
        rigids=(files.Rigid(20, 1, (1, 2, 3), (4,)),),
        means=(files.MeanElement(21, 3, (1, 2, 3), ((1.0, (1, 2, 3), (1, 2)), (2.0, (1, 2, 3), (4,)))),),
    )  # fmt: skip
    text = bulk_text(model)
    assert max(map(len, text.splitlines())) <= 72
    back = parse_bulk(text, "model.bdf")
    for name in ("beams", "shells", "springs", "scalar_masses", "rigids", "means"):
        np.testing.assert_allclose(
            numbers(getattr(back, name)), numbers(getattr(model, name)), rtol=1e-9, atol=1e-12
        )


def test_integers_given_for_real_numbers_are_written_with_their_point():
    """A field of a real number needs its decimal point."""
    stuff = files.FeMaterial(7, 210, 80, 0, 8)
    model = files.BulkModel(
        "model",
        (files.FeGrid(1, (0, 0, 0)), files.FeGrid(2, (1, 0, 0)), files.FeGrid(3, (0, 1, 0))),
        beams=(files.FeBeam(5, (1, 3), (0, 0, 1), files.FeSection(4, 1, 1, 1), stuff),),
        masses=(files.PointMass(6, 2, 2, (0, 0, 1), ((1, 0, 0), (0, 1, 0), (0, 0, 1))),),
        shells=(files.FeShell(1, (1, 2, 3), files.ShellSection(3, 1, stuff, stuff, 1, 1), 0, None, 1),),
        springs=(files.ScalarElement(8, 5, (1, 3), (2, 3)),),
    )
    back = parse_bulk(bulk_text(model), "model.bdf")
    assert back.masses[0].mass == 2.0
    assert back.shells[0].offset == 1.0


def numbers(value: object) -> list[float]:
    if isinstance(value, (int, float)):
        return [float(value)]
    if value is None:
        return [-1.0]
    items = value if isinstance(value, tuple) else vars(value).values()
    return [x for item in items for x in numbers(item)]
