"""Statics, modes, frequency response, participation, linear systems."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigvals

from articulus.errors import InputError
from articulus.structure import (
    Bar,
    EulerBernoulli,
    Lumped,
    Section,
    Statics,
    Structure,
    beam,
    frequency_response,
    modal,
    normal_modes,
    state_space,
)
from articulus.structure.solution import NormalModes, rigid_motions
from articulus.structure.solution.participation import participation


def cantilever(elements: int = 10, **more) -> Structure:
    return beam(1.5, EI=4.0, mass_per_length=0.8, elements=elements, planes="y", **more)


@pytest.mark.parametrize(("root", "tip", "rigid"), [("clamped", "free", 0), ("pinned", "free", 1), ("free", "free", 3), ("pinned", "pinned", 0)])  # fmt: skip
def test_rigid_motions(root, tip, rigid):
    s = cantilever(root=root, tip=tip)
    N = rigid_motions(s)
    assert N.shape[1] == rigid
    np.testing.assert_allclose(N.T @ s.M @ N, np.eye(rigid), atol=1e-9)
    assert np.count_nonzero(normal_modes(s, 4).omega == 0) == min(rigid, 4)


def test_inertia_relief_balances_the_load():
    """A free rod pulled at one end: tension falls linearly, the other end lags by L / (2 EA), and no rigid part is left."""
    s = beam(2.0, EI=1.0, EA=50.0, mass_per_length=3.0, elements=8, planes="y", root="free")
    force = s.rows(8)[0]
    u = Statics(s).solve(force)
    np.testing.assert_allclose((s.rows(8) - s.rows(0))[0] @ u, 2.0 / (2 * 50.0), rtol=1e-9)
    np.testing.assert_allclose(rigid_motions(s).T @ s.M @ u, 0, atol=1e-12)
    np.testing.assert_allclose(s.K @ u, Statics(s).relieve(force), atol=1e-9)


def test_sparse_and_dense_solver_agree():
    large = beam(1.0, EI=1.0, mass_per_length=1.0, elements=150, planes="y")
    assert large.count > 400
    few = normal_modes(large, 4)
    all_of_them = normal_modes(large)
    np.testing.assert_allclose(few.omega, all_of_them.omega[:4], rtol=1e-6)
    np.testing.assert_allclose(few.shapes.T @ large.M @ few.shapes, np.eye(4), atol=1e-8)
    np.testing.assert_allclose(few.omega[0], 1.87510407**2, rtol=1e-6)


def test_massless_dofs_follow_statically():
    """A heavy tip on a massless beam: one frequency, sqrt(3 EI / (m L^3))."""
    section = Section(0.0, 1e4, 2.0, 2.0, 1.0)
    parts = [*(EulerBernoulli(i, i + 1, section) for i in range(3)), Lumped(3, 5.0)]
    s = Structure.assemble(np.outer(range(4), [0.5, 0, 0]), parts, fixed={0: "all"}, plane="xy")
    found = normal_modes(s)
    assert len(found.omega) == 2
    np.testing.assert_allclose(found.omega[0], np.sqrt(3 * 2.0 / (5.0 * 1.5**3)), rtol=1e-9)
    with pytest.raises(InputError, match="carry mass"):
        normal_modes(s, 3)


def test_frequency_response_agrees_with_the_state_space_and_with_statics():
    s = cantilever(4).with_rayleigh_damping(0.1, 1e-3)
    s = s.with_input("push", "node4", {"y": 1.0}).with_output("tip", "node4", {"y": 1.0})
    s = s.with_output("speed", "node2", {"y": 2.0}, rate=True)
    omega = np.array([0.0, 3.0, 20.0, 55.0])
    found = frequency_response(s, omega)
    system = state_space(s)
    assert system.inputs == ("push",)
    assert system.outputs == ("tip", "speed")
    # a rate at rest is a difference of terms as large as the stiffness: rounding leaves some 1e-11 of the largest response
    allowed = 1e-10 * np.abs(found).max()
    np.testing.assert_allclose(found, system.response(omega), rtol=1e-7, atol=allowed)
    theirs = system.to_control()(
        1j * omega, squeeze=False
    )  # python-control's evaluation of the same matrices
    np.testing.assert_allclose(found, np.moveaxis(theirs, -1, 0), rtol=1e-7, atol=allowed)
    np.testing.assert_allclose(found[0, 0, 0], 1.5**3 / (3 * 4.0), rtol=1e-9)


def test_opposite_moments_measure_and_make_curvature():
    """A pair of piezos on an element: input and output of the same rows; the gauge shows M / EI at its middle under a tip force."""
    s, h = cantilever(10), 0.15
    for node, sign in (("node3", 1), ("node2", -1)):
        s = s.with_output("gauge", node, {"rz": sign / h}).with_input("piezo", node, {"rz": sign / h})
    np.testing.assert_allclose(s.H[0], s.B[:, 0])
    bent = s.H @ Statics(s).solve(s.rows(10)[1])
    np.testing.assert_allclose(bent, (1.5 - 2.5 * h) / 4.0, rtol=1e-9)


def test_effective_masses_add_up():
    """All modes together hold the mass that moves: everything but the share of the clamped node."""
    s = beam(2.0, EI=4.0, mass_per_length=0.8, elements=6, tip_mass=0.3, tip_inertia=(0.1, 0.1, 0.1))
    modes = normal_modes(s)
    p = participation(s, modes)
    R = s.rigid()
    moving = np.diag(R.T @ s.M @ np.linalg.solve(s.M.toarray(), s.M @ R))
    np.testing.assert_allclose(p.effective.sum(axis=1)[1:], np.diag(_exact(s))[1:], rtol=1e-8)
    np.testing.assert_allclose(p.total[3:], 2.0 * 0.8 + 0.3)
    assert (p.share <= 1 + 1e-12).all()
    assert moving[4] < p.total[4]


def _exact(s):
    """r' M^-1 r for the momentum r of unit rates of the degrees of freedom, from the integration points themselves."""
    smp = s.samples
    R = np.zeros((len(smp.mass) * 3, 6))
    for k, e in enumerate(np.eye(3)):
        R[:, k] = np.cross(e, smp.position).ravel()
        R[:, 3 + k] = np.tile(e, len(smp.mass))
    turning = np.zeros((len(smp.mass) * 3, 6))
    turning[:, :3] = smp.inertia.reshape(-1, 3)
    r = (
        R.T @ (np.repeat(smp.mass, 3)[:, None] * smp.translation.toarray())
        + turning.T @ smp.rotation.toarray()
    )
    return r @ np.linalg.solve(s.M.toarray(), r.T)


