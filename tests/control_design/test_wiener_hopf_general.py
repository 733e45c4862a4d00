"""Wiener-Hopf design of unstable plants in the general configuration; the oracle is the H2 controller of Riccati equations."""

import numpy as np
import pytest
import scipy.linalg

from articulus.control import h2syn
from articulus.control.plant import of_matrices
from articulus.control.sampled_response import (
    FrequencyGrid,
    SampledPlant,
    fit_response,
    general_wiener_hopf,
    merge_bands,
    uncertainty_spectrum,
    unstable_part,
    wiener_hopf,
)
from articulus.control.sampled_response.wiener_hopf import _cost
from articulus.errors import DoubtfulResult, InputError

GRID = FrequencyGrid(2.0, 1024)
OMEGA = np.array([0.1, 1.0, 5.0, 40.0])
UNSTABLE = {
    "none": np.zeros((0, 0)),
    "one": np.array([[0.7]]),
    "pair": np.array([[0.3, 2.0], [-2.0, 0.3]]),
    "one and a pair": scipy.linalg.block_diag(1.5, [[0.2, 1.0], [-1.0, 0.2]]),
    "rigid motion": np.array([[0.0, 1.0], [0.0, 0.0]]),
    "integrator and oscillator": scipy.linalg.block_diag(0.0, [[0.0, 3.0], [-3.0, 0.0]]),
}


def random_plant(unstable, seed=1):
    """Return a plant with two commands and two measured outputs; noise on all sensors, weights of all commands."""
    rng = np.random.default_rng(seed)
    stable = scipy.linalg.block_diag([[-0.5, 2.0], [-2.0, -0.5]], -3.0)
    A = scipy.linalg.block_diag(unstable, stable)
    n = len(A)
    A[: len(unstable), len(unstable) :] = 0.3 * rng.standard_normal((len(unstable), 3))
    B = np.hstack([rng.standard_normal((n, 2)), np.zeros((n, 2)), rng.standard_normal((n, 2))])
    C = np.vstack([rng.standard_normal((2, n)), np.zeros((2, n)), rng.standard_normal((2, n))])
    D = np.zeros((6, 6))
    D[2:4, 4:], D[4:, 2:4] = [[0.7, 0.1], [0.0, 0.5]], [[0.4, 0.0], [0.1, 0.6]]
    return of_matrices(A, B, C, D)


@pytest.mark.parametrize("name", UNSTABLE)
def test_controller_is_that_of_riccati_equations(name):
    plant = random_plant(UNSTABLE[name])
    by_states = h2syn(plant, commands=2, measured=2)
    sampled = SampledPlant.of(plant, GRID, commands=2, measured=2)
    found = general_wiener_hopf(sampled)
    # samples beside a pole on the axis are large and cancel: some digits are lost there
    close = 1e-5 if name in ("rigid motion", "integrator and oscillator") else 1e-9
    np.testing.assert_allclose(found.cost, by_states.norm**2, rtol=close)
    np.testing.assert_allclose(
        found.response(OMEGA), by_states.controller.response(OMEGA), rtol=close, atol=close
    )
    np.testing.assert_allclose(found.cost_of(by_states.controller), by_states.norm**2, rtol=close)
    assert all(check.passed for check in found.checks)
    fitted = found.fit(len(plant.A))
    np.testing.assert_allclose(found.cost_of(fitted), found.cost, rtol=1e-4)


def test_controller_is_that_of_slycot():
    slycot = pytest.importorskip("slycot")
    plant = random_plant(UNSTABLE["one and a pair"])
    matrices = slycot.sb10hd(
        len(plant.A), 6, 6, 2, 2, *(np.asfortranarray(x) for x in (plant.A, plant.B, plant.C, plant.D))
    )
    theirs = of_matrices(*matrices[:4])
    found = general_wiener_hopf(SampledPlant.of(plant, GRID, commands=2, measured=2))
    np.testing.assert_allclose(found.response(OMEGA), theirs.response(OMEGA), rtol=1e-8, atol=1e-8)


def test_factors_are_coprime():
    """X D + Y N = I and D_l N = N_l D, all of them causal, and G = N D^-1."""
    sampled = SampledPlant.of(random_plant(UNSTABLE["one and a pair"]), GRID, commands=2, measured=2)
    f = sampled.factors
    np.testing.assert_allclose(f.X @ f.D + f.Y @ f.N, np.broadcast_to(np.eye(2), f.D.shape), atol=1e-12)
    np.testing.assert_allclose(f.Dl @ f.N, f.Nl @ f.D, atol=1e-12)
    np.testing.assert_allclose(f.N @ np.linalg.inv(f.D), sampled.yu, rtol=1e-10, atol=1e-12)
    for values in (f.D, f.Dl, f.N, f.Nl, f.X, f.Y):
        assert GRID.anticausal_share(values) < 1e-12


