"""Peaks of mu between grid points, the perturbation and the poles it leads to, named parameters."""

import itertools

import numpy as np
import pytest

import articulus as art
from articulus.control import mussv, robstab, uncertain
from articulus.control.design import named_controller, static
from articulus.control.plant import of_matrices
from articulus.control.robust.allpass import interpolating
from articulus.control.robust.hamiltonian import continuous, singular_frequencies
from articulus.errors import DoubtfulResult, InputError


def plant(n, m, p, period=None, seed=3):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    if period is None:
        A = A - (np.linalg.eigvals(A).real.max() + 0.1) * np.eye(n)
    else:
        A = 0.97 * A / np.abs(np.linalg.eigvals(A)).max()
    return of_matrices(
        A, rng.normal(size=(n, m)), rng.normal(size=(p, n)), 0.1 * rng.normal(size=(p, m)), period
    )


@pytest.mark.parametrize("period", [None, 0.1])
@pytest.mark.parametrize("blocks", [[(1, 1)] * 3, [(2, 3), (1, 0)], [(-1, 0), (2, 0)]])
def test_perturbation_puts_a_pole_on_the_boundary(blocks, period):
    rows, columns = sum(abs(r) for r, c in blocks), sum(c or abs(r) for r, c in blocks)
    model = plant(4, rows, columns, period)
    found = robstab(model, blocks)
    assert found.everywhere
    assert found.lower <= found.upper <= 1.01 * found.lower
    assert all(check.passed for check in found.checks)
    # no denser grid finds more than what is shown for all frequencies
    top = 50.0 if period is None else np.pi / period
    dense = mussv(model.response(np.linspace(1e-3, top, 150)), blocks)
    assert dense.upper.max() <= found.upper
    # the perturbation is stable, of the stated size everywhere, and a smaller one leaves the loop stable
    P = found.perturbation
    sizes = np.linalg.norm(P.response(np.linspace(0.0, top, 30)), 2, axis=(1, 2))
    np.testing.assert_allclose(sizes, 1 / found.lower, rtol=1e-9)
    for factor, stable in ((0.9, True), (1.0 - 1e-9, True)):
        A, B, C, D = P.A, P.B, factor * P.C, factor * P.D
        loop = np.linalg.inv(np.eye(columns) - model.D @ D)
        whole = np.block(
            [
                [model.A + model.B @ D @ loop @ model.C, model.B @ (C + D @ loop @ model.D @ C)],
                [B @ loop @ model.C, A + B @ loop @ model.D @ C],
            ]
        )
        s = np.linalg.eigvals(whole)
        assert bool((s.real.max() < 0) if period is None else (np.abs(s).max() < 1)) is stable


def test_narrow_peak_between_grid_points_is_found():
    """A mode of damping 1e-4 that no point of the given grid is near; the peak of |1 / (1 - w^2 + 2 j z w)| is 1 / (2 z)."""
    z = 1e-4
    model = of_matrices([[0.0, 1.0], [-1.0, -2 * z]], [[0.0], [1.0]], [[1.0, 0.0]])
    found = robstab(model, [(1, 1)], omega=[0.1, 0.5, 2.0, 10.0])
    exact = 1 / (2 * z * np.sqrt(1 - z * z))
    assert found.everywhere
    assert exact * (1 - 1e-6) <= found.upper <= exact * 1.01
    assert found.frequency == pytest.approx(1.0, abs=1e-3)
    drawn = found.plot().axes[0].lines
    assert [line.get_label() for line in drawn[:2]] == ["upper bound", "lower bound"]
    assert (np.diff(drawn[0].get_xdata()) > 0).all()  # refined frequencies are drawn in their order


