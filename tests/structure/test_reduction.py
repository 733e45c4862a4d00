"""Reductions: exact when complete, right where they promise to be, and tables that show what was lost."""

from __future__ import annotations

import numpy as np
import pytest

from articulus.errors import InputError
from articulus.structure import (
    EulerBernoulli,
    Lumped,
    Section,
    Structure,
    beam,
    craig_bampton,
    frequency_response,
    guyan,
    modal,
    modes_of,
    normal_modes,
    state_space,
)
from articulus.structure.compliance import compliance, reduced_compliance
from articulus.structure.reduction import (
    balanced,
    by_controllability,
    by_effective_mass,
    convergence,
    modal_measures,
    residual_flexibility,
)
from articulus.structure.solution import rigid_motions
from articulus.structure.solution.participation import participation

ALL = {f"node{i}": "all" for i in range(7)}


def plane_beam(**more) -> Structure:
    return beam(1.0, EI=1.0, mass_per_length=1.0, elements=6, planes="y", **more)


@pytest.fixture
def damped() -> Structure:
    s = plane_beam().with_rayleigh_damping(0.0, 2e-3)
    return s.with_input("u", "node6", {"y": 1.0}).with_output("y", "node3", {"y": 1.0})


def reductions(s: Structure) -> dict:
    n = s.count
    tip = len(s.where("node6"))
    return {
        "guyan": guyan(s, ALL),
        "modal": modal(s, n - rigid_motions(s).shape[1]),
        "craig_bampton": craig_bampton(s, {"node6": "all"}, n - tip),
    }


@pytest.mark.parametrize("name", ["guyan", "modal", "craig_bampton"])
def test_complete_reductions_are_exact(name):
    s = plane_beam()
    r = reductions(s)[name]
    np.testing.assert_allclose(r.omega, normal_modes(s).omega, rtol=1e-7)


def test_guyan_is_statically_exact_and_too_stiff():
    s = plane_beam()
    r = guyan(s, {"node3": "all", "node6": "all"})
    assert r.names == ("node3.x", "node3.y", "node3.rz", "node6.x", "node6.y", "node6.rz")
    np.testing.assert_allclose(
        reduced_compliance(s, r.basis, "node6"), compliance(s, "node6"), rtol=1e-8, atol=1e-12
    )
    exact = normal_modes(s, 3).omega
    assert (r.omega[:3] > exact).all()
    np.testing.assert_allclose(r.omega[0], exact[0], rtol=1e-3)


@pytest.mark.parametrize(
    ("make", "root"),
    [(craig_bampton, "clamped"), (residual_flexibility, "clamped"), (residual_flexibility, "free")],
)
def test_interface_reductions_carry_tip_loads_exactly(make, root):
    s = plane_beam(root=root)
    r = make(s, {"node6": "all"}, 2)
    np.testing.assert_allclose(
        reduced_compliance(s, r.basis, "node6"), compliance(s, "node6"), rtol=1e-6, atol=1e-9
    )
    plain = reduced_compliance(s, modal(s, 2).basis, "node6")
    assert plain[5, 5] < 0.95 * compliance(s, "node6")[5, 5]
    elastic = r.in_normal_modes()
    np.testing.assert_allclose(modes_of(s, elastic.basis).ff, np.eye(len(elastic.names)), atol=1e-8)


def test_ritz_frequencies_never_fall_below():
    s = plane_beam()
    exact = normal_modes(s).omega
    for r in (
        craig_bampton(s, {"node6": "all"}, 3),
        residual_flexibility(s, {"node6": "all"}, 3),
        guyan(s, {"node2": "y", "node6": "y"}),
        modal(s, 4, {"node6": "y"}),
    ):
        assert (r.omega >= exact[: len(r.omega)] * (1 - 1e-9)).all()


def test_modes_with_more_supports():
    """Clamped-pinned beam: beta L = 3.92660231."""
    s = beam(1.0, EI=1.0, mass_per_length=1.0, elements=16, planes="y")
    r = modal(s, 1, {"node16": "y"})
    np.testing.assert_allclose(r.omega[0], 3.92660231**2, rtol=1e-5)
    assert r.basis[s.where("node16", "y")] == 0


def test_effective_mass_chooses_modes():
    s = plane_beam()
    few, many = by_effective_mass(s, 0.6), by_effective_mass(s, 0.95)
    assert len(few.names) < len(many.names) < s.count
    total = participation(s, normal_modes(s)).effective.sum(axis=1)
    modes = normal_modes(s)
    kept = [int(name.removeprefix("mode")) - 1 for name in many.names]
    held = participation(s, modes).effective[:, kept].sum(axis=1)
    assert (held[total > 1e-9] / total[total > 1e-9] >= 0.95).all()
    with pytest.raises(InputError, match="share"):
        by_effective_mass(s, 2.0)


def test_controllability_leaves_out_what_cannot_be_moved():
    """A force along y moves no axial mode."""
    s = plane_beam().with_input("u", "node6", {"y": 1.0}).with_output("y", "node3", {"y": 1.0})
    measures = modal_measures(s, modal(s, 12).basis, 0.01)
    r = by_controllability(s, 4, candidates=12)
    assert len(r.names) == 4
    along = s.dofs[:, 1] == 0
    assert np.abs(r.basis[along]).max() < 1e-9
    assert measures.min() < 1e-9 * measures.max()


