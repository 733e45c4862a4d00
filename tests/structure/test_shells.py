"""Thin shells: rigid motion, patch tests, textbook deflections, frequencies and buckling loads, stiffening by spin."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.linalg import block_diag, eigh
from scipy.sparse.linalg import eigsh
from scipy.spatial.transform import Rotation
from shell_meshes import KINDS, deflection, hold, mesh, pressure

from articulus.errors import InputError
from articulus.structure import (
    EulerBernoulli,
    Plate,
    Section,
    ShellQuadrilateral,
    ShellTriangle,
    Statics,
    Structure,
    beam_body,
    modes_of,
    normal_modes,
    panel,
)
from articulus.structure.plate import Ply
from articulus.structure.solution import rigid_motions

GRAPHITE = Ply(1.25e-3, 181e9, 10.3e9, 0.28, 7.17e9, 1600.0)
SKEW = Plate.laminate([dataclasses.replace(GRAPHITE, angle=a) for a in (0.0, 0.5, -0.8)])
STEEL = Plate.isotropic(0.01, 2e11, 0.3, 7800.0)


@pytest.mark.parametrize("kind", KINDS)
def test_rigid_motion_of_a_warped_shell_is_free_and_carries_the_rigid_inertia(kind):
    rng = np.random.default_rng(2)
    positions, elements, _ = mesh((1.2, 0.9), (3, 3), SKEW, kind, skewed=0.2)
    positions = positions + rng.normal(scale=0.05, size=positions.shape)
    s = Structure.assemble(positions, elements)
    assert rigid_motions(s).shape[1] == 6
    R = s.rigid()
    assert np.abs(s.K @ R).max() < 1e-12 * abs(s.K).max()
    r, m = s.samples.position, s.samples.mass
    inertia = np.einsum(
        "p,pab->ab", m, (r**2).sum(1)[:, None, None] * np.eye(3) - r[:, :, None] * r[:, None, :]
    )
    G = R.T @ s.M @ R
    np.testing.assert_allclose(G[:3, :3], inertia + s.samples.inertia.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(G[3:, 3:], m.sum() * np.eye(3), atol=1e-12 * m.sum())


@pytest.mark.parametrize("kind", [ShellTriangle, ShellQuadrilateral])
def test_only_rigid_motion_costs_nothing(kind):
    """No mode without energy but the six rigid ones, in a single element of any shape; the drilling rotation is not loose."""
    corners = np.array([[0, 0, 0], [1.1, 0.1, 0], [0.9, 0.8, 0], [-0.2, 0.7, 0]])[
        : 3 + (kind is ShellQuadrilateral)
    ]
    s = Structure.assemble(corners, [kind(*range(len(corners)), STEEL)])
    size = np.sqrt(s.K.diagonal())
    energies = np.linalg.eigvalsh(s.K.toarray() / np.outer(size, size))
    assert np.abs(energies[:6]).max() < 1e-13
    assert energies[6] > 1e-3


@pytest.mark.parametrize("kind", KINDS)
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
        found = (s.samples.force @ q.ravel()).reshape(-1, 6)[s.samples.area > 0]
        np.testing.assert_allclose(
            found,
            np.tile(SKEW.ABD @ state, (len(found), 1)),
            rtol=1e-9,
            atol=1e-9 * abs(SKEW.ABD @ state).max(),
        )


@pytest.mark.parametrize("kind", [ShellTriangle, ShellQuadrilateral])
def test_matrices_turn_with_the_shell(kind):
    rng = np.random.default_rng(4)
    turn = Rotation.random(rng=rng).as_matrix()
    k = 3 + (kind is ShellQuadrilateral)
    corners = np.array([[0, 0, 0.05], [1, 0, 0], [1.1, 0.8, 0.05], [-0.1, 0.7, 0]])[:k]
    here = Structure.assemble(corners, [kind(*range(k), SKEW, along=(1, 2, 0))])
    there = Structure.assemble(corners @ turn.T, [kind(*range(k), SKEW, along=turn @ (1, 2, 0))])
    T = block_diag(*(turn,) * (2 * k))
    for A, B in ((here.K, there.K), (here.M, there.M)):
        np.testing.assert_allclose(B.toarray(), T @ A.toarray() @ T.T, atol=1e-12 * abs(A).max())


# textbook deflections


@pytest.mark.parametrize(("kind", "tolerance"), [("quadrilaterals", 0.01), ("triangles", 0.05)])
def test_scordelis_lo_roof(kind, tolerance):
    """Barrel vault under its weight, a quarter with 8 x 8: 0.3024 (MacNeal & Harder 1985); thin shells converge to 0.3006."""
    R, L = 25.0, 50.0

    def place(p):
        angle = np.radians(40) * p[:, 1]
        return np.stack([L / 2 * p[:, 0], R * np.sin(angle), R * np.cos(angle)], axis=1)

    positions, elements, nodes = mesh((1, 1), (8, 8), Plate.isotropic(0.25, 4.32e8, 0.0, 0.0), kind, place)
    edges = (nodes[0], ("y", "z")), (nodes[-1], ("x", "ry", "rz")), (nodes[:, 0], ("y", "rx", "rz"))
    s = Structure.assemble(positions, elements, fixed=hold(*edges))
    found = deflection(s, pressure(s, (0, 0, -90.0)), nodes[-1, -1])
    np.testing.assert_allclose(found, -0.3024, rtol=tolerance)


@pytest.mark.parametrize("kind", KINDS)
def test_pinched_cylinder_with_end_diaphragms(kind):
    """An eighth with 16 x 16 elements: 1.8248e-5 (MacNeal & Harder 1985), which 16 x 16 good elements reach within two percent."""
    R, L = 300.0, 600.0

    def place(p):
        angle = np.radians(90) * p[:, 1]
        return np.stack([L / 2 * p[:, 0], R * np.sin(angle), R * np.cos(angle)], axis=1)

    positions, elements, nodes = mesh((1, 1), (16, 16), Plate.isotropic(3.0, 3e6, 0.3, 0.0), kind, place)
    edges = (
        (nodes[0], ("y", "z")), (nodes[-1], ("x", "ry", "rz")), (nodes[:, 0], ("y", "rx", "rz")), (nodes[:, -1], ("z", "rx", "ry"))
    )  # fmt: skip
    s = Structure.assemble(positions, elements, fixed=hold(*edges))
    top = int(nodes[-1, 0])
    np.testing.assert_allclose(deflection(s, -0.25 * s.rows(top)[2], top), -1.8248e-5, rtol=0.02)


@pytest.mark.parametrize(("kind", "tolerance"), [("quadrilaterals", 0.02), ("triangles", 0.045)])
def test_cook_membrane(kind, tolerance):
    """Tapered panel in shear, 8 x 8: the middle of its end moves by 23.96 (limit of fine meshes; Cook et al. 2002)."""

    def place(p):
        return np.stack([48 * p[:, 0], p[:, 1] * (44 - 28 * p[:, 0]) + 44 * p[:, 0], 0 * p[:, 0]], axis=1)

    positions, elements, nodes = mesh((1, 1), (8, 8), Plate.isotropic(1.0, 1.0, 1 / 3, 0.0), kind, place)
    s = Structure.assemble(positions, elements, fixed=hold((nodes[0], ("x", "y", "rz"))), plane="xy")
    shares = np.array([0.5, *[1.0] * 7, 0.5]) / 8
    load = sum(w * s.rows(int(i))[1] for w, i in zip(shares, nodes[-1]))
    np.testing.assert_allclose(deflection(s, load, nodes[-1, 4], 1), 23.96, rtol=tolerance)


# frequencies


def edges_of(nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate([nodes[0], nodes[-1]]), np.concatenate([nodes[:, 0], nodes[:, -1]])


@pytest.mark.parametrize("kind", KINDS)
def test_frequencies_of_square_plates(kind):
    """Supported: pi^2 (m^2 + n^2); clamped at one side: 3.4710, 8.5066, 21.285, 27.199, 30.955; clamped: 35.985, 73.394, 73.394.

    In sqrt(D / rho h) / a^2, nu = 0.3: converged values; Leissa's Ritz values (1973), see the case square_plates, are upper
    bounds, 3.4917 for the first. 16 x 16 elements; errors fall with the square of their size.
    """
    positions, elements, nodes = mesh((1, 1), (16, 16), STEEL, kind)
    free = Structure.assemble(positions, elements).fix(hold((nodes, ("x", "y", "rz"))))
    unit = np.sqrt(STEEL.ABD[3, 3] / STEEL.mass)
    x, y = edges_of(nodes)
    supported = free.fix(hold((x, ("z", "rx")), (y, ("z", "ry"))))
    np.testing.assert_allclose(normal_modes(supported, 4).omega / unit / np.pi**2, [2, 5, 5, 8], rtol=0.012)
    cantilever = normal_modes(free.fix(hold((nodes[0], ("z", "rx", "ry")))), 5).omega / unit
    np.testing.assert_allclose(cantilever, [3.4710, 8.5066, 21.285, 27.199, 30.955], rtol=0.002)
    clamped = normal_modes(free.fix(hold((x, ("z", "rx", "ry")), (y, ("z", "rx", "ry")))), 3).omega / unit
    np.testing.assert_allclose(clamped, [35.985, 73.394, 73.394], rtol=0.008)


# laminates


def test_printed_stiffness_of_a_laminate():
    """Kaw 2006, example 4.2: graphite/epoxy [0/30/-45], plies of 5 mm; four printed digits."""
    plies = [dataclasses.replace(GRAPHITE, thickness=5e-3, angle=np.radians(a)) for a in (0, 30, -45)]
    A = [[1.739e9, 3.884e8, 5.663e7], [3.884e8, 4.533e8, -1.141e8], [5.663e7, -1.141e8, 4.525e8]]
    B = [[-3.129e6, 9.855e5, -1.072e6], [9.855e5, 1.158e6, -1.072e6], [-1.072e6, -1.072e6, 9.855e5]]
    D = [[3.343e4, 6.461e3, -5.240e3], [6.461e3, 9.320e3, -5.596e3], [-5.240e3, -5.596e3, 7.663e3]]
    np.testing.assert_allclose(
        Plate.laminate(plies).ABD,
        np.block([[np.array(A), np.array(B)], [np.array(B), np.array(D)]]),
        rtol=5e-4,
    )


def test_turning_and_shifting_a_laminate():
    angle, height = 0.7, 0.02
    turned = Plate.laminate([dataclasses.replace(GRAPHITE, angle=a + angle) for a in (0.0, 0.5, -0.8)])
    np.testing.assert_allclose(SKEW.turn(angle).ABD, turned.ABD, atol=1e-9 * turned.ABD.max())
    raised = Plate.laminate(
        [dataclasses.replace(GRAPHITE, angle=a) for a in (0.0, 0.5, -0.8)], bottom=height - 1.5 * 1.25e-3
    )
    found = SKEW.shift(height)
    np.testing.assert_allclose(found.ABD, raised.ABD, rtol=1e-9, atol=1e-9 * abs(raised.ABD).max())
    np.testing.assert_allclose((found.center, found.rotary), (raised.center, raised.rotary), rtol=1e-9)


def navier(plate: Plate, a: float, b: float, angles: bool, m: int = 1, n: int = 1) -> np.ndarray:
    """Return the stiffness against the amplitudes (U, V, W) of Navier's solution, (3, 3): Reddy 2004, sections 6.3 and 6.4."""
    A, B, D = plate.ABD[:3, :3], plate.ABD[:3, 3:], plate.ABD[3:, 3:]
    p, q = m * np.pi / a, n * np.pi / b
    s13, s23 = (
        -B[0, 0] * p**3 - (B[0, 1] + 2 * B[2, 2]) * p * q**2,
        -(B[0, 1] + 2 * B[2, 2]) * p**2 * q - B[1, 1] * q**3,
    )
    if angles:
        s13, s23 = -(3 * B[0, 2] * p**2 * q + B[1, 2] * q**3), -(B[0, 2] * p**3 + 3 * B[1, 2] * p * q**2)
    s12 = (A[0, 1] + A[2, 2]) * p * q
    s33 = D[0, 0] * p**4 + 2 * (D[0, 1] + 2 * D[2, 2]) * p**2 * q**2 + D[1, 1] * q**4
    return np.array([
        [A[0, 0] * p**2 + A[2, 2] * q**2, s12, s13], [s12, A[2, 2] * p**2 + A[1, 1] * q**2, s23], [s13, s23, s33]
    ])  # fmt: skip