@pytest.mark.parametrize("period", [None, 0.2])
def test_singular_frequencies_are_crossings_of_singular_values(period):
    model = plant(5, 2, 2, period, seed=1)
    w = np.linspace(1e-3, 20.0 if period is None else np.pi / period - 1e-3, 4000)
    gains = np.linalg.norm(model.response(w), 2, axis=(1, 2))
    level = 0.6 * gains.max()
    form = np.diag([-1.0, -1.0, level**2, level**2]).astype(complex)
    found = singular_frequencies(continuous(model), form)
    found = found if period is None else 2 * np.arctan(found) / period
    s = np.linalg.svd(model.response(found), compute_uv=False)
    assert len(found)
    assert np.abs(s - level).min(axis=1).max() < 1e-7 * level
    crossings = w[:-1][np.diff(np.sign(gains - level)) != 0]
    assert all(np.abs(found - c).min() < 0.02 for c in crossings)


@pytest.mark.parametrize("period", [None, 0.05])
def test_interpolation_is_exact(period):
    from articulus.control.robust import BlockStructure

    rng = np.random.default_rng(0)
    structure = BlockStructure.of([(2, 3), (2, 0), (-1, 0), (1, 1)])
    u, v = rng.normal(size=2) + 1j * rng.normal(size=2), rng.normal(size=3) + 1j * rng.normal(size=3)
    delta = np.zeros((6, 7), dtype=complex)
    delta[:2, :3] = np.outer(u, v)
    delta[2, 3] = delta[3, 4] = 1 - 2j
    delta[4, 5], delta[5, 6] = -0.3, -1 + 0.5j
    model = interpolating(delta, structure, 3.0, period)
    np.testing.assert_allclose(model.response(3.0)[0], delta, atol=1e-12)
    s = np.linalg.eigvals(model.A)
    assert (s.real < 0).all() if period is None else (np.abs(s) < 1).all()


@pytest.fixture(scope="module")
def rod():
    """A rod upside down with a payload at its end that swings in a plane."""
    rod = art.Mechanism("rod", gravity=(0, 0, -9.81))
    payload = art.Parameter("payload", 3.0)
    rod.body("rod", 0.5, (0, 0, 0.25), (1e-2, 1e-2, 1e-3))
    rod.joint("pin", art.Revolute((0, 1, 0)), "ground", "rod")
    rod.body("load", payload, (0, 0, 0), (1e-3, 1e-3, 1e-3))
    rod.joint("weld", art.Fixed(), "rod", "load", at=(0, 0, 0.5))
    return rod


def test_payload_of_a_mechanism(rod):
    """The rod on a spring k stands until payload = (k - g m_rod l / 2) / (g l), at zero frequency: one repetition, exact."""
    found = uncertain(rod, {"payload": (2.0, 4.0)})
    assert found.error < 1e-12
    assert found.repetitions == {"payload": 1}
    exact = rod.linearize(params={"payload": 3.7})
    np.testing.assert_allclose(found.at(payload=3.7).A, exact.A, rtol=1e-10, atol=1e-12)
    spring = named_controller(
        found.nominal, static(np.array([[-25.0, -2.0]])), np.array([0]), np.array([0, 1]), "spring"
    )
    loop = found.close(spring)
    report = robstab(loop)
    assert report.worst["payload"] == pytest.approx((25.0 - 9.81 * 0.5 * 0.25) / (9.81 * 0.5), rel=1e-9)
    assert report.frequency == 0.0
    assert not report.extrapolated
    poles = np.linalg.eigvals(rod_on_spring(rod, report.worst))
    assert np.abs(poles).min() < 1e-9 * np.abs(poles).max()
    with pytest.raises(InputError, match=r"not stable.*close the loop first"):
        robstab(found)
    with pytest.raises(InputError, match=r"no parameter 'paiload'.*payload"):
        uncertain(rod, {"paiload": (1, 2)})


def rod_on_spring(rod, params):
    model = rod.linearize(params=params)
    return model.A + model.B @ np.array([[-25.0, -2.0]])


