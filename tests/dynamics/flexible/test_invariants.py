"""What a flexible body holds, against the exact inertia of displaced particles."""

from __future__ import annotations

import numpy as np
import pytest

from articulus.errors import InputError
from articulus.mechanism.modes import Modes, Station
from flexible_zoo import Cloud, random_cloud, random_modes

N = 3
RNG = np.random.default_rng(3)
CLOUD = random_cloud(RNG, N)
MODES = CLOUD.modes(np.eye(N), np.zeros((N, N)), {})


def derivative(f, k: int, h: float = 1e-3) -> np.ndarray:
    """Return df/deta_k at zero by differences of order four: errors of 1e-12 times fifth derivatives."""
    e = h * np.eye(N)[k]
    return (8 * (f(e) - f(-e)) - (f(2 * e) - f(-2 * e))) / (12 * h)


def second(f, k: int, l: int, h: float = 1e-2) -> np.ndarray:
    """Return d2f/(deta_k deta_l) at zero; exact for polynomials of degree three, and the even fourth cancels to 1e-4 h^2."""
    a, b = h * np.eye(N)[k], h * np.eye(N)[l]
    at = lambda s: (f(s * (a + b)) - f(s * (a - b)) - f(s * (b - a)) + f(-s * (a + b))) / (4 * (s * h) ** 2)  # noqa: E731
    return (4 * at(1.0) - at(2.0)) / 3


def test_integrals_are_derivatives_of_the_inertia_of_the_displaced_particles() -> None:
    rr, rf, ff = CLOUD.matrices(np.zeros(N))
    np.testing.assert_allclose(MODES.rr0, rr, atol=1e-13)
    np.testing.assert_allclose(MODES.rf0, rf, atol=1e-13)
    np.testing.assert_allclose(MODES.ff, ff, atol=1e-13)
    for k in range(N):
        np.testing.assert_allclose(MODES.rr1[k], derivative(lambda e: CLOUD.matrices(e)[0], k), atol=1e-10)
        both = MODES.rf1[k] + MODES.rf1_shortening[k]
        np.testing.assert_allclose(both, derivative(lambda e: CLOUD.matrices(e)[1], k), atol=1e-10)
        for l in range(N):
            both = MODES.rr2[k, l] + MODES.rr2_shortening[k, l]
            np.testing.assert_allclose(both, second(lambda e: CLOUD.matrices(e)[0], k, l), atol=1e-8)


def test_without_shortening_the_polynomials_are_exact() -> None:
    straight = Cloud(CLOUD.mass, CLOUD.r, CLOUD.phi, 0 * CLOUD.h)
    m, eta = straight.modes(np.eye(N), np.zeros((N, N)), {}), RNG.normal(size=N)
    rr, rf, ff = straight.matrices(eta)
    quadratic = m.rr0 + np.einsum("kij,k->ij", m.rr1, eta) + 0.5 * np.einsum("klij,k,l->ij", m.rr2, eta, eta)
    np.testing.assert_allclose(quadratic, rr, atol=1e-12)
    np.testing.assert_allclose(m.rf0 + np.einsum("kij,k->ij", m.rf1, eta), rf, atol=1e-12)
    np.testing.assert_allclose(m.ff, ff, atol=1e-12)


def test_equal_numbers_are_equal_modes() -> None:
    one, two = (random_modes(np.random.default_rng(1), 2) for _ in range(2))
    assert one == two
    assert hash(one) == hash(two)
    assert one != one.at_level("ruthless")
    assert one != random_modes(np.random.default_rng(2), 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ff": np.array([[1.0, 0.2], [0.0, 1.0]])}, "'ff' is not symmetric"),
        ({"ff": np.diag([1.0, -1.0])}, "'ff' has the negative eigenvalue -1"),
        ({"stiffness": np.zeros((3, 3))}, r"'stiffness' has shape \(3, 3\); expected finite numbers of shape \(2, 2\)"),
        ({"rf0": np.full((6, 2), np.nan)}, "'rf0' has shape .* finite"),
        ({"level": "consistant"}, "did you mean 'consistent'"),
        ({"stations": {"tip": Station(np.zeros(3), np.zeros((3, 1)), np.zeros((3, 2)), np.zeros((3, 2, 2)))}}, "station 'tip'"),
    ],
)  # fmt: skip
def test_wrong_modes_are_refused(change: dict, message: str) -> None:
    held = random_modes(np.random.default_rng(1), 2)
    fields = {name: getattr(held, name) for name in Modes.__dataclass_fields__}
    with pytest.raises(InputError, match=message):
        Modes(**(fields | change))


def test_an_unknown_station_is_named() -> None:
    with pytest.raises(InputError, match="no station 's2' on this flexible body; valid names: s0, s1"):
        random_modes(np.random.default_rng(1), 2).station("s2")
