"""Heat in structures: laws of free expansion, closed forms of conduction and of coupled thermoelasticity."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.linalg import spsolve

import articulus as art
from articulus.control.interaction import Thermoelastic
from articulus.structure import (
    Bar,
    EulerBernoulli,
    Lumped,
    MindlinQuadrilateral,
    Plate,
    Section,
    ShellQuadrilateral,
    ShellTriangle,
    Structure,
    Timoshenko,
)
from articulus.structure.heat import Heat, Heated

TUBE = Section.tube(0.05, 0.045, 7e10, 2.6e10, 2700.0)
EXPANSION = 2.3e-5


def frame(kind: type, seed: int = 0) -> tuple[Structure, list]:
    """Return a braced frame of elements in random directions, held without redundance."""
    rng = np.random.default_rng(seed)
    x = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0.2, 0.3, 1), (1.1, 1.2, 0.8)]) + 0.1 * rng.normal(
        size=(5, 3)
    )
    pairs = [(a, b) for a in range(5) for b in range(a)]
    elements = [kind(a, b, TUBE) for a, b in pairs]
    return Structure.assemble(x, elements), elements


def shells(kind: type) -> tuple[Structure, list, np.ndarray]:
    """Return a flat plate of irregular elements."""
    x = np.array([(i / 3, j / 2, 0.0) for i in range(4) for j in range(3)])
    x[4:9, :2] += 0.05 * np.random.default_rng(1).normal(size=(5, 2))
    corners = [(3 * i + j, 3 * i + j + 3, 3 * i + j + 4, 3 * i + j + 1) for i in range(3) for j in range(2)]
    plate = Plate.isotropic(0.01, 7e10, 0.3, 2700.0)
    if kind is ShellTriangle:
        corners = [t for a, b, c, d in corners for t in ((a, b, c), (a, c, d))]
    elements = [kind(*k, plate, along=(1, 0, 0)) for k in corners]
    return Structure.assemble(x, elements), elements, x


def free_shape(s: Structure, load: np.ndarray) -> np.ndarray:
    """Return the displacements under loads that balance, without a rigid motion at node 0."""
    held = s.fix({0: "all"})
    inside = np.isin(np.arange(s.count), held._in_whole)
    q = np.zeros(s.count)
    q[inside] = spsolve(held.K.tocsc(), load[inside])
    return q


@pytest.mark.parametrize("kind", [EulerBernoulli, Timoshenko])
def test_a_frame_that_is_warm_everywhere_grows_and_is_not_stressed(kind: type) -> None:
    s, elements = frame(kind)
    heat = Heat.of(s, [Heated(e, EXPANSION, 1000.0, 10.0) for e in elements])
    load = heat.C @ np.full(5, 30.0)
    q = free_shape(s, load)
    grown = np.zeros(s.count)
    moves = s.dofs[:, 1] < 3
    x = s.positions - s.positions[0]
    grown[moves] = EXPANSION * 30.0 * x[s.dofs[moves, 0], s.dofs[moves, 1]]
    np.testing.assert_allclose(q, grown, atol=1e-12)


@pytest.mark.parametrize("kind", [ShellTriangle, ShellQuadrilateral, MindlinQuadrilateral])
def test_a_plate_grows_alike_and_bends_to_a_sphere(kind: type) -> None:
    """Uniform heat: u = expansion theta x. A gradient through it: w = -expansion g (x^2 + y^2) / 2, no stress."""
    s, elements, x = shells(kind)
    heat = Heat.of(s, [Heated(e, EXPANSION, 100.0, 1.0, gradients=True) for e in elements])
    theta = np.zeros(len(heat.names))
    theta[:12], theta[12:] = 20.0, 500.0
    q = free_shape(s, heat.C @ theta)
    xyz = np.array([s.rows(n)[:3] @ q for n in range(12)])
    r = x[:, :2] - x[0, :2]
    np.testing.assert_allclose(xyz[:, :2], EXPANSION * 20.0 * r, atol=1e-10)
    w = -EXPANSION * 500.0 * np.sum(r**2, axis=1) / 2
    np.testing.assert_allclose(xyz[:, 2], w, atol=1e-12 * np.abs(w).max())


def test_a_beam_bends_away_from_its_warm_side() -> None:
    """Gradients g_y, g_z along y and z of the element: the tip goes by -expansion g L^2 / 2 along each, exactly at any number of elements."""
    for n in (1, 3):
        s = Structure.assemble(
            [(2.0 * i / n, 0, 0) for i in range(n + 1)],
            beams := [EulerBernoulli(i, i + 1, TUBE) for i in range(n)],
            fixed={0: "all"},
        )
        heat = Heat.of(s, [Heated(b, EXPANSION, 1000.0, 10.0, gradients=True) for b in beams])
        theta = np.array([{"y": 40.0, "z": -70.0}.get(name[-1], 0.0) for name in heat.names])
        theta[: n + 1] = 0.0
        tip = s.rows(n) @ spsolve(s.K.tocsc(), heat.C @ theta)
        np.testing.assert_allclose(
            tip[:3], [0, -EXPANSION * 40.0 * 2.0, EXPANSION * 70.0 * 2.0], atol=1e-15 + 1e-10
        )


@pytest.mark.parametrize("kind", [Bar, EulerBernoulli])
def test_heat_is_kept_and_flows_by_fouriers_law(kind: type) -> None:
    """No heat is lost by conduction; between held ends the temperature is a straight line, and k A (theta1 - theta0) / L flows."""
    n, L = 5, 2.0
    x = np.cumsum([0.0, 0.3, 0.5, 0.1, 0.6, 0.5])
    parts = [kind(i, i + 1, TUBE) for i in range(n)]
    s = Structure.assemble(np.outer(x, [0.6, 0.0, 0.8]), parts)
    heat = Heat.of(s, [Heated(p, EXPANSION, 800.0, 7.0) for p in parts])
    ones = np.ones(n + 1)
    assert ones @ heat.Q @ ones == pytest.approx(800.0 * L, rel=1e-12)
    np.testing.assert_allclose(heat.H @ ones, 0.0, atol=1e-10)
    line = 10.0 * x / L
    np.testing.assert_allclose((heat.H @ line)[1:-1], 0.0, atol=1e-10)
    assert (heat.H @ line)[-1] == pytest.approx(7.0 * 10.0 / L, rel=1e-12)
    lossy = Heat.of(s, [Heated(p, EXPANSION, 800.0, 7.0, loss=3.0) for p in parts])
    assert ones @ lossy.H @ ones == pytest.approx(3.0 * L, rel=1e-12)
    total = sum(heat.source(i, 5.0) for i in range(n)).sum()
    assert total == pytest.approx(5.0 * L, rel=1e-12)


def test_conduction_in_a_plate_and_its_gradient() -> None:
    s, elements, x = shells(ShellQuadrilateral)
    heat = Heat.of(s, [Heated(e, EXPANSION, 100.0, 2.0, gradients=True) for e in elements])
    nodal = heat.H[:12, :12]
    assert (3 * x[:, 0]) @ (nodal @ (3 * x[:, 0])) == pytest.approx(2.0 * 9.0 * heat.sizes.sum(), rel=1e-9)
    k = 12
    # density c h^3 / 12 over k h: the gradient decays by 12 k / (density c h^2)
    assert heat.H[k, k] / heat.Q[k, k] == pytest.approx(12 * 2.0 / (100.0 * 0.01**2), rel=1e-12)


def test_the_time_constant_of_a_thin_tube() -> None:
    """1 / tau = k / (density c r^2) + 4 emissivity sigma T^3 / (density c h) (Thornton & Kim 1993)."""
    r, h, k, rho_c, radiation = 0.1, 1e-4, 16.0, 4e6, 1.1
    thin = Section.tube(r + h / 2, r - h / 2, 1.9e11, 7e10, 8000.0)
    area = 2 * np.pi * r * h
    beam = EulerBernoulli(0, 1, thin)
    s = Structure.assemble([(0, 0, 0), (1, 0, 0)], [beam], fixed={0: "all"})
    part = Heated(beam, 1e-5, rho_c * area, k * area, 2 * np.pi * r * radiation, gradients=True, across=0.5)
    heat = Heat.of(s, [part])
    rate = k / (rho_c * r**2) + radiation / (rho_c * h)
    assert heat.H[2, 2] / heat.Q[2, 2] == pytest.approx(rate, rel=(h / r) ** 2)
    q = heat.source(0, 2 * r, (np.pi * r**2 / 2, 0.0))
    assert q[:2].sum() == pytest.approx(2 * r)
    assert q[2] == pytest.approx(np.pi * r**2 / 2)


def rod(n: int, theta0: float) -> tuple[Structure, Heat]:
    """Return a rod of 1 m along x between walls, whose ends let no heat pass."""
    rho, c, k, E, A = 2700.0, 900.0, 2e9, 7e10, 1e-4
    section = Section(rho * A, E * A)
    bars = [Bar(i, i + 1, section) for i in range(n)]
    fixed = dict.fromkeys(range(1, n), ("y", "z")) | {0: "all", n: "all"}
    s = Structure.assemble([(i / n, 0, 0) for i in range(n + 1)], bars, fixed=fixed)
    return s, Heat.of(s, [Heated(b, EXPANSION, rho * c * A, k * A) for b in bars])


def test_a_rod_moves_and_warms_as_coupled_thermoelasticity_says() -> None:
    """u = sin(p x), theta = cos(p x): (s^2 + c^2 p^2) (s + kappa p^2) + delta c^2 p^2 s = 0; linear elements, error of order h^2."""
    p, theta0 = np.pi, 300.0
    c2, kappa, delta = 7e10 / 2700.0, 2e9 / (2700.0 * 900.0), 7e10 * EXPANSION**2 * theta0 / (2700.0 * 900.0)
    roots = np.roots([1, kappa * p**2, c2 * p**2 * (1 + delta), c2 * kappa * p**4])
    slow = roots[np.abs(roots.imag) > 1][0]
    errors = []
    for n in (16, 32):
        s, heat = rod(n, theta0)
        period = 2 * np.pi / abs(slow.imag)
        model = Thermoelastic.of(s, heat, theta0, period / 400)
        x = s.positions[s.dofs[:, 0], 0]
        ratio = (slow**2 / c2 + p**2) / (
            EXPANSION * p
        )  # of theta by u: rho s^2 u = -E p^2 u + E expansion p theta
        mode = np.sin(p * x)
        nodes = np.linspace(0, 1, n + 1)
        t, q, _, _ = model.run(
            period * 2, mode * 1e-6, (slow * mode).real * 1e-6, (ratio * np.cos(p * nodes)).real * 1e-6
        )
        expected = 1e-6 * (np.exp(slow * t)).real[:, None] * mode
        errors.append(np.abs(q - expected).max() / 1e-6)
    assert errors[-1] < 6e-3  # after two periods: (p h)^2 / 24 of the frequency, 4 pi
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.15)


def test_energy_and_entropy_of_a_closed_system_only_fall() -> None:
    """1/2 q' M q' + 1/2 q K q + 1/2 theta Q theta / theta0 falls by theta H theta / theta0, and heat is kept but for theta0 C q."""
    s, heat = rod(8, 300.0)
    rng = np.random.default_rng(2)
    q0, v0, T0 = 1e-6 * rng.normal(size=s.count), rng.normal(size=s.count), rng.normal(size=9)
    _, q, v, theta = Thermoelastic.of(s, heat, 300.0, 1e-6).run(1e-4, q0, v0, T0)
    forms = ((v, s.M), (q, s.K), (theta, heat.Q / 300.0))
    energy = sum(0.5 * np.einsum("ti,ti->t", x, x @ A.toarray()) for x, A in forms)
    assert np.all(np.diff(energy) <= 1e-12 * energy[0])
    assert energy[-1] < 0.99 * energy[0]
    kept = (heat.Q @ theta.T + 300.0 * (heat.C.T @ q.T)).sum(axis=0)
    np.testing.assert_allclose(kept, kept[0], rtol=1e-9)


def test_temperatures_can_be_held() -> None:
    _, heat = rod(4, 300.0)
    held = heat.hold(["node0", "node4"])
    assert held.names == ("node1", "node2", "node3")
    np.testing.assert_allclose(held.H.toarray(), heat.H.toarray()[1:4, 1:4])
    assert held.source(0, 2.0).sum() == pytest.approx(0.25)  # the other half goes into what is held


def test_wrong_parts_are_told() -> None:
    s, heat = rod(4, 300.0)
    bar = heat.parts[0].element
    with pytest.raises(art.InputError, match="capacity = 0"):
        Heated(bar, 1e-5, 0.0, 1.0)
    with pytest.raises(art.InputError, match="conduction = -1"):
        Heated(bar, 1e-5, 1.0, -1.0)
    with pytest.raises(art.InputError, match="expansion = nan"):
        Heated(bar, float("nan"), 1.0, 1.0)
    with pytest.raises(art.InputError, match="a bar, a beam"):
        Heated(Lumped(0, 1.0), 1e-5, 1.0, 1.0)
    with pytest.raises(art.InputError, match="at least one"):
        Heat.of(s, [])
    with pytest.raises(art.InputError, match="given twice"):
        Heat.of(s, [Heated(bar, 1e-5, 1.0, 1.0, gradients=True)] * 2)
    with pytest.raises(art.InputError, match="node0"):
        heat.hold(["nod0"])
    with pytest.raises(art.InputError, match="every temperature"):
        heat.hold(heat.names)
    with pytest.raises(art.InputError, match="one for each"):
        heat.source(0, 1.0, (1.0,))