def test_parameters_of_a_loop(rod):
    """Payload of the mechanism and gain of the controller of a closed loop, both by name."""
    hold = art.components.PD(kp=art.Parameter("kp", 40.0), kd=3.0)
    loop = art.Loop(rod, controller=hold)
    found = uncertain(loop, {"payload": (1.0, 5.0), "kp": (30.0, 50.0)})
    assert found.repetitions == {"payload": 1, "kp": 1}
    assert found.error < 1e-10
    report = robstab(found)
    worst = loop.linearize(params=dict(report.worst))
    assert np.abs(np.linalg.eigvals(worst.A)).min() < 1e-6
    # the nonlinear loop agrees: beside the worst values a small deviation grows on the one side and dies on the other
    for more, grows in ((0.1, True), (-0.1, False)):
        params = {"payload": report.worst["payload"] + more, "kp": report.worst["kp"]}
        run = loop.simulate(4.0, q0=[1e-3], params=params, sample=4.0)
        assert bool(abs(np.asarray(run["q"])[-1, 0]) > 1e-3) is grows


def test_real_parameters_are_found_between_frequencies():
    """Real perturbations are singular at single frequencies: no larger ones than at the corners, looked at step by step."""
    rng = np.random.default_rng(4)
    for _ in range(3):
        A = rng.normal(size=(5, 5))
        A -= (np.linalg.eigvals(A).real.max() + 0.3) * np.eye(5)
        B, C = rng.normal(size=(5, 3)), rng.normal(size=(3, 5))
        found = robstab((A, B, C, np.zeros((3, 3))), [(-1, 0)] * 3)
        sizes = found.margin * np.linspace(0.9, 3.0, 400)
        first = [
            next((k for k in sizes if np.linalg.eigvals(A + k * (B * s) @ C).real.max() > 0), np.inf)
            for s in itertools.product((1.0, -1.0), repeat=3)
        ]
        assert found.margin <= 1 / found.lower <= min(first) * (1 + 1e-9)


def test_hidden_crossings_do_not_make_a_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop with gains of 1e9, whose Hamiltonian's eigenvalues rounding moves far off the axis: the bound by frequencies alone, without
    the search over corners, stays below the least change of stiffness that destabilizes, found from the poles (bisection)."""
    from scipy.optimize import brentq

    from articulus.cases.two_carts.case import carts, controller

    monkeypatch.setattr("articulus.control.robust.robstab.least_corner", lambda *_: None)
    ports = {"inputs": ("u",), "outputs": ("first.position", "second.position")}
    loop = uncertain(carts(), {"k": (0.5, 2.0)}, **ports).close(controller())
    least = brentq(lambda k: loop.at(k=k).poles.real.max(), 0.005, 0.5)
    found = robstab(loop)
    assert found.everywhere
    assert found.margin < (1.25 - least) / 0.75
    assert found.margin > 0.99 * (1.25 - least) / 0.75


@pytest.mark.parametrize("period", [None, 0.1])
def test_constant_and_vanishing_systems(period):
    """M = 1/2: perturbations below 2 are borne; M = 0, with and without states: all are."""
    constant = robstab(of_matrices(*static(np.array([[0.5]])), period=period), [(1, 1)])
    assert constant.everywhere
    assert constant.margin == pytest.approx(2.0, rel=2e-3)
    assert constant.lower == pytest.approx(0.5)
    for plant in (
        of_matrices(*static(np.zeros((1, 1))), period=period),
        ([[-0.5]], [[0.0]], [[1.0]], [[0.0]], period),
    ):
        found = robstab(plant, [(1, 1)])
        assert found.everywhere
        assert found.margin == np.inf


def test_work_not_time_decides():
    """One mass on a spring, two real parameters: shown at all frequencies with few of them; with less work a doubt is told."""
    model = uncertain(lambda p: ([[0, 1], [-p["k"] / 2, -0.2]], [[0], [1]], [[1, 0]]), {"k": (30.0, 70.0)})
    found = robstab(model)
    assert found.everywhere
    assert len(found.omega) < 600
    assert found.margin == pytest.approx(2.5, rel=2e-3)  # k becomes zero
    beam = (
        [[0, 1, 0, 0], [-1, -0.02, 0, 0], [0, 0, 0, 1], [0, 0, -900, -0.6]],
        [[0], [1], [0], [1]],
        np.eye(4)[[0]],
    )
    with pytest.warns(DoubtfulResult, match="raise max_intervals"):
        assert not robstab(beam, [(1, 1)], omega=[0.5], max_intervals=1).everywhere
    assert robstab(beam, [(1, 1)], omega=[0.5]).everywhere