def test_unstable_poles_are_found_in_the_samples():
    plant = random_plant(UNSTABLE["one and a pair"])
    known = SampledPlant.of(plant, GRID, commands=2, measured=2)
    poles = unstable_part(known.yu, GRID).poles
    np.testing.assert_allclose(np.sort_complex(poles), np.sort_complex([1.5, 0.2 + 1j, 0.2 - 1j]), rtol=1e-9)
    told = SampledPlant(GRID, known.yu, known.ye, known.zu, known.ze, 3)
    np.testing.assert_allclose(general_wiener_hopf(told).cost, general_wiener_hopf(known).cost, rtol=1e-9)
    with pytest.raises(InputError, match="not causal beside 2 unstable poles"):
        SampledPlant(GRID, known.yu, known.ye, known.zu, known.ze, 2)


def test_controller_that_has_to_be_unstable():
    """A pole between two zeros right of the axis, 1 and infinity: no stable controller stabilizes (Youla, Bongiorno & Lu 1974)."""
    plant = of_matrices(
        [[0, 1.0], [4.0, 0]],
        [[0, 0, 0], [1.0, 0, 1.0]],
        [[1.0, 0], [0, 0], [-1.0, 1.0]],
        [[0, 0, 0], [0, 0, 0.3], [0, 0.2, 0]],
    )
    by_states = h2syn(plant, commands=1, measured=1)
    found = general_wiener_hopf(SampledPlant.of(plant, GRID, commands=1, measured=1))
    assert np.count_nonzero(by_states.controller.poles.real > 0) == 1
    fitted = found.fit(1)
    np.testing.assert_allclose(np.sort(fitted.poles), np.sort(by_states.controller.poles), rtol=1e-6)
    np.testing.assert_allclose(found.cost_of(fitted), by_states.norm**2, rtol=1e-6)
    with pytest.raises(InputError, match="1 unstable poles"):
        found.fir(0.05, 64)


def test_deviations_known_for_certain_are_further_inputs():
    """Deviations of G_ye and G_ze with one member act as exogenous inputs of unit spectrum (eq. 2.11)."""
    plant = random_plant(UNSTABLE["one"])
    whole = SampledPlant.of(plant, GRID, commands=2, measured=2)
    first = SampledPlant(
        GRID, whole.yu, whole.ye[:, :, 1:], whole.zu, whole.ze[:, :, 1:], whole.unstable_model
    )
    # stable deviations only: those of an unstable plant have its poles, which the factors remove
    s = 1j * GRID.omega
    ye = np.stack([1 / (s + 1), 0.5 / (s + 2)], axis=1)[:, :, None]
    ze = np.stack([2 / (s + 3), 0 * s, 1 / (s + 1), 0 * s], axis=1)[:, :, None]
    more = SampledPlant(
        GRID,
        first.yu,
        np.concatenate([first.ye, ye], axis=2),
        first.zu,
        np.concatenate([first.ze, ze], axis=2),
        whole.unstable_model,
    )
    P = uncertainty_spectrum(ye=ye[None], ze=ze[None])
    as_inputs, as_deviations = general_wiener_hopf(more), general_wiener_hopf(first, deviations=P)
    np.testing.assert_allclose(as_deviations.cost, as_inputs.cost, rtol=1e-9)
    np.testing.assert_allclose(
        as_deviations.response(OMEGA), as_inputs.response(OMEGA), rtol=1e-8, atol=1e-10
    )


def test_signs_and_mean_of_deviations():
    rng = np.random.default_rng(0)
    yu, zu = rng.standard_normal((5, 3, 1, 2)), rng.standard_normal((5, 3, 2, 2))
    P = uncertainty_spectrum(yu=yu, zu=zu)
    whole = np.concatenate([-yu, zu], axis=2)
    np.testing.assert_allclose(P, np.mean([d @ d.swapaxes(1, 2) for d in whole], axis=0), atol=1e-14)


def test_no_other_stabilizing_controller_is_better():
    plant = SampledPlant.of(random_plant(UNSTABLE["pair"]), GRID, commands=2, measured=2)
    s = 1j * GRID.omega
    yu = np.broadcast_to((0.3 / (s + 1))[None, :, None, None], (1, GRID.count, 2, 2))
    P = uncertainty_spectrum(yu=yu, ze=np.zeros((1, GRID.count, 4, 4)))
    found = general_wiener_hopf(plant, deviations=P)
    f = plant.factors
    assert found.cost > general_wiener_hopf(plant).cost
    for change in (1e-2, -1e-2):
        for pole in (0.5, 4.0):
            K = found.parameter + change / (s + pole)[:, None, None] * np.array([[1.0, -0.5], [0.3, 1.0]])
            assert _cost(plant, found.spectra, f.D @ (f.Y + K @ f.Dl)) > found.cost