@pytest.mark.parametrize(("angles", "lay_up"), [(False, (0, 90)), (True, (45, -45)), (True, (30, -30))])
def test_coupled_laminates_against_navier(angles, lay_up):
    """Antisymmetric cross-ply and angle-ply plates on supports that let their edges slide: lowest frequency, 12 x 12 elements."""
    plies = [dataclasses.replace(GRAPHITE, angle=np.radians(a)) for a in lay_up]
    plate, a, b = Plate.laminate(plies), 0.6, 0.4
    positions, elements, nodes = mesh((a, b), (12, 12), plate)
    x, y = edges_of(nodes)
    slide = ("u", "v") if angles else ("v", "u")
    held = {"u": "x", "v": "y"}
    s = Structure.assemble(
        positions, elements, fixed=hold((x, ("z", "rx", held[slide[0]])), (y, ("z", "ry", held[slide[1]])))
    )
    S = navier(plate, a, b, angles)
    inertia = np.diag([plate.mass, plate.mass, plate.mass + plate.rotary * np.pi**2 * (a**-2 + b**-2)])
    exact = np.sqrt(eigh(S, inertia, eigvals_only=True)[0])
    uncoupled = np.sqrt(S[2, 2] / inertia[2, 2])
    assert uncoupled > 1.2 * exact  # the coupling counts
    modes = normal_modes(s, 8)
    first = modes.omega[modes.omega > 0][0]
    np.testing.assert_allclose(first, exact, rtol=0.02)


