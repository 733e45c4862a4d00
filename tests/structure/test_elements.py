"""Elements: rigid motion, patch tests, closed forms of frequencies, any orientation."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.spatial.transform import Rotation

from articulus.errors import InputError
from articulus.structure import (
    Bar,
    EulerBernoulli,
    Lumped,
    Section,
    Spring,
    Statics,
    Structure,
    Timoshenko,
    beam,
    normal_modes,
)
from articulus.structure.solution import rigid_motions

SECTION = Section(2.0, 3e3, 5.0, 7.0, 4.0, 90.0, 80.0, (0.03, 0.01, 0.02))


def random_frame(seed: int, kind=EulerBernoulli, bodies: bool = True) -> Structure:
    """A spatial frame of elements in all directions."""
    rng = np.random.default_rng(seed)
    positions = rng.normal(size=(6, 3))
    pairs = [(0, 1), (1, 2), (2, 3), (1, 4), (4, 5), (5, 0)]
    section = dataclasses.replace(SECTION, rotary=(0.0, 0.01, 0.02)) if kind is Bar else SECTION
    elements = [kind(a, b, section, up=rng.normal(size=3)) for a, b in pairs]
    if bodies:
        elements += [Lumped(2, 1.5, (0.3, 0.4, 0.5, 0.01, 0.02, -0.03), (0.1, -0.2, 0.3)), Lumped(5, 0.4)]
    return Structure.assemble(positions, elements)


@pytest.mark.parametrize("kind", [EulerBernoulli, Timoshenko, Bar])
@pytest.mark.parametrize("seed", range(3))
def test_rigid_motion_costs_no_force_and_carries_the_rigid_inertia(kind, seed):
    s = random_frame(seed, kind, bodies=kind is not Bar)
    R = s.rigid()
    assert np.abs(s.K @ R).max() < 1e-11 * abs(s.K).max()
    rotary = s.samples.inertia.sum(axis=0)
    r, m = s.samples.position, s.samples.mass
    inertia = np.einsum(
        "p,pab->ab", m, (r**2).sum(1)[:, None, None] * np.eye(3) - r[:, :, None] * r[:, None, :]
    )
    G = R.T @ s.M @ R
    np.testing.assert_allclose(G[:3, :3], inertia + rotary, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(G[3:, 3:], m.sum() * np.eye(3), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose((G[2, 4], G[0, 5], G[1, 3]), m @ r, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("kind", [EulerBernoulli, Timoshenko])
def test_matrices_turn_with_the_structure(kind):
    rng = np.random.default_rng(4)
    turn = Rotation.random(rng=rng).as_matrix()
    positions, up = rng.normal(size=(2, 3)), rng.normal(size=3)
    here = Structure.assemble(positions, [kind(0, 1, SECTION, up)])
    there = Structure.assemble(positions @ turn.T, [kind(0, 1, SECTION, turn @ up)])
    T = block_diag(*(turn,) * 4)
    np.testing.assert_allclose(there.K.toarray(), T @ here.K.toarray() @ T.T, atol=1e-10 * abs(here.K).max())
    np.testing.assert_allclose(there.M.toarray(), T @ here.M.toarray() @ T.T, atol=1e-12)


def test_printed_element_matrices():
    """Bending matrices of a beam: King 1988, section 3 (corrected), for (y, rz) of both ends."""
    EI, m, l = 7.0, 2.0 * 0.8, 0.8
    s = Structure.assemble([[0, 0, 0], [l, 0, 0]], [EulerBernoulli(0, 1, Section(2.0, 3e3, 5.0, EI, 4.0))])
    at = [*s.where(0, ("y", "rz")), *s.where(1, ("y", "rz"))]
    K = EI / l**3 * np.array([[12, 6*l, -12, 6*l], [6*l, 4*l**2, -6*l, 2*l**2], [-12, -6*l, 12, -6*l], [6*l, 2*l**2, -6*l, 4*l**2]])  # fmt: skip
    M = m / 420 * np.array([[156, 22*l, 54, -13*l], [22*l, 4*l**2, 13*l, -3*l**2], [54, 13*l, 156, -22*l], [-13*l, -3*l**2, -22*l, 4*l**2]])  # fmt: skip
    np.testing.assert_allclose(s.K.toarray()[np.ix_(at, at)], K, rtol=1e-12)
    np.testing.assert_allclose(s.M.toarray()[np.ix_(at, at)], M, rtol=1e-12)


@pytest.mark.parametrize("kind", [EulerBernoulli, Timoshenko])
def test_patch_constant_strains_come_out_exactly(kind):
    """Unequal elements under end loads: one force of each kind gives the tip displacement of the closed form."""
    x = np.array([0.0, 0.3, 0.45, 1.1, 2.0])
    L = x[-1]
    s = Structure.assemble(
        np.outer(x, [1, 0, 0]), [kind(i, i + 1, SECTION) for i in range(4)], fixed={0: "all"}
    )
    rows, c = s.rows(4), SECTION
    shear = np.array([L / c.GAy, L / c.GAz]) if kind is Timoshenko else np.zeros(2)
    expected = [
        L / c.EA,
        L**3 / (3 * c.EIz) + shear[0],
        L**3 / (3 * c.EIy) + shear[1],
        L / c.GJ,
        L / c.EIy,
        L / c.EIz,
    ]
    found = np.diag(rows @ Statics(s).solve(rows.T))
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    bent = s.samples.strain @ Statics(s).solve(rows[5])
    np.testing.assert_allclose(bent.reshape(-1, 6)[:, 5], 1 / c.EIz, rtol=1e-9)


def test_cantilever_frequencies():
    """beta L = 1.87510407, 4.69409113, 7.85475744; cubics converge from above with the fourth power of the element length."""
    s = beam(2.0, EI=30.0, mass_per_length=1.5, elements=24, planes="y")
    beta = np.array([1.87510407, 4.69409113, 7.85475744])
    exact = beta**2 * np.sqrt(30.0 / (1.5 * 2.0**4))
    found = normal_modes(s, 3).omega
    assert (found > exact * (1 - 1e-7)).all()
    np.testing.assert_allclose(found, exact, rtol=1e-5)
    coarse = normal_modes(beam(2.0, EI=30.0, mass_per_length=1.5, elements=12, planes="y"), 3).omega
    assert 14 < ((coarse - exact) / (found - exact))[2] < 18


def test_pinned_free_link():
    """Second link of Ledesma & Bayo 1993: 5.898, 19.13, 40.07 Hz with six elements."""
    EI, m = 14e9 * 8.5e-12, 2715 * 4.0e-5
    s = beam(0.66, EI=EI, mass_per_length=m, elements=6, planes="y", root="pinned")
    assert rigid_motions(s).shape[1] == 1
    np.testing.assert_allclose(normal_modes(s, 4).hertz, [0.0, 5.898, 19.13, 40.07], rtol=5e-4)


def test_timoshenko_beam_simply_supported():
    """Closed form for supported ends, w from (m J / GA) w^4 - (m + (m EI / GA + J) k^2) w^2 + EI k^4 = 0.

    The error falls with the square of the element length; the limit of 20 and 40 elements is exact to its fourth power.
    """
    EI, GA, m, J, L = 2.0, 40.0, 1.0, 0.02, 1.0

    def frequencies(elements):
        s = beam(L, EI=EI, GA=GA, mass_per_length=m, rotary_inertia=J, elements=elements, planes="y", root="pinned", tip="pinned")  # fmt: skip
        return normal_modes(s.keep(np.flatnonzero(s.dofs[:, 1] != 0)), 2).omega

    coarse, fine = frequencies(20), frequencies(40)
    k = np.array([1, 2]) * np.pi / L
    a, b, c = m * J / GA, m + (m * EI / GA + J) * k**2, EI * k**4
    exact = np.sqrt((b - np.sqrt(b**2 - 4 * a * c)) / (2 * a))
    np.testing.assert_allclose((4 * fine - coarse) / 3, exact, rtol=1e-5)
    np.testing.assert_allclose((coarse - exact) / (fine - exact), 4, rtol=0.02)


def test_truss_and_springs():
    """Two bars at right angles carry a joint like two springs; rotations of a truss are left out."""
    s = Structure.assemble(
        [[0, 0, 0], [1, 0, 0], [1, -2, 0]],
        [Bar(0, 1, Section(0.1, 50.0)), Bar(2, 1, Section(0.1, 50.0)), Spring(1, None, (0, 0, 3.0, 0, 0, 0))],
        fixed={0: "all", 2: "all"},
    )
    assert s.dofs.tolist() == [[1, 0], [1, 1], [1, 2]]
    np.testing.assert_allclose(s.K.toarray(), np.diag([50.0, 25.0, 3.0]), atol=1e-12)


def test_messages():
    nodes = [[0, 0, 0], [1, 0, 0]]
    with pytest.raises(InputError, match=r"no node 'tap' in this structure; did you mean 'tip'\?"):
        Structure.assemble(nodes, [Bar("root", "tap", SECTION)], names=("root", "tip"))
    with pytest.raises(InputError, match="at the same place"):
        Structure.assemble([[0, 0, 0], [0, 0, 0]], [Bar(0, 1, SECTION)])
    with pytest.raises(InputError, match="points along the element"):
        Structure.assemble(nodes, [EulerBernoulli(0, 1, SECTION, up=(1, 0, 0))])
    with pytest.raises(InputError, match="no degree of freedom 'rw'"):
        Structure.assemble(nodes, [EulerBernoulli(0, 1, SECTION)], fixed={0: ("rw",)})
    with pytest.raises(InputError, match="shape"):
        Structure.assemble([[0, 0], [1, 0]], [EulerBernoulli(0, 1, SECTION)])