def test_clamped_beam_effective_mass():
    """First mode of a cantilever holds 61.3 % of the mass and 97.0 % of the inertia about the root (E1^2, 3 F1^2 of Padilla)."""
    s = beam(1.0, EI=1.0, mass_per_length=1.0, elements=16, planes="y")
    share = participation(s, normal_modes(s, 1)).share
    np.testing.assert_allclose(share[4, 0], 0.7829918**2, rtol=1e-6)
    np.testing.assert_allclose(share[2, 0], 3 * 0.5688257**2, rtol=1e-6)


def test_modal_damping():
    s = cantilever(6)
    modes = normal_modes(s, 5)
    damped = s.with_modal_damping([0.01, 0.02, 0.03, 0.0, 0.0], modes.shapes)
    D = modes.shapes.T @ damped.D @ modes.shapes
    np.testing.assert_allclose(
        D, np.diag(2 * np.array([0.01, 0.02, 0.03, 0, 0]) * modes.omega), atol=1e-9 * modes.omega[-1]
    )


def buckling_load(s: Structure, force: np.ndarray) -> float:
    """Smallest positive factor of a load at which K + factor K_G is singular."""
    smp = s.samples
    forces = smp.section_forces(Statics(s).solve(force), np.zeros(3 * len(smp.mass)))
    factors = eigvals(-smp.geometric_stiffness(forces).toarray(), s.K.toarray())
    return 1 / factors.real.max()


def test_euler_and_lateral_buckling():
    """Cantilever with L = EIy = GJ = 1: pi^2/4 under an axial force; 4.0126 under a transverse one at its tip, when it is stiff
    in the plane of the load (Timoshenko & Gere 1961, sections 2.1 and 6.3)."""
    s = beam(1.0, EI=(1.0, 1e6), EA=1e8, GJ=1.0, mass_per_length=1.0, rotary_inertia=0.1, elements=16)
    assert buckling_load(s, -s.rows(16)[0]) == pytest.approx(np.pi**2 / 4, rel=1e-5)
    assert buckling_load(s, s.rows(16)[1]) == pytest.approx(4.0126, rel=1e-3)


def test_bad_matrices_are_named():
    s = cantilever(2)
    M, K = s.M.toarray(), s.K.toarray()

    def bare(M, K):
        return Structure(s.names, s.positions, s.dofs, M, K)

    wrong = K.copy()
    wrong[0, 3] += 1.0
    with pytest.raises(InputError, match=r"K is not symmetric.*one triangle"):
        bare(M, wrong)
    with pytest.raises(InputError, match="K is indefinite"):
        bare(M, -K)
    with pytest.raises(InputError, match="M is indefinite"):
        bare(M - 0.5 * np.eye(len(M)), K)
    with pytest.raises(InputError, match=r"M has shape \(5, 5\); expected \(6, 6\)"):
        bare(M[:5, :5], K)
    loose = Structure.assemble([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [Bar(0, 1, Section(1, 1)), Bar(1, 2, Section(1, 1))], fixed={0: "all", 2: "all"})  # fmt: skip
    with pytest.raises(InputError, match="is not connected"):
        Statics(loose).solve(np.ones(loose.count))
    with pytest.raises(InputError, match="0 inputs"):
        frequency_response(s, [1.0])
    with pytest.raises(InputError, match="carry no mass"):
        state_space(beam(1.0, EI=1.0, mass_per_length=1.0, GJ=1.0, elements=2))
    assert isinstance(normal_modes(s, 2), NormalModes)
    assert modal(s, 2).omega == pytest.approx(normal_modes(s, 2).omega)


@pytest.mark.parametrize(("root", "rigid", "root_of"), [("clamped", 0, 1.87510407), ("free", 3, 4.73004074)])
def test_elastic_modes_are_all_but_the_rigid_ones(root, rigid, root_of):
    """Of 150 elements the highest frequency is more than 1e4 times the lowest, which is a mode all the same.

    The lowest is exact to (1/150)^4; what is left is rounding, eps times the square of that ratio of frequencies.
    """
    s = beam(1.0, EI=1.0, mass_per_length=1.0, elements=150, planes="y", root=root)
    found = normal_modes(s)
    kept = found.elastic
    assert len(kept.omega) == len(found.omega) - rigid
    assert kept.omega[-1] > 1e4 * kept.omega[0]
    np.testing.assert_allclose(kept.omega[0], root_of**2, rtol=1e-5)
