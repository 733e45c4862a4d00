"""Modes from measurements: exact for exact data, and as far off as their deviations say for noisy ones."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.linalg

from articulus.design.modal import decay_fit, observer_fit, response_fit, subspace_fit
from articulus.errors import DoubtfulResult, InputError
from articulus.study.records import Record

HERTZ, DAMPING = np.array([1.1, 3.2, 7.5]), np.array([0.01, 0.02, 0.015])
W = 2 * np.pi * HERTZ
PERIOD = 0.02


def structure() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three modes, two forces, two places that are measured."""
    A = scipy.linalg.block_diag(*[[[0, 1], [-w * w, -2 * z * w]] for w, z in zip(W, DAMPING)])
    B = np.zeros((6, 2))
    B[1::2] = [[1.0, 0.2], [0.8, -0.5], [1.2, 0.9]]
    C = np.zeros((2, 6))
    C[:, ::2] = np.array([[1.0, 0.7, -0.5], [0.3, -0.4, 0.9]]) * W
    return A, B, C


def measured(samples: int, noise: float, disturbance: float = 0.0, seed: int = 0) -> Record:
    """A run with random forces held for a period, white noise on what is measured, and white forces that are not."""
    A, B, C = structure()
    M = scipy.linalg.expm(np.block([[A, B], [np.zeros((2, 8))]]) * PERIOD)
    random = np.random.default_rng(seed)
    u, unknown = random.normal(size=(samples, 2)), disturbance * random.normal(size=(samples, 2))
    x, y = np.zeros(6), np.zeros((samples, 2))
    for k in range(samples):
        y[k] = C @ x
        x = M[:6, :6] @ x + M[:6, 6:] @ (u[k] + unknown[k])
    y += noise * y.std(axis=0) * random.normal(size=y.shape)
    columns = {"f1": u[:, 0], "f2": u[:, 1], "y1": y[:, 0], "y2": y[:, 1]}
    return Record("bar", PERIOD * np.arange(samples), columns, {"f1": "N", "f2": "N", "y1": "m", "y2": "m"})


FORCES, PLACES = ("f1", "f2"), ("y1", "y2")


@pytest.mark.parametrize("disturbance", [0.0, 0.3])
@pytest.mark.parametrize(("fit", "least"), [(subspace_fit, 0.6), (observer_fit, 0.4)])
@pytest.mark.filterwarnings("ignore::articulus.errors.DoubtfulResult")
def test_modes_spread_as_their_deviations_say(fit, least: float, disturbance: float) -> None:
    """18 numbers: 0.17. A horizon leaves something of the noise of the outputs to the residuals: deviations of OKID are rather too large."""
    away = []
    for seed in range(3):
        found = fit(measured(1000, 0.02, disturbance, seed), FORCES, PLACES, 6, validation=0.0)
        assert len(found.poles) == 3
        away.append((found.frequencies - W) / found.frequency_deviations)
        away.append((found.damping - DAMPING) / found.damping_deviations)
    assert least < np.sqrt(np.mean(np.square(away))) < 1.5


def test_model_is_that_of_the_structure() -> None:
    """Held inputs, so that the sampled model of the structure is exact; the response of the fit is within its noise."""
    A, B, C = structure()
    found = subspace_fit(measured(2500, 0.01), FORCES, PLACES, 6)
    omega = np.linspace(3, 60, 40)
    exact = np.array([C @ np.linalg.solve(1j * w * np.eye(6) - A, B) for w in omega])
    response = found.continuous.response(omega)
    assert np.abs(response - exact).max() < 0.01 * np.abs(exact).max()
    assert min(found.shares.values()) > 0.999
    assert found.ok
    assert found.gain is not None
    assert found.gain.shape == (6, 2)
    assert json.dumps(found.record())
    assert "3 modes" in str(found)
    found.plot()