# forces in the surface


@pytest.mark.parametrize("kind", KINDS)
def test_buckling_of_a_supported_plate(kind):
    """Compressed along one direction: N = 4 pi^2 D / b^2 (Timoshenko & Gere 1961, section 9.2); 12 x 12 elements."""
    positions, elements, nodes = mesh((1, 1), (12, 12), STEEL, kind)
    x, y = edges_of(nodes)
    s = Structure.assemble(
        positions, elements, fixed=hold((nodes[0], ("x",)), (nodes[0, :1], ("y",)), (x, ("z", "rx")), (y, ("z", "ry")), (nodes[0], ("rz",)))
    )  # fmt: skip
    shares = np.array([0.5, *[1.0] * 11, 0.5]) / 12
    load = -sum(w * s.rows(int(i))[0] for w, i in zip(shares, nodes[-1]))
    forces = s.samples.section_forces(Statics(s).solve(load), np.zeros(3 * len(s.samples.mass)))
    critical = (
        -1 / eigsh(s.samples.geometric_stiffness(forces), 1, s.K, which="SA", return_eigenvectors=False)[0]
    )
    np.testing.assert_allclose(critical, 4 * np.pi**2 * STEEL.ABD[3, 3], rtol=0.02)


def test_a_narrow_strip_stiffens_by_spin_like_a_beam():
    """Integrals of the shortening over the mass are those of the same beam, which has its own tests against printed numbers."""
    L, width, h, E = 1.0, 0.02, 0.002, 7e10
    positions, elements, nodes = mesh((L, width), (24, 1), Plate.isotropic(h, E, 0.0, 2700.0))
    s = Structure.assemble(
        positions - [0, width / 2, 0], elements, fixed=hold((nodes[0], ("x", "y", "z", "rx", "ry", "rz")))
    )
    strip = modes_of(s, normal_modes(s, 2).shapes, origin=(0, 0, 0), stations={})
    beam = beam_body(
        L, EI=E * width * h**3 / 12, mass_per_length=2700 * width * h, modes=2, planes="z", elements=24
    )
    np.testing.assert_allclose(np.sqrt(np.diag(strip.stiffness)), np.sqrt(np.diag(beam.stiffness)), rtol=2e-3)
    sign = np.sign(np.diag(strip.rf0[5] / beam.rf0[5]))
    for ours, theirs in (
        (strip.rr2_shortening[:, :, 1, 1], sign @ beam.rr2_shortening[:, :, 1, 1] @ sign),
        (strip.rf1_shortening[:, 3, :], sign @ beam.rf1_shortening[:, 3, :] @ sign),
    ):
        size = np.sqrt(np.outer(np.diag(theirs), np.diag(theirs)))
        assert np.abs((ours - theirs) / size).max() < 3e-3  # 24 elements; the error falls with their square


