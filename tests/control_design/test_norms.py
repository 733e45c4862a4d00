"""Norms, Gramians and the stable part against SLICOT, closed forms and the equations themselves."""

import numpy as np
import pytest

from articulus.control import as_plant, gram, h2norm, hankel_values, hinfnorm, peak_gain, stabsep
from articulus.errors import InputError

SIZES = [(1, 1, 1), (5, 2, 3), (12, 1, 4), (20, 4, 2)]


def stable_system(n, m, p, period, seed=0):
    rng = np.random.default_rng(seed + n)
    A = rng.normal(size=(n, n))
    values = np.linalg.eigvals(A)
    A = A - (values.real.max() + 0.02) * np.eye(n) if period is None else A * 0.995 / np.abs(values).max()
    return A, rng.normal(size=(n, m)), rng.normal(size=(p, n)), rng.normal(size=(p, m)), period


@pytest.mark.parametrize("period", [None, 0.1])
@pytest.mark.parametrize("size", SIZES)
def test_norms_are_those_of_slicot(size, period):
    slycot = pytest.importorskip("slycot")
    A, B, C, D, _ = plant = stable_system(*size, period)
    kind = "C" if period is None else "D"
    peak, omega = slycot.ab13dd(kind, "I", "S", "D", *size, A, np.eye(len(A)), B, C, D, tol=1e-10)[:2]
    found = hinfnorm(plant)
    assert found.value == pytest.approx(peak, rel=1e-9)  # the oracle's own tolerance is 1e-10
    assert found.omega == pytest.approx(
        omega / (period or 1.0), rel=1e-5, abs=1e-7
    )  # a flat peak: square root of rounding
    D = 0 * D if period is None else D
    h2 = slycot.ab13bd(kind, "H", *size, A.copy(), B.copy(), C.copy(), D.copy())
    assert h2norm((A, B, C, D, period)).value == pytest.approx(h2, rel=1e-9)


def test_narrow_peak_between_coarse_frequencies():
    """Two resonances with a damping of 1e-6; the peak is 1 / (2 zeta w^2 sqrt(1 - zeta^2))."""
    zeta, w = 1e-6, 3.0
    A = np.array([[0, 1, 0, 0], [-(w**2), -2 * zeta * w, 0, 0], [0, 0, 0, 1], [0, 0, -100, -0.2]])
    plant = (A, [[0], [1], [0], [1]], [[1, 0, 0, 0]], [[0]])
    assert hinfnorm(plant).value == pytest.approx(1 / (2 * zeta * w**2 * np.sqrt(1 - zeta**2)), rel=1e-7)


def test_units_do_not_matter():
    A, B, C, D, _ = stable_system(8, 2, 2, None)
    d = 10.0 ** np.linspace(-8, 8, 8)
    other = (A * d / d[:, None], B / d[:, None], C * d, D)
    assert hinfnorm(other).value == pytest.approx(hinfnorm((A, B, C, D)).value, rel=1e-9)
    np.testing.assert_allclose(hankel_values(other), hankel_values((A, B, C, D)), rtol=1e-8)


def test_all_pass_has_gain_one_everywhere():
    assert hinfnorm(([[-1.0]], [[-2.0]], [[1.0]], [[1.0]])).value == pytest.approx(1.0, rel=1e-12)


def test_infinite_norms_say_why():
    assert "pole at 0" in hinfnorm(([[0.0]], [[1.0]], [[1.0]], [[0.0]])).reason
    assert "feedthrough 2 from u.0 to y.0" in h2norm(([[-1.0]], [[1.0]], [[1.0]], [[2.0]])).reason
    assert h2norm(([[-0.5]], [[1.0]], [[1.0]], [[2.0]], 0.1)).value == pytest.approx(np.sqrt(4 + 1 / 0.75))
    assert peak_gain(([[1.0]], [[1.0]], [[1.0]], [[0.0]])).value == pytest.approx(1.0)
    assert hinfnorm(([[1.0]], [[1.0]], [[1.0]], [[0.0]])).value == np.inf


@pytest.mark.parametrize("period", [None, 0.1])
def test_gramians_satisfy_their_equations(period):
    A, B, C, _, _ = plant = stable_system(9, 2, 3, period)
    for M, N, which in ((A, B, "c"), (A.T, C.T, "o")):
        P = gram(plant, which)
        off = M @ P + P @ M.T + N @ N.T if period is None else M @ P @ M.T - P + N @ N.T
        assert np.abs(off).max() < 1e-12 * np.abs(P).max()


def test_small_hankel_values_keep_their_digits():
    """b / (s + a) twice, the second 1e-12 as large: Hankel values of each alone are b / 2a; together within 1e-12 of that."""
    small = 1e-6
    found = hankel_values((np.diag([-1.0, -50.0]), [[1.0], [small]], [[1.0, small]], [[0.0]]))
    # exact of the pair: trace and determinant of the Gramian of this symmetric system
    P = np.array([[0.5, small / 51], [small / 51, small**2 / 100]])
    assert found[0] * found[1] == pytest.approx(P[0, 0] * P[1, 1] - P[0, 1] ** 2, rel=1e-10)


def test_gramian_of_an_integrator_is_refused():
    with pytest.raises(InputError, match=r"pole.*0.*stabsep"):
        gram(([[0.0]], [[1.0]], [[1.0]], [[0.0]]))


@pytest.mark.parametrize("period", [None, 0.1])
def test_stable_part_and_rest_add_up(period):
    A, B, C, D, _ = stable_system(7, 2, 2, None)
    A = A + 1.5 * np.eye(7) if period is None else 1.3 * stable_system(7, 2, 2, period)[0]
    stable, rest = stabsep((A, B, C, D, period))
    assert 0 < len(rest.A) < 7
    values = np.linalg.eigvals(stable.A)
    assert (values.real < 0).all() if period is None else (np.abs(values) < 1).all()
    w = np.array([0.1, 1.0, 7.0])
    whole = as_plant((A, B, C, D, period)).response(w)
    np.testing.assert_allclose(stable.response(w) + rest.response(w), whole, rtol=1e-9, atol=1e-11)