def test_output_noise_is_told_from_disturbances() -> None:
    """White noise of the outputs alone needs no Kalman gain; forces that were not measured do."""
    quiet = subspace_fit(measured(2000, 0.02), FORCES, PLACES, 6)
    shaken = subspace_fit(measured(2000, 0.001, 0.3), FORCES, PLACES, 6)
    assert not quiet.gain.any()
    assert np.abs(shaken.gain).max() > 0.1


def test_noise_alone_excites() -> None:
    """Output-only: a record without inputs, as of a bridge in the wind."""
    record = measured(3000, 0.001, 3.0)
    found = subspace_fit(record, (), PLACES, 6, validation=0.0)
    away = (found.frequencies - W) / found.frequency_deviations
    assert np.abs(away).max() < 4.0  # the known forces are noise here, and white
    assert found.model.B.shape == (6, 0)


@pytest.mark.filterwarnings("ignore::articulus.errors.DoubtfulResult")
def test_a_horizon_that_is_too_short_is_told() -> None:
    found = observer_fit(measured(1500, 0.05), FORCES, PLACES, 6, horizon=6)
    assert any("the horizon of 6 samples is too short" in w for w in found.warnings)


@pytest.mark.filterwarnings("ignore::articulus.errors.DoubtfulResult")
def test_an_order_that_is_too_low_is_told() -> None:
    found = subspace_fit(measured(1000, 0.02), FORCES, PLACES, 4)
    assert any("no white noise" in w for w in found.warnings)
    assert any("order 4 does not stand out" in w for w in found.warnings)


@pytest.mark.parametrize("fit", [subspace_fit, observer_fit])
def test_records_without_noise_give_the_structure(fit) -> None:
    """Two outputs, order 6: three samples of the past tell all."""
    found = fit(measured(1000, 0.0), FORCES, PLACES, 6, validation=0.0)
    assert found.horizon == 3
    np.testing.assert_allclose(found.frequencies, W, rtol=1e-8)
    np.testing.assert_allclose(found.damping, DAMPING, rtol=1e-6)


def decay(t: np.ndarray) -> np.ndarray:
    w, z = 2.0, 0.1
    d = w * np.sqrt(1 - z * z)
    return np.exp(-z * w * t) * (np.cos(d * t) + 0.4 * np.sin(d * t)) + 0.7 * np.exp(-0.5 * t) + 0.2


@pytest.mark.parametrize("start", [None, ([2.7], [0.065], [0.33]), ([1.3], [0.14], [0.68])])
def test_decays_from_wrong_values(start) -> None:
    """Lan & Ge's corrections: 30 to 40 % wrong values, 200 samples at 0.05 s, to G below their 1e-7."""
    t = 0.05 * np.arange(200)
    found = decay_fit(Record("decay", t, {"x": decay(t)}), "x", 1, 1, guess=start)
    assert found.error < 1e-7
    assert found.iterations <= 15
    np.testing.assert_allclose(
        [found.frequencies[0], found.damping[0], found.rates[0]], [2.0, 0.1, 0.5], rtol=1e-9
    )
    np.testing.assert_allclose(
        [found.cosines[0, 0], found.sines[0, 0], found.offset[0]], [1.0, 0.4, 0.2], rtol=1e-8
    )
    impulse = [(found.model.C @ scipy.linalg.expm(found.model.A * x) @ found.model.B)[0, 0] for x in t[::20]]
    np.testing.assert_allclose(impulse, decay(t[::20]) - 0.2, atol=1e-9)


def test_decays_spread_as_their_deviations_say() -> None:
    t = 0.05 * np.arange(200)
    away = []
    for seed in range(30):
        noise = 0.01 * np.random.default_rng(seed).normal(size=(2, 200))
        record = Record("decay", t, {"x": decay(t) + noise[0], "y": 0.5 * decay(t) + noise[1]})
        f = decay_fit(record, ["x", "y"], 1, 1)
        away.append(
            [
                (f.frequencies[0] - 2) / f.frequency_deviations[0],
                (f.damping[0] - 0.1) / f.damping_deviations[0],
            ]
        )
    assert np.sqrt(np.mean(np.square(away))) == pytest.approx(1.0, abs=0.3)  # 60 numbers: 0.09


