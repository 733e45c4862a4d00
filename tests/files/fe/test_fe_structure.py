"""Structures of files: closed forms, Nastran's own numbers, laws of axes; what is written is read again."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import linalg, sparse

from articulus.errors import InputError
from articulus.model.files import (
    BulkModel,
    FeBeam,
    FeGrid,
    FeMaterial,
    FeRod,
    FeSection,
    MatrixSet,
    PointMass,
    beam_model,
    bulk_structure,
    bulk_text,
    matrix_structure,
    parse_bulk,
    read_bulk,
    write_bulk,
)

from .support import DATA

STEEL = FeMaterial(1, 2.1e11, 2.1e11 / 2.6, 0.3, 7850.0)
THIN = FeSection(1, 1e-4, 1e-10, 4e-10, J=5e-10)
ROOTS = np.array([1.8751040687119611, 4.6940911329741746, 7.8547574382376126])
"""Roots of cosh x cos x = -1."""


def frequencies(M: sparse.csr_array, K: sparse.csr_array) -> np.ndarray:
    """Return the frequencies [rad/s], ascending."""
    return np.sqrt(np.abs(linalg.eigh(K.toarray(), M.toarray(), eigvals_only=True)))


def test_cantilever_file_has_the_closed_frequencies(tmp_path: Path) -> None:
    """Bending by the roots, stretching and twisting by odd quarter waves.

    20 elements: Hermite's cubics are good to 1e-5 at the third root; rotary inertia lowers bending by
    about (root r / length)^2 / 2 < 2e-4, r = 2 mm being the larger radius of gyration; linear stretch raises by
    (pi/2 / 20)^2 / 24 = 2.6e-4.
    """
    write_bulk(tmp_path / "beam.bdf", beam_model(1.0, material=STEEL, section=THIN, elements=20))
    s = bulk_structure(read_bulk(tmp_path / "beam.bdf"))
    found = frequencies(s.M, s.K)
    mu = STEEL.rho * THIN.area
    for I in (THIN.I1, THIN.I2):
        for omega in ROOTS**2 * np.sqrt(STEEL.E * I / mu):
            assert np.abs(found / omega - 1).min() < 2e-4
    polar = STEEL.rho * (THIN.I1 + THIN.I2)
    for omega in np.pi / 2 * np.sqrt([STEEL.E * THIN.area / mu, STEEL.G * THIN.J / polar]):
        assert np.abs(found / omega - 1).min() < 3e-4


def test_plane_one_is_that_of_the_orientation_vector() -> None:
    """A tip force along y bends by I1 when the vector is y, by I2 when it is z; at 45 degrees both mix."""
    model = beam_model(2.0, material=STEEL, section=THIN, elements=1)
    for direction, I in (((0.0, 1.0, 0.0), THIN.I1), ((0.0, 0.0, 1.0), THIN.I2)):
        s = bulk_structure(replace(model, beams=(replace(model.beams[0], orientation=direction),)))
        flexibility = np.linalg.inv(s.K.toarray())[s.where("grid2", "y")[0], s.where("grid2", "y")[0]]
        np.testing.assert_allclose(flexibility, 2.0**3 / (3 * STEEL.E * I), rtol=1e-10)


def test_product_of_inertia() -> None:
    """A section given in axes turned by an angle has the structure of the principal one."""
    model = beam_model(1.0, material=STEEL, section=THIN, elements=2)
    angle = 0.3
    c, s = np.cos(angle), np.sin(angle)
    turned = np.array([[c, s], [-s, c]])  # rows: new y and z in the old ones
    moments = turned @ np.diag([THIN.I1, THIN.I2]) @ turned.T
    section = replace(THIN, I1=moments[0, 0], I2=moments[1, 1], I12=moments[0, 1])
    beams = tuple(replace(b, section=section, orientation=(0.0, c, s)) for b in model.beams)
    a, b = bulk_structure(model), bulk_structure(replace(model, beams=beams))
    for x, y in ((a.K, b.K), (a.M, b.M)):
        np.testing.assert_allclose(x.toarray(), y.toarray(), atol=1e-10 * abs(x).max())


def test_shear_factors_make_timoshenko_beams() -> None:
    section = replace(THIN, I1=1e-8, k1=0.5)
    s = bulk_structure(beam_model(0.2, material=STEEL, section=section, elements=1))
    tip = s.where("grid2", "y")[0]
    expected = 0.2**3 / (3 * STEEL.E * 1e-8) + 0.2 / (0.5 * STEEL.G * THIN.area)
    np.testing.assert_allclose(np.linalg.inv(s.K.toarray())[tip, tip], expected, rtol=1e-10)


NASTRAN_HERTZ = [
    1.65000143, 1.65024943, 1.67426483, 1.67468712, 7.02535051, 7.02541124, 10.91273857, 10.91454277, 13.98577954,
    13.99172066, 25.13473386, 25.13994543,
]  # fmt: skip
"""Fixed-interface frequencies in KXX and MXX of Nastran's outboard.op4, nine digits."""