def test_bands_are_merged():
    grid = FrequencyGrid(2.0, 2048)

    def exact(w):
        return 1 / ((1j * w) ** 2 + 0.2j * w + 1) / (1j * w + 3)

    table = np.geomspace(0.3, 40, 4000)
    model = of_matrices([[-0.2, -1.0], [1.0, 0.0]], [[1.0], [0.0]], [[0.0, 1 / 3]])  # the slow pole as a gain
    merged = merge_bands([exact, (table, exact(table)), exact], [0.5, 20.0], grid)
    np.testing.assert_allclose(merged[:, 0, 0], exact(grid.omega), atol=1e-4)
    found, known = (wiener_hopf(x, 1 / (1 + grid.omega**2), 0.01, 0.1, grid) for x in (merged, exact))
    np.testing.assert_allclose(found.cost, known.cost, rtol=1e-4)
    with pytest.warns(DoubtfulResult, match=r"differ by .* at their edge, 5 rad/s"):
        merge_bands([model, exact], [5.0], grid)
    with pytest.raises(InputError, match=r"a table from 0\.3 to 40 rad/s"):
        merge_bands([(table, exact(table)), exact], [0.5], grid)
    with pytest.raises(InputError, match="rising numbers"):
        merge_bands([exact, exact], [2.0, 1.0], grid)


def test_fitted_response_is_that_of_the_samples():
    s = 1j * GRID.omega
    values = 2 + 1 / (s + 1) + 3 / (s**2 + 0.2 * s + 4) + 0.5 / (s - 0.8)
    found = fit_response(values, GRID, 3, 1)
    np.testing.assert_allclose(found.response(OMEGA)[:, 0, 0], _at(OMEGA), rtol=1e-9)
    with pytest.warns(DoubtfulResult, match="poles that the samples show"):
        fit_response(1 / (s + 1), GRID, 30)
    with pytest.raises(InputError, match="conjugate at negative"):
        fit_response(1j / (s + 1), GRID, 2)
    with pytest.raises(InputError, match="expected 1024 finite"):
        fit_response(np.ones(7), GRID, 2)


def _at(w):
    s = 1j * w
    return 2 + 1 / (s + 1) + 3 / (s**2 + 0.2 * s + 4) + 0.5 / (s - 0.8)


def test_what_cannot_be_served_is_refused():
    falling = 1 / (1 + GRID.omega**2)
    stable = of_matrices([[-1.0]], [[1.0]], [[1.0]])
    integrator = of_matrices([[0.0]], [[1.0]], [[1.0]])
    with pytest.raises(InputError, match="stable pole at -1"):
        wiener_hopf(lambda w: 1 / (1j * w - 1), falling, 0.1, 0.1, GRID, unstable=stable)
    with pytest.raises(InputError, match="pole on the imaginary axis at 0 rad/s"):
        wiener_hopf(lambda w: 1 / (1j * w), falling, 0.1, 0.1, GRID, unstable=integrator)
    with pytest.raises(InputError, match="does not fall off"):
        wiener_hopf(lambda w: 1 / (1j * w + 1), 1.0, 0.1, 0.1, GRID)
    with pytest.raises(InputError, match="not Hermitian and positive semidefinite"):
        wiener_hopf(lambda w: 1 / (1j * w + 1), -falling, 0.1, 0.1, GRID)
    with pytest.raises(InputError, match="ye: found entries of shape"):
        SampledPlant(GRID, *(np.zeros((GRID.count, *s)) for s in ((1, 1), (2, 3), (1, 1), (1, 3))))
    with pytest.raises(InputError, match="a block for y and one for z"):
        uncertainty_spectrum(yu=np.ones((1, 4, 1, 1)))
    plant = SampledPlant.of(random_plant(UNSTABLE["one"]), GRID, commands=2, measured=2)
    assert general_wiener_hopf(plant).cost_of(of_matrices([[-1.0]], [[0, 0]], [[0], [0]])) == np.inf
    with pytest.raises(InputError, match=r"sampled every 0\.1 s"):
        SampledPlant.of(([[0.5]], [[1.0, 1.0]], [[1.0], [1.0]], np.eye(2), 0.1), GRID, commands=1, measured=1)