def test_modal_measures_are_hankel_values_of_light_damping():
    s = plane_beam().with_input("u", "node6", {"y": 1.0}).with_output("v", "node6", {"y": 1.0}, rate=True)
    r = modal(s, 3)
    s = s.with_modal_damping(1e-3, r.basis)
    system = state_space(modal(s, 3))
    from scipy.linalg import solve_continuous_lyapunov

    P = solve_continuous_lyapunov(system.A, -system.B @ system.B.T)
    Q = solve_continuous_lyapunov(system.A.T, -system.C.T @ system.C)
    hankel = np.sort(np.sqrt(np.abs(np.linalg.eigvals(P @ Q))))[::-1]
    expected = np.repeat(np.sort(modal_measures(s, r.basis, 1e-3))[::-1], 2)
    np.testing.assert_allclose(
        hankel, expected, rtol=1e-2
    )  # of the order of the damping over the spacing of modes


def test_balanced_reduction(damped):
    omega = np.linspace(0.0, 30.0, 40)
    exact = frequency_response(damped, omega)[:, 0, 0]
    errors = []
    for count in (2, 4, 6):
        r = balanced(damped, count, candidates=12)
        assert (np.linalg.eigvalsh(r.M) > 0).all()
        assert (np.linalg.eigvalsh(r.K) > 0).all()
        assert (state_space(r).poles.real < 0).all()
        found = state_space(r).response(omega)[:, 0, 0]
        errors.append(np.abs(found - exact).max() / np.abs(exact).max())
    assert errors[0] > errors[2]
    assert errors[2] < 2e-3
    assert (np.diff(r.values) <= 0).all()
    with pytest.raises(InputError, match="no damping"):
        balanced(plane_beam().with_input("u", 6, {"y": 1.0}).with_output("y", 6, {"y": 1.0}), 2, candidates=4)


def test_convergence_without_neighbor():
    s = plane_beam()
    table = convergence(modal(s, 3), "node6", count=3)
    np.testing.assert_allclose(table.full[0], normal_modes(s, 3).omega, rtol=1e-7)
    assert table.worst < 1e-8
    assert table.compliance["y"][0] == pytest.approx(1 / 3)
    assert table.compliance["y"][1] < 1 / 3
    assert "static compliance" in str(table)


def test_king_two_links():
    """King 1988, tables 3.2 and 3.3: link 1 with link 2 rigid behind the elbow, in Hz; clamped-free mode against elements."""
    mass, EI, L = 0.3836, 119.23, 1.22
    link = beam(L, EI=EI, mass_per_length=mass / L, elements=8, planes="y")
    second = Structure.assemble(
        [[0, 0, 0], [L / 2, 0, 0]],
        [Lumped(1, mass, (0, mass * L**2 / 12, mass * L**2 / 12)), EulerBernoulli(0, 1, Section(0, 1e12, 1e12, 1e12, 1e12))],
        fixed={0: "all"},
    )  # fmt: skip
    one = convergence(modal(link, 1), "node8", count=1, attached=second, angles=np.radians([0, 90, 180]))
    np.testing.assert_allclose(one.full[:, 0] / (2 * np.pi), [1.878, 2.504, 5.145], rtol=1e-3)
    np.testing.assert_allclose(one.reduced[:, 0] / (2 * np.pi), [2.029, 2.668, 5.151], rtol=1e-3)
    better = convergence(
        craig_bampton(link, {"node8": "all"}, 1), "node8", count=1, attached=second, angles=one.angles
    )
    assert better.worst < 0.01 < one.worst


def test_flexible_neighbor():
    """A straight beam cut in the middle has the frequencies of the whole one."""
    half = beam(0.5, EI=1.0, EA=1e6, mass_per_length=1.0, elements=6, planes="y")
    table = convergence(modal(half, 4), "node6", count=2, attached=half, angles=[0.0, 0.5])
    whole = beam(1.0, EI=1.0, EA=1e6, mass_per_length=1.0, elements=12, planes="y")
    np.testing.assert_allclose(table.full[0], normal_modes(whole, 2).omega, rtol=1e-6)
    assert (table.full[1] != table.full[0]).all()


def test_shapes_that_cannot_carry_a_load():
    s = beam(1.0, EI=1.0, mass_per_length=1.0, elements=6)
    in_y = s.dofs[:, 1] == 1
    shapes = normal_modes(s, 4).shapes
    chosen = shapes[:, np.abs(shapes[in_y]).max(axis=0) > 0.1][:, :1]
    modes_of(s, chosen)
    with pytest.raises(InputError, match=r"force at node 'node6' in direction 'z' meets .* add modes"):
        modes_of(
            s,
            chosen - chosen * (s.dofs[:, 1:2] == 2) - chosen * (s.dofs[:, 1:2] == 4),
            carries=["node6"],
        )
    modes_of(
        s, craig_bampton(s, {"node6": ("y", "z", "ry", "rz")}, 2).in_normal_modes().basis, carries=["node6"]
    )


def test_messages():
    s = plane_beam()
    with pytest.raises(InputError, match="none of the degrees of freedom"):
        guyan(s, {"node0": "all"})
    with pytest.raises(InputError, match="no node 'node66'"):
        guyan(s, {"node66": "all"})
    with pytest.raises(InputError, match="no inputs"):
        balanced(s, 2, candidates=4)