NASTRAN_STIFFNESS = [
    798820.43807497, 3034418.83530876, 2888571.40641683, 30148381.4028068, 30135202.0918214, 33414011.30150465,
    3909581.44434874, 4055418.39351012, 798956.89863368, 38300726.41255057, 34973010.75297003, 38307295.25328729,
    798820.43807497, 3034418.83530876, 2888571.40641683, 30148381.4028068, 30135202.0918214, 33414011.30150465,
    798956.8986337, 3909581.44434874, 4055418.39351012, 38307295.25328729, 38300726.41255057, 34973010.75297003,
]  # fmt: skip
"""Diagonal of the boundary part of KXX, grids 3, 11, 19, 27, each in its own axes of displacement."""


def test_frame_has_the_numbers_of_nastran() -> None:
    """Nastran's bars have no rotary inertia: the mass goes into the mass along the beam for this comparison."""
    model = read_bulk(DATA / "outboard.blk")
    light = {b.material.id: replace(b.material, rho=0.0) for b in model.beams}
    beams = tuple(
        replace(
            b,
            material=light[b.material.id],
            section=replace(b.section, nsm=b.section.nsm + b.material.rho * b.section.area),
        )
        for b in model.beams
    )
    s = bulk_structure(replace(model, beams=beams))
    boundary = [f"grid{i}" for i in (3, 11, 19, 27)]
    held = s.fix(dict.fromkeys(boundary, "all"))
    flexible, *_ = linalg.lapack.dsygv(
        held.M.toarray(), held.K.toarray()
    )  # 1 / omega^2: rotations about x have no mass
    hertz = np.sort(1 / np.sqrt(flexible[-12:])) / (2 * np.pi)
    np.testing.assert_allclose(
        hertz, NASTRAN_HERTZ, rtol=2e-7
    )  # Nastran's CBAR mass is rounded at about 1e-7

    b = np.concatenate([s.where(n) for n in boundary])
    i = np.setdiff1d(np.arange(s.count), b)
    K = s.K.toarray()
    reduced = K[np.ix_(b, b)] - K[np.ix_(b, i)] @ np.linalg.solve(K[np.ix_(i, i)], K[np.ix_(i, b)])
    axes = [np.array(g.axes) for n in boundary for g in model.grids if f"grid{g.id}" == n for _ in (0, 1)]
    R = linalg.block_diag(*axes)
    np.testing.assert_allclose(np.diag(R.T @ reduced @ R), NASTRAN_STIFFNESS, rtol=1e-7)


# matrices


def axes_of(angle: float) -> tuple[tuple[float, float, float], ...]:
    c, s = float(np.cos(angle)), float(np.sin(angle))
    return ((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0))