def test_shells_and_beams_share_nodes():
    """A strip with a beam behind it has the tip compliance of both; beams before and after shells in the list."""
    plate = Plate.isotropic(0.002, 7e10, 0.0, 2700.0)
    positions, elements, nodes = mesh((1.0, 0.02), (10, 1), plate)
    EI = 7e10 * 0.02 * 0.002**3 / 12
    stiff = Section(1.0, 1e6, 1e2, 1e2, 1e2)
    tip = len(positions)
    positions = np.vstack([positions, [[1.0, 0.01, 0], [2.0, 0.01, 0]]])
    joins = [EulerBernoulli(int(i), tip, stiff) for i in nodes[-1]]
    s = Structure.assemble(
        positions, [*joins, *elements, EulerBernoulli(tip, tip + 1, Section(0.1, 1e6, EI, EI, 1.0))],
        fixed=hold((nodes[0], ("x", "y", "z", "rx", "ry", "rz"))),
    )  # fmt: skip
    load = s.rows(tip + 1)[2]
    np.testing.assert_allclose(deflection(s, load, tip + 1), 8 / (3 * EI), rtol=2e-3)


def test_messages():
    corners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    with pytest.raises(InputError, match="convex polygon"):
        Structure.assemble(corners, [ShellQuadrilateral(0, 2, 1, 3, STEEL)])
    with pytest.raises(InputError, match=r"ShellTriangle\(0, 1, 2\): along"):
        Structure.assemble(corners, [ShellTriangle(0, 1, 2, STEEL, along=(0, 0, 1))])
    with pytest.raises(InputError, match="nodes that differ"):
        Structure.assemble(corners, [ShellTriangle(0, 1, 1, STEEL)])
    with pytest.raises(InputError, match="axes 1 and 2 swapped"):
        Ply(1e-3, 1e9, 1e11, 0.3)
    with pytest.raises(InputError, match="no ply"):
        Plate.laminate([])
    with pytest.raises(InputError, match="thickness = 0"):
        Plate.isotropic(0.0, 1e9, 0.3, 1.0)
    with pytest.raises(InputError, match="negative energy"):
        Plate(-np.eye(6), 1.0)


def test_panel_in_one_call():
    """The lowest frequency of a supported plate, and the corners of the mesh; an edge that is not there is named."""
    s = panel(2.0, 1.0, STEEL, elements=(12, 8), supports={"root": ("z", "rx"), "tip": ("z", "rx"), "right": ("z", "ry"), "left": ("z", "ry")})  # fmt: skip
    np.testing.assert_allclose(s.positions[s.node("node12_8")], (2.0, 0.5, 0.0))
    first = normal_modes(s, 4).omega[3]  # three rigid motions in the plane
    np.testing.assert_allclose(first, np.pi**2 * 1.25 * np.sqrt(STEEL.ABD[3, 3] / STEEL.mass), rtol=0.015)
    with pytest.raises(InputError, match="no edge 'top'"):
        panel(2.0, 1.0, STEEL, supports={"top": "all"})
