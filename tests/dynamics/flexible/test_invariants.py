"""What a flexible body holds, against the exact inertia of displaced particles."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from articulus.dynamics.flexible.body import ElasticBody
from articulus.dynamics.flexible.data import BodyData
from articulus.errors import InputError
from articulus.model.mechanism.modes import Modes, Station
from articulus.structure import beam_body
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


def whole(body: Modes, eta: np.ndarray) -> np.ndarray:
    """Return the mass matrix of (V, eta_dot)."""
    b = ElasticBody.of(BodyData(body), ca.SX(ca.DM(eta)))
    return np.array(ca.DM(ca.blockcat([[b.inertia.matrix(), b.rf], [b.rf.T, b.ff]])))


def test_the_mass_matrix_is_that_of_a_displacement_field() -> None:
    """With displacements of second order that are linear in the place, it is the sum of J' m J over the particles."""
    B = RNG.normal(size=(3, 4, N, N))
    places = np.concatenate([np.ones((len(CLOUD.r), 1)), CLOUD.r], axis=1)
    h = np.einsum("pf,afkl->pakl", places, B + B.swapaxes(2, 3))
    cloud = Cloud(CLOUD.mass, CLOUD.r, CLOUD.phi, h)
    eta = RNG.normal(size=N)
    rr, rf, ff = cloud.matrices(eta)
    M = whole(cloud.modes(np.eye(N), np.zeros((N, N)), {}), eta)
    np.testing.assert_allclose(M, np.block([[rr, rf], [rf.T, ff]]), atol=1e-10 * np.abs(rr).max())


@pytest.mark.parametrize("size", [0.1, 1.0, 10.0])
def test_the_mass_matrix_of_any_body_is_positive_definite_however_bent(size: float) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        M = whole(random_modes(rng, N), size * rng.normal(size=N))
        assert np.linalg.eigvalsh(M)[0] > 0


@pytest.mark.parametrize("modes", [2, 3, 6, 12])
def test_beams_stay_positive_definite(modes: int) -> None:
    """In one plane, without a hub: with terms of second order alone the sign changes at 0.18, 0.10, 0.036, 0.014 of the length.

    Rounding moves eigenvalues of the scaled matrix, 1e-5 and more, by 1e-15.
    """
    body = beam_body(1.0, EI=1.0, mass_per_length=1.0, modes=modes, elements=3 * modes)
    for part in (0.0, 0.01, 0.1, 0.3):
        eta = np.zeros(modes)
        eta[0] = part / body.station("tip").translation[1, 0]
        M = whole(body, eta)[np.ix_([2, *range(6, 6 + modes)], [2, *range(6, 6 + modes)])]
        size = np.sqrt(np.diag(M))
        assert np.linalg.eigvalsh(M / size / size[:, None])[0] > 1e-6


def test_heavy_bodies_in_space_stay_positive_definite() -> None:
    """Bending in two planes, torsion, and a heavy body at the tip: rotary inertia counts as mass about the axis."""
    body = beam_body(
        1.0, EI=(1.0, 1.3), mass_per_length=1.0, modes=3, torsion=2, GJ=0.8, planes="both", rotary_inertia=1e-3,
        tip_mass=5.0, tip_inertia=(2.0, 1.5, 1.0),
    )  # fmt: skip
    rng = np.random.default_rng(0)
    for part in (0.05, 0.2, 0.4):
        eta = rng.normal(size=body.count) / np.sqrt(np.diag(body.stiffness))
        eta *= part / np.linalg.norm(body.station("tip").translation @ eta)
        M = whole(body, eta)
        size = np.sqrt(np.diag(M))
        assert np.linalg.eigvalsh(M / size / size[:, None])[0] > 1e-7


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
