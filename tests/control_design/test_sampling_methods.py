"""Sampled models by every method, against scipy.signal and the definitions; and back again."""

import numpy as np
import pytest
import scipy.signal

from articulus.control import as_plant, sample, unsample
from articulus.control.plant import of_matrices
from articulus.errors import InputError
from articulus.linear import LinearModel

T = 0.05
SCIPY = {"hold": "zoh", "ramp": "foh", "trapezoidal": "bilinear"}


def random_model(seed: int, n: int = 5) -> LinearModel:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n)) * 3.0
    A -= (np.linalg.eigvals(A).real.max() + 0.3) * np.eye(n)
    return of_matrices(A, rng.normal(size=(n, 2)), rng.normal(size=(3, n)), rng.normal(size=(3, 2)))


@pytest.mark.parametrize("method", list(SCIPY))
@pytest.mark.parametrize("seed", range(3))
def test_responses_are_those_of_scipy(method: str, seed: int) -> None:
    """States may be chosen otherwise; the response may not."""
    model = random_model(seed)
    A, B, C, D, _ = scipy.signal.cont2discrete((model.A, model.B, model.C, model.D), T, SCIPY[method])
    omega = np.array([0.0, 0.7, 5.0, 40.0])
    expected = of_matrices(A, B, C, D, T).response(omega)
    found = sample(model, T, method)
    assert found.period == T
    np.testing.assert_allclose(found.response(omega), expected, atol=1e-10 * np.abs(expected).max())
    back = unsample(found, method)
    assert back.period is None
    size = np.abs(model.response(omega)).max()
    np.testing.assert_allclose(back.response(omega), model.response(omega), atol=1e-9 * size)
    assert back.inputs == model.inputs


def test_a_ramp_is_followed_exactly() -> None:
    """x' = -2 x + u, u = t: x = t/2 - 1/4 + exp(-2 t)/4 at the instants."""
    found = sample(([[-2.0]], [[1.0]], [[1.0]]), 0.3, "ramp")
    x, out = np.zeros(1), []
    for k in range(6):
        u = np.array([0.3 * k])
        out.append((found.C @ x + found.D @ u)[0])
        x = found.A @ x + found.B @ u
    t = 0.3 * np.arange(6)
    np.testing.assert_allclose(out, t / 2 - 0.25 + np.exp(-2 * t) / 4, atol=1e-14)


def test_the_response_at_one_frequency_stays() -> None:
    model, w = random_model(3), 30.0
    found = sample(model, T, "trapezoidal", frequency=w)
    np.testing.assert_allclose(found.response([w]), model.response([w]), atol=1e-12)
    assert np.abs(sample(model, T, "trapezoidal").response([w]) - model.response([w])).max() > 1e-3
    back = unsample(found, "trapezoidal", frequency=w)
    np.testing.assert_allclose(back.A, model.A, atol=1e-10)


@pytest.mark.parametrize(
    ("num", "den", "zeros"),
    [
        ([2.0, 6.0], [1.0, 3.0, 2.0], [np.exp(-3 * T)]),
        ([4.0], [1.0, 3.0, 2.0], [-1.0]),  # two zeros at infinity: one of them at z = -1
        ([1.0], [1.0, 1.0, 0.0], [-1.0]),  # an integrator: no gain at rest
    ],
)
def test_matched_poles_and_zeros(num: list[float], den: list[float], zeros: list[float]) -> None:
    found = sample((num, den), T, "matched")
    poles = np.sort(np.exp(np.roots(den) * T))
    np.testing.assert_allclose(np.sort(np.linalg.eigvals(found.A)), poles, atol=1e-12)
    b, a = scipy.signal.ss2tf(found.A, found.B, found.C, found.D)
    np.testing.assert_allclose(
        np.roots(np.trim_zeros(np.where(np.abs(b[0]) < 1e-12, 0, b[0]), "f")), zeros, atol=1e-9
    )
    s = 1e-4j
    gain = np.polyval(b[0], np.exp(s * T)) / np.polyval(a, np.exp(s * T))
    assert gain == pytest.approx(np.polyval(num, s) / np.polyval(den, s), rel=1e-3)


def test_what_is_refused() -> None:
    model = random_model(0)
    with pytest.raises(InputError, match="MATLAB's 'zoh' is 'hold' here"):
        sample(model, T, "zoh")
    with pytest.raises(InputError, match="half of the sampling rate"):
        sample(model, T, "trapezoidal", frequency=100.0)
    with pytest.raises(InputError, match="takes no delay"):
        sample(model, T, "ramp", 0.01)
    with pytest.raises(InputError, match="expected one each"):
        sample(model, T, "matched")
    with pytest.raises(InputError, match="found a continuous model"):
        unsample(model)
    with pytest.raises(InputError, match=r"pole at z = -0.5; expected none at zero"):
        unsample(([[-0.5]], [[1.0]], [[1.0]], [[0.0]], T))
    with pytest.raises(InputError, match="pole at z = 0"):
        unsample(sample(as_plant(([1.0], [1.0, 1.0])), T, delay=T))
