"""Norms, Gramians and the stable part against SLICOT, closed forms and the equations themselves."""

import mpmath as mp
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


def observed(seed):
    """An oscillator of 0.1 to 10 rad/s with state feedback from an observer of 1e2 to 1e8 rad/s, 4 states."""
    rng = np.random.default_rng(seed)
    fast, w0, z = 10 ** rng.uniform(2, 8), 10 ** rng.uniform(-1, 1), 10 ** rng.uniform(-2, 0)
    A, B, C = np.array([[0, 1.0], [-(w0**2), -2 * z * w0]]), np.array([[0], [1.0]]), np.array([[1.0, 0]])
    k = np.array([[rng.uniform(0, 3) * w0**2, rng.uniform(0.2, 3) * w0]])
    L = np.array([[1.4 * fast], [fast**2]])
    M = np.block([[A, -B @ k], [L @ C, A - B @ k - L @ C]])
    inputs = np.hstack([np.eye(4)[:, [1]], np.vstack([np.zeros((2, 1)), L]) / fast**2])
    return M, inputs, np.array([[1.0, 0, 0, 0], [0, 0, -k[0, 0], -k[0, 1]]]), np.zeros((2, 2))


def exact_gain(A, B, C, w):
    with mp.workdps(40):
        R, b, c = (
            mp.mpc(0, w) * mp.eye(len(A)) - mp.matrix(A.tolist()),
            mp.matrix(B.tolist()),
            mp.matrix(C.tolist()),
        )
        columns = [c * mp.lu_solve(R, b[:, j]) for j in range(2)]
        T = mp.matrix(2, 2)
        for i in range(2):
            for j in range(2):
                T[i, j] = columns[j][i]
        return float(mp.svd_c(T, compute_uv=False)[0])


@pytest.mark.filterwarnings(
    "ignore::articulus.errors.DoubtfulResult"
)  # a doubt is told at the fastest observers
@pytest.mark.parametrize("seed", [*range(24), 26, 40, 47, 60, 86])
def test_peak_where_slow_and_fast_poles_meet(seed):
    """The gain at the frequency returned, in 40 digits, is the value; nowhere on a fine grid is it higher than promised."""
    A, B, C, D = observed(seed)
    found = hinfnorm((A, B, C, D))
    assert exact_gain(A, B, C, found.omega) == pytest.approx(found.value, rel=1e-7)
    w = np.geomspace(1e-2, 1e2, 401)
    gains = np.linalg.norm(
        C @ np.linalg.solve(1j * w[:, None, None] * np.eye(4) - A, B.astype(complex)[None]), 2, axis=(1, 2)
    )
    assert exact_gain(A, B, C, w[np.argmax(gains)]) <= found.value * (1 + 1e-7)


def test_peak_of_a_sum_of_many_resonances():
    """Forty modes over six decades: no frequency of a very fine net has a higher gain."""
    rng = np.random.default_rng(1)
    w, z = 10 ** rng.uniform(-3, 3, 40), 10 ** rng.uniform(-4, -1, 40)
    A = np.block([[np.zeros((40, 40)), np.eye(40)], [-np.diag(w**2), -2 * np.diag(z * w)]])
    b = rng.normal(size=(40, 1)) * w[:, None]
    model = as_plant((A, np.vstack([0 * b, b]), np.hstack([b.T, 0 * b.T]), [[0.0]]))
    found = hinfnorm(model)
    net = np.unique((w[:, None] * (1 + z[:, None] * np.linspace(-2, 2, 401))).ravel())
    assert np.abs(model.response(net)).max() <= found * (1 + 1e-7)
    assert abs(model.response(found.omega)[0, 0, 0]) == pytest.approx(float(found), rel=1e-12)


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


def test_work_of_a_peak(monkeypatch):
    """Where poles are alike the maximum is known before the first Hamiltonian matrix is: one of them says that there is no higher one, rarely
    two; and no Schur form of A is made. Counts of work: clocks of busy machines say nothing."""
    from articulus.control.analysis import norms

    matrices, forms = [], []
    hamiltonian, gains = norms._hamiltonian, norms.Gains
    monkeypatch.setattr(norms, "_hamiltonian", lambda *given: matrices.append(1) or hamiltonian(*given))
    monkeypatch.setattr(norms, "Gains", lambda *given: forms.append(1) or gains(*given))
    systems = [stable_system(n, 2, 2, None, seed) for n in (4, 20) for seed in range(8)]
    for system in systems:
        hinfnorm(system)
    assert len(matrices) <= 1.5 * len(systems)
    assert not forms