def test_matrices_in_turned_axes_are_the_same_structure() -> None:
    model = beam_model(1.0, material=STEEL, section=THIN, elements=3)
    s = bulk_structure(model)
    grids = tuple(replace(g, axes=axes_of(0.4 * g.id)) for g in model.grids)
    R = linalg.block_diag(*[np.array(g.axes) for g in grids[1:] for _ in (0, 1)])
    dofs = tuple((g.id, c) for g in grids[1:] for c in range(1, 7))
    data = MatrixSet(
        "m", {n: sparse.csr_array(R.T @ A.toarray() @ R) for n, A in (("KAA", s.K), ("MAA", s.M))}, dofs
    )
    t = matrix_structure(data, "MAA", "KAA", "MAA", grids=grids)
    np.testing.assert_allclose(t.K.toarray(), s.K.toarray(), atol=1e-14 * abs(s.K).max())
    np.testing.assert_allclose(t.D.toarray(), s.M.toarray(), atol=1e-14 * abs(s.M).max())
    np.testing.assert_array_equal(t.positions, s.positions[1:])
    assert t.names == ("grid2", "grid3", "grid4")


@pytest.mark.parametrize(
    ("dofs", "grids", "message"),
    [
        ((), (), "0 degrees of freedom for matrices of 2 rows"),
        (((1, 1), (1, 1)), (), "comes twice"),
        (((1, 1), (1, 0)), (FeGrid(1, (0.0,) * 3),), "no scalar points"),
        (((1, 1), (2, 1)), (FeGrid(1, (0.0,) * 3),), "no place of grid 2"),
        (((1, 1), (1, 3)), (FeGrid(1, (0.0,) * 3, axes_of(0.1)),), "component 2 is missing"),
    ],
)
def test_matrices_without_what_they_need(dofs: tuple, grids: tuple, message: str) -> None:
    data = MatrixSet("m", {"K": sparse.eye_array(2).tocsr()}, dofs)
    with pytest.raises(InputError, match=message):
        matrix_structure(data, "K", "K", grids=grids)


# writing


def test_what_is_written_is_read() -> None:
    """Numbers to eleven digits; axes and ids as they were."""
    rng = np.random.default_rng(0)
    J = ((2.0, 0.1, 0.2), (0.1, 3.0, -0.3), (0.2, -0.3, 4.0))
    grids = tuple(FeGrid(i, tuple(rng.normal(size=3) * 10.0**i), axes_of(0.1 * (i % 2))) for i in range(1, 5))
    section = FeSection(2, 1.23456789e-4, 1.1e-8, 2.2e-8, -1e-9, 3e-8, 0.7, 0.5, 0.6)
    model = BulkModel(
        "model",
        grids,
        (
            FeBeam(1, (1, 2), (0.0, 0.6, 0.8), section, STEEL),
            FeBeam(2, (2, 3), (0.0, 0.6, 0.8), section, STEEL),
        ),
        (FeRod(3, (1, 4), FeSection(5, 1e-4, 0.0, 0.0, J=1e-9, nsm=0.1), STEEL),),
        (PointMass(4, 2, 1.5, (0.1, 0.2, -0.3), J),),
        (9,),
        ((1, 1), (1, 6), (9, 0)),
        ((2, 1), (3, 4)),
    )
    text = bulk_text(model)
    assert max(map(len, text.splitlines())) <= 72
    back = parse_bulk(text, "model.bdf")
    assert back.notes
    np.testing.assert_allclose(_numbers(back), _numbers(model), rtol=1e-10, atol=1e-12)
    assert (back.fixed, back.retained, back.scalar_points) == (
        model.fixed,
        model.retained,
        model.scalar_points,
    )


def _numbers(value: object) -> list[float]:
    """Return every number of nested data, in order."""
    if isinstance(value, (int, float)):
        return [float(value)]
    if isinstance(value, tuple):
        return [x for item in value for x in _numbers(item)]
    fields = getattr(value, "__dataclass_fields__", {})
    return [x for name in fields if name != "notes" for x in _numbers(getattr(value, name))]


def test_beam_model_refuses_nothing_to_build() -> None:
    with pytest.raises(InputError, match="beam_model: length 0"):
        beam_model(0.0, material=STEEL, section=THIN)
