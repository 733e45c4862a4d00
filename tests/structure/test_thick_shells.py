"""Thick shells: patches, Mindlin's closed forms, thin limit, laminates against three-dimensional elasticity, printed benchmarks."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.linalg import block_diag, eigh, expm
from scipy.sparse.linalg import eigsh
from scipy.spatial.transform import Rotation
from shell_meshes import THICK, deflection, hold, mesh, pressure

import articulus as art
from articulus.errors import DoubtfulResult, InputError
from articulus.structure import (
    MindlinQuadrilateral,
    MindlinTriangle,
    Plate,
    ShellQuadrilateral,
    Statics,
    Structure,
    modes_of,
    normal_modes,
    panel,
)
from articulus.structure.plate import Ply
from articulus.structure.solution import rigid_motions

GRAPHITE = Ply(1.25e-3, 181e9, 10.3e9, 0.28, 7.17e9, 1600.0, G23=3.5e9)
SKEW = Plate.laminate([dataclasses.replace(GRAPHITE, angle=a) for a in (0.0, 0.5, -0.8)])
E, NU, RHO = 2e11, 0.3, 7800.0


def steel(thickness: float) -> Plate:
    return Plate.isotropic(thickness, E, NU, RHO)


def supported(plate: Plate, n: int, kind: str = THICK[0], skewed: float = 0.0) -> tuple[Structure, int]:
    """Return a square plate of side 1 on hard supports, with bending only, and the number of its middle node."""
    positions, elements, nodes = mesh((1, 1), (n, n), plate, kind, skewed=skewed)
    x, y = np.r_[nodes[0], nodes[-1]], np.r_[nodes[:, 0], nodes[:, -1]]
    held = hold((nodes, ("x", "y", "rz")), (x, ("z", "rx")), (y, ("z", "ry")))
    return Structure.assemble(positions, elements, fixed=held), int(nodes[n // 2, n // 2])


def mindlin_deflection(plate: Plate) -> float:
    """Return the deflection of the middle of a supported square plate of side 1 under unit pressure, by Navier's series."""
    D, S = plate.ABD[3, 3], plate.shear[0, 0]
    odd = np.arange(1, 120, 2)
    m, n = np.meshgrid(odd, odd)
    k2 = np.pi**2 * (m**2 + n**2)
    return float(
        (16 / (np.pi**2 * m * n) * (-1) ** ((m + n) // 2 - 1) * (1 / (D * k2**2) + 1 / (S * k2))).sum()
    )


def mindlin_frequency(plate: Plate, m: int, n: int) -> float:
    """Return the lowest circular frequency of the waves m, n of that plate, with rotary inertia (Mindlin 1951)."""
    D, S, k = plate.ABD[3, 3], plate.shear[0, 0], np.pi * np.hypot(m, n)
    K = [[S * k * k, S * k], [S * k, D * k * k + S]]
    return float(np.sqrt(eigh(K, np.diag([plate.mass, plate.rotary]), eigvals_only=True)[0]))


# rigid motion and patches


@pytest.mark.parametrize("kind", THICK)
def test_rigid_motion_of_a_warped_shell_is_free(kind):
    rng = np.random.default_rng(2)
    positions, elements, _ = mesh((1.2, 0.9), (3, 3), SKEW, kind, skewed=0.2)
    s = Structure.assemble(positions + rng.normal(scale=0.05, size=positions.shape), elements)
    assert rigid_motions(s).shape[1] == 6
    R = s.rigid()
    assert np.abs(s.K @ R).max() < 1e-12 * abs(s.K).max()
    G = R.T @ s.M @ R
    np.testing.assert_allclose(G[3:, 3:], s.samples.mass.sum() * np.eye(3), atol=1e-12 * s.samples.mass.sum())


@pytest.mark.parametrize("thickness", [0.01, 0.3])
@pytest.mark.parametrize("kind", [MindlinTriangle, MindlinQuadrilateral])
def test_only_rigid_motion_costs_nothing(kind, thickness):
    corners = np.array([[0, 0, 0], [1.1, 0.1, 0], [0.9, 0.8, 0], [-0.2, 0.7, 0]])[
        : 3 + (kind is MindlinQuadrilateral)
    ]
    s = Structure.assemble(corners, [kind(*range(len(corners)), steel(thickness))])
    size = np.sqrt(s.K.diagonal())
    energies = np.linalg.eigvalsh(s.K.toarray() / np.outer(size, size))
    assert np.abs(energies[:6]).max() < 1e-13
    assert energies[6] > 1e-3


@pytest.mark.parametrize("kind", THICK)
def test_patch_of_constant_strains_and_curvatures(kind):
    """A laminate with coupling B, distorted elements: linear u, v and quadratic w leave inner nodes free of force, energy exact."""
    a, b = 1.2, 0.9
    positions, elements, nodes = mesh((a, b), (3, 3), SKEW, kind, skewed=0.25)
    s = Structure.assemble(positions, elements)
    x, y = positions[:, 0], positions[:, 1]
    for state in (*np.eye(6), np.array([1.0, -2.0, 0.7, 3.0, 2.0, -1.0])):
        exx, eyy, exy, kxx, kyy, kxy = state
        q = np.zeros((len(x), 6))
        q[:, 0], q[:, 1], q[:, 5] = exx * x + 0.8 * exy * y, 0.2 * exy * x + eyy * y, -0.3 * exy
        q[:, 2] = -(kxx * x**2 + kyy * y**2 + kxy * x * y) / 2
        q[:, 3], q[:, 4] = -kyy * y - kxy * x / 2, kxx * x + kxy * y / 2
        forces = (s.K @ q.ravel()).reshape(-1, 6)
        assert np.abs(forces[nodes[1:-1, 1:-1]]).max() < 1e-11 * np.abs(forces).max()
        np.testing.assert_allclose(q.ravel() @ forces.ravel(), a * b * state @ SKEW.ABD @ state, rtol=1e-11)


@pytest.mark.parametrize("kind", THICK)
def test_patch_of_constant_transverse_shear(kind):
    """Plates that yield to shear only: a slope without rotation leaves inner nodes free of transverse force, energy exact.

    Constant shear without bending is in equilibrium only for a plate that does not bend; D here is 1e9 of S times an edge squared.
    """
    a, b, S = 1.2, 0.9, np.array([[2.0, 0.3], [0.3, 1.0]])
    stiff = Plate(np.diag([1.0, 1, 0.4, 1, 1, 0.4]) * 1e9, 1.0, shear=S)
    positions, elements, nodes = mesh((a, b), (3, 3), stiff, kind, skewed=0.25)
    s = Structure.assemble(positions, elements)
    for gamma in (np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([0.7, -2.0])):
        q = np.zeros((len(positions), 6))
        q[:, 2] = positions[:, :2] @ gamma
        forces = (s.K @ q.ravel()).reshape(-1, 6)
        assert np.abs(forces[nodes[1:-1, 1:-1], 2]).max() < 1e-7 * np.abs(forces[:, 2]).max()
        np.testing.assert_allclose(q.ravel() @ forces.ravel(), a * b * gamma @ S @ gamma, rtol=1e-7)


@pytest.mark.parametrize("kind", [MindlinTriangle, MindlinQuadrilateral])
def test_matrices_turn_with_the_shell(kind):
    turn = Rotation.random(rng=np.random.default_rng(4)).as_matrix()
    k = 3 + (kind is MindlinQuadrilateral)
    corners = np.array([[0, 0, 0.05], [1, 0, 0], [1.1, 0.8, 0.05], [-0.1, 0.7, 0]])[:k]
    here = Structure.assemble(corners, [kind(*range(k), SKEW, along=(1, 2, 0))])
    there = Structure.assemble(corners @ turn.T, [kind(*range(k), SKEW, along=turn @ (1, 2, 0))])
    T = block_diag(*(turn,) * (2 * k))
    for A, B in ((here.K, there.K), (here.M, there.M)):
        np.testing.assert_allclose(B.toarray(), T @ A.toarray() @ T.T, atol=1e-12 * abs(A).max())


@pytest.mark.parametrize("kind", THICK)
def test_turning_the_plate_or_its_axes_is_the_same(kind):
    """A plate turned by an angle, its x axis turned back: transverse shear turns like a tensor."""
    angle = 0.6
    positions, elements, _ = mesh((1, 1), (2, 2), SKEW, kind, skewed=0.2)
    back = (np.cos(angle), -np.sin(angle), 0.0)
    turned = [dataclasses.replace(e, plate=SKEW.turn(angle), along=back) for e in elements]
    flat = dict.fromkeys(
        range(len(positions)), ("x", "y", "rz")
    )  # drilling is held by N_xy, which depends on the axes
    A, B = (Structure.assemble(positions, some, fixed=flat).K for some in (elements, turned))
    assert abs(A - B).max() < 1e-12 * abs(A).max()


# plates of one material


@pytest.mark.parametrize("kind", THICK)
@pytest.mark.parametrize("thickness", [1e-4, 1e-2, 0.1, 0.2])
def test_supported_plate_against_mindlin(kind, thickness):
    """Deflection under pressure and four frequencies, at all thicknesses alike: no locking. Errors fall with the square of the size."""
    plate, errors = steel(thickness), []
    exact = [mindlin_frequency(plate, *k) for k in ((1, 1), (1, 2), (2, 1), (2, 2))]
    for n in (8, 16):
        s, middle = supported(plate, n, kind)
        found = deflection(s, pressure(s, (0, 0, 1.0)), middle) / mindlin_deflection(plate) - 1
        errors.append(np.abs([found, *normal_modes(s, 4).omega / exact - 1]).max())
    assert errors[1] < 0.016
    assert 2.8 < errors[0] / errors[1] < 5.5


@pytest.mark.parametrize("kind", THICK)
def test_distorted_thin_plate_does_not_lock(kind):
    """Side over thickness 1e4, inner nodes moved by up to 0.3 of an element; the limit is Kirchhoff's, 0.00406235 q a^4 / D."""
    plate = steel(1e-4)
    s, middle = supported(plate, 16, kind, skewed=0.3)
    found = deflection(s, pressure(s, (0, 0, 1.0)), middle) * plate.ABD[3, 3]
    np.testing.assert_allclose(found, 0.00406235, rtol=0.02)


def test_the_thin_limit_is_the_thin_shell():
    """phi of an edge is 12 D / (S l^2), 1e-7 here, and so is the difference from the discrete Kirchhoff element."""
    corners = np.array([[0, 0, 0], [1.1, 0.1, 0], [0.9, 0.8, 0], [-0.2, 0.7, 0]])
    flat = dict.fromkeys(range(4), ("x", "y", "rz"))
    thin, thick = (
        Structure.assemble(corners, [kind(0, 1, 2, 3, steel(1e-4))], fixed=flat).K.toarray()
        for kind in (ShellQuadrilateral, MindlinQuadrilateral)
    )
    size = np.sqrt(np.outer(thin.diagonal(), thin.diagonal()))
    assert 1e-9 < np.abs((thick - thin) / size).max() < 1e-6


@pytest.mark.parametrize("thickness", [1e-3, 0.1, 0.2])
def test_buckling_of_a_thick_supported_plate(thickness):
    """Compressed along x: N = D k^4 / p^2 / (1 + D k^2 / S), p = pi, k^2 = 2 pi^2, forces N on slopes of the surface; 12 x 12."""
    plate = steel(thickness)
    positions, elements, nodes = mesh((1, 1), (12, 12), plate, THICK[0])
    x, y = np.r_[nodes[0], nodes[-1]], np.r_[nodes[:, 0], nodes[:, -1]]
    held = hold(
        (nodes[0], ("x",)), (nodes[0, :1], ("y",)), (x, ("z", "rx")), (y, ("z", "ry")), (nodes[0], ("rz",))
    )
    s = Structure.assemble(positions, elements, fixed=held)
    shares = np.array([0.5, *[1.0] * 11, 0.5]) / 12
    load = -sum(w * s.rows(int(i))[0] for w, i in zip(shares, nodes[-1]))
    forces = s.samples.section_forces(Statics(s).solve(load), np.zeros(3 * len(s.samples.mass)))
    bends = s.fix(hold((nodes, ("x", "y", "rz"))))  # a thick plate buckles in its plane first
    G = bends.samples.geometric_stiffness(forces)
    found = -1 / eigsh(G, 1, bends.K, which="SA", return_eigenvectors=False)[0]
    D, S = plate.ABD[3, 3], plate.shear[0, 0]
    np.testing.assert_allclose(found, 4 * np.pi**2 * D / (1 + 2 * np.pi**2 * D / S), rtol=0.02)


# printed benchmarks of shells and skew plates


def test_razzaque_skew_plate():
    """Rhombus with angles of 60 and 120 degrees, two sides supported, two free, L / h = 1000: 0.7945e-2 q L^4 / D (Razzaque 1973)."""
    plate = Plate.isotropic(0.1, 1092.0, 0.3, 0.0)

    def place(p):
        return np.stack([p[:, 0] + 0.5 * p[:, 1], np.sqrt(0.75) * p[:, 1], 0 * p[:, 0]], axis=1)

    positions, elements, nodes = mesh((100, 100), (16, 16), plate, THICK[0], place)
    s = Structure.assemble(
        positions, elements, fixed=hold((nodes, ("x", "y", "rz")), (nodes[:, [0, -1]], ("z",)))
    )
    found = deflection(s, pressure(s, (0, 0, 1.0)), int(nodes[8, 8]))
    np.testing.assert_allclose(found * plate.ABD[3, 3] / 1e8, 0.7945e-2, rtol=0.01)


@pytest.mark.parametrize(("kind", "tolerance"), [(THICK[0], 0.01), (THICK[1], 0.05)])
def test_scordelis_lo_roof(kind, tolerance):
    """Barrel vault under its weight, a quarter with 8 x 8: 0.3024 (MacNeal & Harder 1985)."""
    R, L = 25.0, 50.0

    def place(p):
        angle = np.radians(40) * p[:, 1]
        return np.stack([L / 2 * p[:, 0], R * np.sin(angle), R * np.cos(angle)], axis=1)

    positions, elements, nodes = mesh((1, 1), (8, 8), Plate.isotropic(0.25, 4.32e8, 0.0, 0.0), kind, place)
    edges = (nodes[0], ("y", "z")), (nodes[-1], ("x", "ry", "rz")), (nodes[:, 0], ("y", "rx", "rz"))
    s = Structure.assemble(positions, elements, fixed=hold(*edges))
    found = deflection(s, pressure(s, (0, 0, -90.0)), nodes[-1, -1])
    np.testing.assert_allclose(found, -0.3024, rtol=tolerance)


def test_pinched_hemisphere():
    """A quarter of a hemisphere with a hole of 18 degrees, R / h = 250, unit forces in and out: 0.0940 (MacNeal & Harder 1985).

    Hard for elements with drilling rotations, which couple with bending here: 0.0755 with 16 x 16, 0.0921 with 32 x 32.
    """

    def place(p):
        up, around = np.radians(72) * p[:, 1], np.radians(90) * p[:, 0]
        return 10 * np.stack([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)], axis=1)

    positions, elements, nodes = mesh(
        (1, 1), (32, 32), Plate.isotropic(0.04, 6.825e7, 0.3, 0.0), THICK[0], place
    )
    held = hold((nodes[0], ("y", "rx", "rz")), (nodes[-1], ("x", "ry", "rz")), (nodes[16, -1:], ("z",)))
    s = Structure.assemble(positions, elements, fixed=held)
    x, y = int(nodes[0, 0]), int(nodes[-1, 0])
    load = s.rows(x)[0] - s.rows(y)[1]
    np.testing.assert_allclose(s.rows(x)[0] @ Statics(s).solve(load), 0.0940, rtol=0.025)


# laminates


def unit_ply(thickness: float, angle: float, **more: float) -> Ply:
    """Return a layer of the material of Pagano 1970: E1 = 25 E2, G12 = G13 = 0.5 E2, G23 = 0.2 E2, nu12 = 0.25."""
    return Ply(thickness, 25.0, 1.0, 0.25, 0.5, 1.0, np.radians(angle), G13=0.5, G23=0.2, **more)


def five_sixths(plies: list[Ply]) -> np.ndarray:
    """Return 5/6 of the sum of G h, the usual guess."""
    return 5 / 6 * sum(p.thickness * np.linalg.inv(p.shear_compliance) for p in plies)


def cross_ply_deflection(plate: Plate, a: float) -> float:
    """Return w in the middle of a square symmetric cross-ply plate of side a under sin sin pressure: Reddy 2004, section 7.3."""
    D, S, p = plate.ABD[3:, 3:], plate.shear, np.pi / a
    K = np.array([
        [p * p * (S[0, 0] + S[1, 1]), S[0, 0] * p, S[1, 1] * p],
        [S[0, 0] * p, (D[0, 0] + D[2, 2]) * p * p + S[0, 0], (D[0, 1] + D[2, 2]) * p * p],
        [S[1, 1] * p, (D[0, 1] + D[2, 2]) * p * p, (D[2, 2] + D[1, 1]) * p * p + S[1, 1]],
    ])  # fmt: skip
    return float(np.linalg.solve(K, [1.0, 0, 0])[0])


@pytest.mark.parametrize(
    ("slender", "printed", "elasticity"), [(4, 1.7095, 1.954), (10, 0.6627, 0.743), (100, 0.4337, 0.4347)]
)
def test_cross_ply_plate_of_reddy(slender, printed, elasticity):
    """[0/90/90/0], 100 w E2 h^3 / q a^4: printed for first-order theory with 5/6, and for elasticity (Reddy 1984; Pagano & Hatfield 1972).

    The shear stiffness by equilibrium comes nearer to elasticity than 5/6 does.
    """
    plies = [unit_ply(0.25, angle) for angle in (0, 90, 90, 0)]
    own = Plate.laminate(plies)
    usual = dataclasses.replace(own, shear=five_sixths(plies))
    scale = 100 / slender**4
    found = scale * cross_ply_deflection(usual, slender)
    np.testing.assert_allclose(found, printed, atol=6e-5)
    ours = scale * cross_ply_deflection(own, slender)
    assert abs(ours - elasticity) < 0.6 * abs(printed - elasticity)
    n = 16
    positions, elements, nodes = mesh((slender, slender), (n, n), usual, THICK[0])
    x, y = np.r_[nodes[0], nodes[-1]], np.r_[nodes[:, 0], nodes[:, -1]]
    s = Structure.assemble(
        positions, elements, fixed=hold((nodes, ("x", "y", "rz")), (x, ("z", "rx")), (y, ("z", "ry")))
    )
    at = s.samples.position
    load = np.zeros((len(at), 3))
    load[:, 2] = s.samples.area * np.prod(np.sin(np.pi * at[:, :2] / slender), axis=1)
    w = deflection(s, s.samples.translation.T @ load.ravel(), int(nodes[n // 2, n // 2]))
    np.testing.assert_allclose(scale * w, printed, rtol=0.008)  # 16 x 16 elements


def strip_of_elasticity(plies: list[Ply], E3: float, nu13: float, length: float) -> float:
    """Return the mean deflection of a wide strip under sin(pi x / length) pressure on its top, three-dimensional (Pagano 1969).

    Plane strain along y. With u = U cos, w = W sin, sigma_zz = Z sin, tau_xz = X cos (p = pi / length), the state (U, W, Z, X) obeys a
    linear equation in z in each layer; faces without stress but for Z = 1 on top.
    """
    p, T, mid, heights = np.pi / length, np.eye(4), None, 0.0
    total = sum(ply.thickness for ply in plies)
    for ply in plies:
        lengthwise = abs(np.cos(ply.angle)) > 0.5
        E1, E2 = (ply.E1, ply.E2) if lengthwise else (ply.E2, ply.E1)
        nu12 = ply.nu12 if lengthwise else ply.nu12 * ply.E2 / ply.E1
        G = ply.G13 if lengthwise else ply.G23
        C = np.linalg.inv(
            [
                [1 / E1, -nu12 / E1, -nu13 / E1],
                [-nu12 / E1, 1 / E2, -nu13 / E2],
                [-nu13 / E1, -nu13 / E2, 1 / E3],
            ]
        )
        c11, c13, c33 = C[0, 0], C[0, 2], C[2, 2]
        A = np.array([
            [0, -p, 0, 1 / G],
            [c13 / c33 * p, 0, 1 / c33, 0],
            [0, 0, 0, p],
            [(c11 - c13**2 / c33) * p * p, 0, -c13 / c33 * p, 0],
        ])  # fmt: skip
        if mid is None and heights + ply.thickness >= total / 2 - 1e-12:
            mid = expm(A * (total / 2 - heights)) @ T
        T = expm(A * ply.thickness) @ T
        heights += ply.thickness
    start = np.linalg.solve(T[2:, :2], [1.0, 0.0])
    return float((mid[:, :2] @ start)[1])


STRIPS = {
    "one layer": ([Ply(1.0, 1.0, nu12=0.3)], 6, 0.01, 0.3),
    "cross-ply": ([unit_ply(0.25, a) for a in (0, 90, 90, 0)], 10, 0.03, 0.25),
    "sandwich": ([Ply(0.025, 1000.0, nu12=0.3), Ply(0.95, 1.0, nu12=0.3), Ply(0.025, 1000.0, nu12=0.3)], 20, 0.01, 0.3),
    "lopsided sandwich": ([Ply(0.06, 1000.0, nu12=0.3), Ply(0.92, 1.0, nu12=0.3), Ply(0.02, 1000.0, nu12=0.3)], 20, 0.02, 0.3),
}  # fmt: skip


@pytest.mark.parametrize("name", STRIPS)
def test_shear_stiffness_against_three_dimensional_elasticity(name):
    """Wide strips under a sine of pressure: w = 1 / (D k^4) + 1 / (S k^2), with the plate's own S; 5/6 is far off for sandwiches.

    Tolerances: what first-order theory leaves out, of the order (h k)^4, and the squeeze of the core under the load.
    """
    plies, length, tolerance, nu = STRIPS[name]
    plate = Plate.laminate(plies)
    D = plate.bending[0, 0]
    k = np.pi / length
    exact = strip_of_elasticity(
        plies, 1.0 if "sandwich" not in name else 1e4, nu if "sandwich" not in name else 0.0, length
    )
    found = 1 / (D * k**4) + 1 / (plate.shear[0, 0] * k**2)
    assert 1 / (D * k**4) < 0.97 * exact  # shear counts
    np.testing.assert_allclose(found, exact, rtol=tolerance)
    if "sandwich" in name:
        assert 1 / (D * k**4) + 1 / (five_sixths(plies)[0, 0] * k**2) < 0.9 * exact


def test_shear_stiffness_of_simple_sections():
    """5/6 G h of one layer, wherever the nodes are; G (c + t)^2 / c of a sandwich with thin stiff skins."""
    G = E / (2 + 2 * NU)
    np.testing.assert_allclose(steel(0.02).shear, 5 / 6 * G * 0.02 * np.eye(2), rtol=1e-12, atol=1e-3)
    halves = Plate.laminate([Ply(0.01, E, nu12=NU)] * 2, bottom=0.3)
    np.testing.assert_allclose(halves.shear, steel(0.02).shear, rtol=1e-7, atol=1.0)
    skin, core = Ply(2e-4, 7e10, nu12=0.3), Ply(0.02, 1e5, nu12=0.0, G13=2e7, G23=1e7)
    S = Plate.laminate([skin, core, skin]).shear
    np.testing.assert_allclose(S, np.diag([2e7, 1e7]) * 0.0202**2 / 0.02, rtol=1e-3, atol=1e-3)
    turned = Plate.laminate([skin, dataclasses.replace(core, angle=np.pi / 2), skin]).shear
    np.testing.assert_allclose(turned, np.diag(S.diagonal()[::-1]), rtol=1e-9, atol=1e-3)
    rigid = Ply(0.01, E, nu12=NU, G13=np.inf)
    assert Plate.laminate([rigid]).shear is None
    skin = dataclasses.replace(rigid, thickness=1e-4)
    mixed = Plate.laminate([skin, Ply(0.02, 1e6, nu12=0.0), skin]).shear
    np.testing.assert_allclose(mixed, 5e5 * 0.0201**2 / 0.02 * np.eye(2), rtol=1e-3, atol=1.0)


# sandwich panels, bodies, warnings


def sandwich() -> Plate:
    skin = [Ply(1.25e-4, 181e9, 10.3e9, 0.28, 7.17e9, 1600, a) for a in np.radians([0, 45, -45, 90])]
    return Plate.laminate([*skin, Ply(0.02, 1e6, density=50.0), *reversed(skin)])


def strip_frequencies(plate: Plate, length: float, n: int = 120) -> np.ndarray:
    """Return frequencies of a clamped strip that bends and yields to shear, by own beam elements with one-point shear [Hz]."""
    D, S, h = plate.ABD[3, 3], plate.shear[0, 0], length / n  # a wide strip: no curvature across
    K, M = np.zeros((2, 2 * n + 2, 2 * n + 2))
    b, g = np.array([0, -1, 0, 1]) / h, np.array([-1 / h, -0.5, 1 / h, -0.5])
    for e in range(n):
        i = slice(2 * e, 2 * e + 4)
        K[i, i] += D * h * np.outer(b, b) + S * h * np.outer(g, g)
        M[i, i] += np.diag([plate.mass, plate.rotary, plate.mass, plate.rotary]) * h / 2
    return np.sqrt(eigh(K[2:, 2:], M[2:, 2:], eigvals_only=True)[:2]) / (2 * np.pi)


def test_sandwich_panel_yields_to_the_shear_of_its_core():
    """A narrow cantilever against a strip; thin shells are a third too stiff, and a warning says so with the element to take."""
    plate = sandwich()
    exact = strip_frequencies(plate, 2.0)
    free = ("y", "rx", "rz")
    for thick in (True, False):
        s = panel(
            2.0,
            0.05,
            plate,
            elements=(40, 1),
            supports={"root": "all", "left": free, "right": free},
            thick=thick,
        )
        if thick:
            bends = normal_modes(s, 2).hertz
            np.testing.assert_allclose(bends, exact, rtol=0.01)
        else:
            with pytest.warns(DoubtfulResult, match="transverse shear.*MindlinQuadrilateral"):
                assert normal_modes(s, 1).hertz[0] > 1.3 * exact[0]


def test_thin_shells_of_metal_do_not_warn_where_they_are_thin():
    s = panel(2.0, 1.0, steel(0.01), elements=(8, 8), supports={"root": "all"})
    assert normal_modes(s, 8).omega[0] > 0


def test_a_thick_panel_is_a_body_of_a_mechanism():
    """Rigid inertia; on a free joint the lowest frequency is that of the free panel, from above: its root edge stays straight."""
    plate, L, width = sandwich(), 1.0, 0.4
    s = panel(L, width, plate, elements=(10, 4), supports={"root": "all"}, thick=True)
    body = modes_of(s, normal_modes(s, 12).shapes, origin=(0, 0, 0), stations={"tip": "node10_2"})
    assert body.level == "consistent"
    craft = art.Mechanism("craft", gravity=(0, 0, 0)).flexible("panel", body)
    craft.joint("base", art.Free(), parent="ground", child="panel")
    M = craft.mass_matrix(craft.neutral)
    mass = plate.mass * L * width
    np.testing.assert_allclose(M[2, 2], mass * (L**2 / 3 + width**2 / 12), rtol=1e-12)
    np.testing.assert_allclose(M[0, 0], mass * width**2 / 12 + plate.rotary * L * width, rtol=1e-12)
    K = np.zeros_like(M)
    K[6:, 6:] = body.stiffness
    found = np.sqrt(eigh(K, M, eigvals_only=True)[6])
    free = normal_modes(s.whole, 8).elastic.omega[0]
    assert free < found < 1.06 * free
    assert body.rr2_shortening[0, 0, 2, 2] < 0  # bending pulls mass towards the axis of spin


# bad input


def test_messages():
    corners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    bare = Plate(steel(0.01).ABD, 1.0)
    with pytest.raises(
        InputError, match=r"MindlinQuadrilateral\(0, 1, 2, 3\): its plate has no transverse shear stiffness"
    ):
        Structure.assemble(corners, [MindlinQuadrilateral(0, 1, 2, 3, bare)])
    slips = Plate.laminate([Ply(1e-3, 7e10), Ply(0.02, 1e6, G12=0.0), Ply(1e-3, 7e10)])
    with pytest.raises(
        InputError, match=r"MindlinTriangle\(0, 1, 2\): the transverse shear stiffness .* zero.*G13"
    ):
        Structure.assemble(corners, [MindlinTriangle(0, 1, 2, slips)])
    with pytest.raises(InputError, match="convex polygon"):
        Structure.assemble(corners, [MindlinQuadrilateral(0, 2, 1, 3, steel(0.01))])
    with pytest.raises(InputError, match="thickness = 0"):
        Plate.laminate([Ply(1e-3, 7e10), Ply(0.0, 1e6)])
    with pytest.raises(InputError, match="G13 = -1"):
        Ply(1e-3, 7e10, G13=-1.0)
    with pytest.raises(InputError, match="negative energy"):
        dataclasses.replace(steel(0.01), shear=-np.eye(2))
    with pytest.raises(InputError, match=r"shear of shape \(3, 3\)"):
        dataclasses.replace(steel(0.01), shear=np.eye(3))
