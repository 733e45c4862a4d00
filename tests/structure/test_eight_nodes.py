"""Thick shells of eight nodes: patches, Mindlin's closed forms at all thicknesses, curved benchmarks, bad meshes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from scipy.linalg import block_diag, eigh
from scipy.sparse.linalg import eigsh
from scipy.spatial.transform import Rotation
from shell_meshes import deflection, hold, pressure

from articulus.errors import InputError
from articulus.structure import MindlinQuadrilateral8, Plate, Statics, Structure, modes_of, normal_modes
from articulus.structure.plate import Ply
from articulus.structure.solution import rigid_motions

GRAPHITE = Ply(1.25e-3, 181e9, 10.3e9, 0.28, 7.17e9, 1600.0, G23=3.5e9)
SKEW = Plate.laminate([dataclasses.replace(GRAPHITE, angle=a) for a in (0.0, 0.5, -0.8)])


def steel(thickness: float) -> Plate:
    return Plate.isotropic(thickness, 2e11, 0.3, 7800.0)


def mesh(
    sides: tuple[float, float],
    count: tuple[int, int],
    plate: Plate,
    place: Callable[[np.ndarray], np.ndarray] = lambda x: x,
    skewed: float = 0.0,
) -> tuple[np.ndarray, list, np.ndarray]:
    """Return positions, elements and node numbers (2 m + 1, 2 n + 1), -1 in the middle of elements, of a plate in x-y.

    `place` maps all nodes into space; inner corners are moved at random by up to `skewed` of an element, sides stay straight.
    """
    m, n = count
    x, y = np.meshgrid(np.linspace(0, sides[0], m + 1), np.linspace(0, sides[1], n + 1), indexing="ij")
    corners = np.stack([x, y, 0 * x], axis=-1)
    moved = np.random.default_rng(0).uniform(-skewed, skewed, (m - 1, n - 1, 2))
    corners[1:-1, 1:-1, :2] += moved * (sides[0] / m, sides[1] / n)
    flat = np.zeros((2 * m + 1, 2 * n + 1, 3))
    flat[::2, ::2] = corners
    flat[1::2, ::2], flat[::2, 1::2] = (
        (corners[:-1] + corners[1:]) / 2,
        (corners[:, :-1] + corners[:, 1:]) / 2,
    )
    there = np.ones(flat.shape[:2], dtype=bool)
    there[1::2, 1::2] = False
    nodes = np.full(there.shape, -1)
    nodes[there] = np.arange(there.sum())
    elements = []
    for i in range(0, 2 * m, 2):
        for j in range(0, 2 * n, 2):
            at = [(0, 0), (2, 0), (2, 2), (0, 2), (1, 0), (2, 1), (1, 2), (0, 1)]
            eight = [int(nodes[i + a, j + b]) for a, b in at]
            elements.append(MindlinQuadrilateral8(eight[:4], eight[4:], plate, (1, 0, 0)))
    return place(flat[there]), elements, nodes


def edges_of(nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.r_[nodes[0], nodes[-1]], np.r_[nodes[:, 0], nodes[:, -1]]


def supported(plate: Plate, n: int, skewed: float = 0.0) -> tuple[Structure, int]:
    positions, elements, nodes = mesh((1, 1), (n, n), plate, skewed=skewed)
    x, y = edges_of(nodes)
    held = hold((np.arange(len(positions)), ("x", "y", "rz")), (x, ("z", "rx")), (y, ("z", "ry")))
    return Structure.assemble(positions, elements, fixed=held), int(nodes[n, n])


# rigid motion and patches


def test_rigid_motion_of_a_curved_shell_is_free():
    rng = np.random.default_rng(2)
    positions, elements, _ = mesh((1.2, 0.9), (2, 2), SKEW, skewed=0.2)
    s = Structure.assemble(positions + rng.normal(scale=0.02, size=positions.shape), elements)
    assert rigid_motions(s).shape[1] == 6
    R = s.rigid()
    assert np.abs(s.K @ R).max() < 1e-12 * abs(s.K).max()
    G = R.T @ s.M @ R
    np.testing.assert_allclose(G[3:, 3:], s.samples.mass.sum() * np.eye(3), atol=1e-12 * s.samples.mass.sum())


@pytest.mark.parametrize("thickness", [0.01, 0.3])
def test_only_rigid_motion_costs_nothing(thickness):
    positions, elements, _ = mesh((1.1, 0.8), (1, 1), steel(thickness))
    s = Structure.assemble(positions + 0.05 * np.sin(7 * positions[:, [1, 0, 0]]), elements)
    size = np.sqrt(s.K.diagonal())
    energies = np.linalg.eigvalsh(s.K.toarray() / np.outer(size, size))
    assert np.abs(energies[:6]).max() < 1e-12
    assert energies[6] > 1e-5


def test_patch_of_constant_strains_curvatures_and_shear():
    """Straight sides, corners moved: constant membrane strain, curvature and transverse shear leave inner nodes free, energy exact.

    Shear is that of a plate that does not bend, since thin elements soften against it (`SOFTER`).
    """
    a, b, S = 1.2, 0.9, SKEW.shear
    positions, elements, nodes = mesh((a, b), (3, 3), SKEW, skewed=0.25)
    s = Structure.assemble(positions, elements)
    inner = nodes[1:-1, 1:-1][nodes[1:-1, 1:-1] >= 0]
    x, y = positions[:, 0], positions[:, 1]
    for state in (*np.eye(6), np.array([1.0, -2.0, 0.7, 3.0, 2.0, -1.0])):
        exx, eyy, exy, kxx, kyy, kxy = state
        q = np.zeros((len(x), 6))
        q[:, 0], q[:, 1], q[:, 5] = exx * x + 0.8 * exy * y, 0.2 * exy * x + eyy * y, -0.3 * exy
        q[:, 2] = -(kxx * x**2 + kyy * y**2 + kxy * x * y) / 2
        q[:, 3], q[:, 4] = -kyy * y - kxy * x / 2, kxx * x + kxy * y / 2
        forces = (s.K @ q.ravel()).reshape(-1, 6)
        assert np.abs(forces[inner]).max() < 1e-11 * np.abs(forces).max()
        np.testing.assert_allclose(q.ravel() @ forces.ravel(), a * b * state @ SKEW.ABD @ state, rtol=1e-10)
    stiff = dataclasses.replace(SKEW, ABD=1e9 * SKEW.ABD)
    s = Structure.assemble(positions, [dataclasses.replace(e, plate=stiff) for e in elements])
    for gamma in (np.array([1.0, 0.0]), np.array([0.7, -2.0])):
        q = np.zeros((len(x), 6))
        q[:, 2] = positions[:, :2] @ gamma
        forces = (s.K @ q.ravel()).reshape(-1, 6)
        assert np.abs(forces[inner, 2]).max() < 1e-9 * np.abs(forces[:, 2]).max()
        np.testing.assert_allclose(q.ravel() @ forces.ravel(), a * b * gamma @ S @ gamma, rtol=1e-9)


def test_matrices_turn_with_the_shell():
    turn = Rotation.random(rng=np.random.default_rng(4)).as_matrix()
    positions, (element,), _ = mesh((1, 0.8), (1, 1), SKEW)
    positions = positions + 0.05 * np.sin(5 * positions[:, [1, 0, 0]])
    here = Structure.assemble(positions, [dataclasses.replace(element, along=(1, 2, 0))])
    there = Structure.assemble(positions @ turn.T, [dataclasses.replace(element, along=turn @ (1, 2, 0))])
    T = block_diag(*(turn,) * 16)
    for A, B in ((here.K, there.K), (here.M, there.M)):
        np.testing.assert_allclose(B.toarray(), T @ A.toarray() @ T.T, atol=1e-12 * abs(A).max())


# plates


@pytest.mark.parametrize("thickness", [1e-4, 1e-2, 0.1, 0.2])
def test_supported_plate_against_mindlin(thickness):
    """Deflection under pressure (Navier's series) and four frequencies (Mindlin 1951), 6 x 6 elements: no locking."""
    plate = steel(thickness)
    s, middle = supported(plate, 6)
    D, S = plate.ABD[3, 3], plate.shear[0, 0]
    m, n = np.meshgrid(np.arange(1, 120, 2), np.arange(1, 120, 2))
    k2 = np.pi**2 * (m**2 + n**2)
    exact = (16 / (np.pi**2 * m * n) * (-1) ** ((m + n) // 2 - 1) * (1 / (D * k2**2) + 1 / (S * k2))).sum()
    np.testing.assert_allclose(deflection(s, pressure(s, (0, 0, 1.0)), middle), exact, rtol=2e-3)
    for omega, (i, j) in zip(normal_modes(s, 4).omega, ((1, 1), (1, 2), (2, 1), (2, 2))):
        k = np.pi * np.hypot(i, j)
        K, M = [[S * k * k, S * k], [S * k, D * k * k + S]], np.diag([plate.mass, plate.rotary])
        np.testing.assert_allclose(omega, np.sqrt(eigh(K, M, eigvals_only=True)[0]), rtol=0.012)


def test_thin_plate_by_the_sparse_solver():
    """Side over thickness 1e4, 8 x 8 elements: pi^2 (m^2 + n^2), 0.02 to 0.33 %; errors fall with the fourth power of the size."""
    plate = steel(1e-4)
    s, _ = supported(plate, 8)
    found = normal_modes(s, 4).omega / np.sqrt(plate.ABD[3, 3] / plate.mass) / np.pi**2
    np.testing.assert_allclose(found, [2, 5, 5, 8], rtol=4e-3)


def test_distorted_thin_plate_does_not_lock():
    """Side over thickness 1e4, corners moved by up to 0.2 of an element, 8 x 8; Kirchhoff's limit 0.00406235 q a^4 / D."""
    plate = steel(1e-4)
    s, middle = supported(plate, 8, skewed=0.2)
    found = deflection(s, pressure(s, (0, 0, 1.0)), middle) * plate.ABD[3, 3]
    np.testing.assert_allclose(found, 0.00406235, rtol=0.02)


def test_buckling_of_a_thick_supported_plate():
    """Compressed along x, h = a / 10: N = D k^4 / p^2 / (1 + D k^2 / S); 6 x 6 elements."""
    plate = steel(0.1)
    positions, elements, nodes = mesh((1, 1), (6, 6), plate)
    x, y = edges_of(nodes)
    held = hold((nodes[0], ("x",)), (nodes[0, :1], ("y",)), (x, ("z", "rx")), (y, ("z", "ry")))
    s = Structure.assemble(positions, elements, fixed=held)
    shares = np.array([1, *[4, 2] * 5, 4, 1]) / 36  # Simpson's rule along the loaded side
    load = -sum(w * s.rows(int(i))[0] for w, i in zip(shares, nodes[-1]))
    forces = s.samples.section_forces(Statics(s).solve(load), np.zeros(3 * len(s.samples.mass)))
    bends = s.fix(hold((np.arange(len(positions)), ("x", "y", "rz"))))
    found = (
        -1
        / eigsh(bends.samples.geometric_stiffness(forces), 1, bends.K, which="SA", return_eigenvectors=False)[
            0
        ]
    )
    D, S = plate.ABD[3, 3], plate.shear[0, 0]
    np.testing.assert_allclose(found, 4 * np.pi**2 * D / (1 + 2 * np.pi**2 * D / S), rtol=0.01)


# curved shells


def test_scordelis_lo_roof():
    """Barrel vault under its weight, a quarter with 4 x 4: 0.3024 (MacNeal & Harder 1985); shells with shear have 0.3014 (case curved_shells)."""
    R, L = 25.0, 50.0

    def place(p):
        angle = np.radians(40) * p[:, 1]
        return np.stack([L / 2 * p[:, 0], R * np.sin(angle), R * np.cos(angle)], axis=1)

    positions, elements, nodes = mesh((1, 1), (4, 4), Plate.isotropic(0.25, 4.32e8, 0.0, 0.0), place)
    held = hold((nodes[0], ("y", "z")), (nodes[-1], ("x", "ry", "rz")), (nodes[:, 0], ("y", "rx", "rz")))
    s = Structure.assemble(positions, elements, fixed=held)
    found = deflection(s, pressure(s, (0, 0, -90.0)), nodes[-1, -1])
    np.testing.assert_allclose(found, -0.3024, rtol=0.01)


def test_pinched_cylinder_with_end_diaphragms():
    """An eighth with 8 x 8: 1.8248e-5 (Lindberg, Olson & Cowper 1969); Sanders' thin shell has 1.8276e-5 (case curved_shells)."""
    R, L = 300.0, 600.0

    def place(p):
        angle = np.radians(90) * p[:, 1]
        return np.stack([L / 2 * p[:, 0], R * np.sin(angle), R * np.cos(angle)], axis=1)

    positions, elements, nodes = mesh((1, 1), (8, 8), Plate.isotropic(3.0, 3e6, 0.3, 0.0), place)
    held = hold(
        (nodes[0], ("y", "z")), (nodes[-1], ("x", "ry", "rz")), (nodes[:, 0], ("y", "rx", "rz")), (nodes[:, -1], ("z", "rx", "ry"))
    )  # fmt: skip
    s = Structure.assemble(positions, elements, fixed=held)
    top = int(nodes[-1, 0])
    np.testing.assert_allclose(deflection(s, -0.25 * s.rows(top)[2], top), -1.8248e-5, rtol=0.03)


def test_pinched_hemisphere():
    """A quarter of a hemisphere with a hole of 18 degrees, R / h = 250, unit forces in and out: 0.0940 (MacNeal & Harder 1985)."""

    def place(p):
        up, around = np.radians(72) * p[:, 1], np.radians(90) * p[:, 0]
        return 10 * np.stack([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)], axis=1)

    positions, elements, nodes = mesh((1, 1), (8, 8), Plate.isotropic(0.04, 6.825e7, 0.3, 0.0), place)
    held = hold((nodes[0], ("y", "rx", "rz")), (nodes[-1], ("x", "ry", "rz")), (nodes[8, -1:], ("z",)))
    s = Structure.assemble(positions, elements, fixed=held)
    x, y = int(nodes[0, 0]), int(nodes[-1, 0])
    load = s.rows(x)[0] - s.rows(y)[1]
    np.testing.assert_allclose(s.rows(x)[0] @ Statics(s).solve(load), 0.0940, rtol=0.03)


def test_a_body_of_a_mechanism():
    """Mass and inertia of the rigid panel, and modes with shortening."""
    plate, L, width = steel(0.02), 1.0, 0.4
    positions, elements, nodes = mesh((L, width), (4, 2), plate)
    s = Structure.assemble(positions, elements, fixed=hold((nodes[0], ("x", "y", "z", "rx", "ry", "rz"))))
    body = modes_of(s, normal_modes(s, 3).shapes, origin=(0, 0, 0), stations={"tip": int(nodes[-1, 0])})
    assert body.level == "consistent"
    np.testing.assert_allclose(body.rr0[2, 2], plate.mass * L * width * (L**2 + width**2) / 3, rtol=1e-12)
    assert body.rr2_shortening[0, 0, 2, 2] < 0


# bad input


def test_messages():
    positions, (element,), _ = mesh((1, 1), (1, 1), steel(0.01))
    off = positions.copy()
    off[element.middles[0]] = (0.8, 0.0, 0.0)
    with pytest.raises(InputError, match=r"middle node .* lies at 0\.80 of the side"):
        Structure.assemble(off, [element])
    a, b, c, d = element.middles
    with pytest.raises(InputError, match="are the middles in the order of the sides"):
        Structure.assemble(positions, [dataclasses.replace(element, middles=(b, a, c, d))])
    bulge = positions.copy()
    bulge[element.middles[0]] = (0.5, 1.2, 0.0)
    with pytest.raises(InputError, match="folds over itself"):
        Structure.assemble(bulge, [element])
    p, q, r, t = element.corners
    with pytest.raises(InputError, match="MindlinQuadrilateral8"):
        Structure.assemble(positions, [dataclasses.replace(element, corners=(p, r, q, t))])
    with pytest.raises(InputError, match="3 corners and 4 middles"):
        MindlinQuadrilateral8((0, 1, 2), element.middles, steel(0.01))
    with pytest.raises(InputError, match="no transverse shear stiffness"):
        Structure.assemble(positions, [dataclasses.replace(element, plate=Plate(steel(0.01).ABD, 1.0))])
    with pytest.raises(InputError, match="square to the element"):
        Structure.assemble(positions, [dataclasses.replace(element, along=(0, 0, 1))])
    with pytest.raises(InputError, match="nodes that differ"):
        Structure.assemble(positions, [dataclasses.replace(element, middles=(a, a, c, d))])