def test_decays_that_say_little() -> None:
    t = 0.05 * np.arange(40)
    with pytest.warns(DoubtfulResult, match="periods of the mode"):
        decay_fit(Record("decay", t, {"x": decay(t)}), "x", 1, 1, guess=([2.0], [0.1], [0.5]))


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_frequency_response(noise: float) -> None:
    A, B, C = structure()
    omega = 2 * np.pi * np.linspace(0.1, 12, 300)
    H = np.array([C @ np.linalg.solve(1j * w * np.eye(6) - A, B) for w in omega]) + 0.05
    random = np.random.default_rng(1)
    size = noise * np.sqrt(np.mean(np.abs(H) ** 2))
    given = H + size * (random.normal(size=H.shape) + 1j * random.normal(size=H.shape))
    found = response_fit(omega, given, 6)
    if noise:
        assert np.abs((found.frequencies - W) / found.frequency_deviations).max() < 4.0
        assert np.abs((found.damping - DAMPING) / found.damping_deviations).max() < 4.0
    else:
        np.testing.assert_allclose(found.model.response(omega), H, atol=1e-9 * np.abs(H).max())
        np.testing.assert_allclose(found.damping, DAMPING, rtol=1e-9)


def test_one_response_with_a_real_pole() -> None:
    """A motor: 10 / (s + 2) + a vibration."""
    omega = np.geomspace(0.1, 100, 200)
    s = 1j * omega
    found = response_fit(omega, 10 / (s + 2) + 40 / (s * s + 0.4 * s + 400), 3, through=False)
    np.testing.assert_allclose(np.sort(found.frequencies), [2.0, 20.0], rtol=1e-8)
    assert not found.model.D.any()


@pytest.mark.parametrize("size", [1e-9, 1e6])
def test_scales(size: float) -> None:
    """Nanometers and slow clocks: the same modes in other units."""
    record = measured(1200, 0.02)
    other = Record(
        "bar", record.t * 1e3, {n: x * (size if n[0] == "y" else 1 / size) for n, x in record.columns.items()}
    )
    plain, scaled = (subspace_fit(r, FORCES, PLACES, 6) for r in (record, other))
    np.testing.assert_allclose(scaled.frequencies * 1e3, plain.frequencies, rtol=1e-6)
    np.testing.assert_allclose(scaled.damping_deviations, plain.damping_deviations, rtol=1e-3)


def test_bad_records() -> None:
    record = measured(400, 0.02)
    t = np.array(record.t)
    t[200:] += 1.0
    with pytest.raises(InputError, match="without gaps"):
        subspace_fit(Record("gap", t, record.columns), FORCES, PLACES, 6)
    with pytest.raises(InputError, match="holds one value for 'f1'"):
        subspace_fit(Record("still", record.t, {**record.columns, "f1": np.ones(400)}), FORCES, PLACES, 6)
    with pytest.raises(InputError, match="order = 0"):
        observer_fit(record, FORCES, PLACES, 0)
    with pytest.raises(InputError, match="samples for some"):
        subspace_fit(record.between(0, 0.5), FORCES, PLACES, 6)
    with pytest.raises(InputError, match="horizon = 500"):
        subspace_fit(record, FORCES, PLACES, 6, horizon=500)
    with pytest.raises(InputError, match="no column 'f3'"):
        subspace_fit(record, "f3", PLACES, 6)
    with pytest.raises(InputError, match="rising frequencies"):
        response_fit([2.0, 1.0], [1.0, 1.0], 1)
    with pytest.raises(InputError, match="expected 1 frequencies"):
        decay_fit(record, "y1", 1, guess=([1.0, 2.0], [0.1]))
