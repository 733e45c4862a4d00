"""Zeros and modes against SLICOT, their definitions and closed forms."""

import control
import numpy as np
import pytest
import scipy.linalg

from articulus.control import as_plant, damp, minreal, tzero
from articulus.control.analysis import modal_access, strong_zeros, zero_dynamics
from articulus.control.connect import series
from articulus.control.plant import of_matrices
from articulus.errors import DoubtfulResult, InputError


def matched(found, expected, tolerance):
    """Whether two sets of numbers are equal, one by one, up to a tolerance over the largest."""
    found, expected = list(found), list(expected)
    if len(found) != len(expected):
        return False
    for z in expected:
        k = int(np.argmin(np.abs(np.array(found) - z)))
        if abs(found.pop(k) - z) > tolerance * (1 + abs(z)):
            return False
    return True


def slicot_zeros(slycot, A, B, C, D):
    n, m, p = len(A), B.shape[1], len(C)
    nu, rank, *_, Af, Bf = slycot.ab08nd(n, m, p, A, B, C, D, equil="S")
    return scipy.linalg.eigvals(Af[:nu, :nu], Bf[:nu, :nu]), rank


@pytest.mark.parametrize(
    "size", [(6, 2, 2), (6, 3, 1), (6, 1, 3), (7, 2, 3), (9, 4, 3), (5, 5, 5), (8, 1, 1)]
)
@pytest.mark.parametrize("feedthrough", ["none", "rank one", "full"])
def test_zeros_are_those_of_slicot(size, feedthrough):
    slycot = pytest.importorskip("slycot")
    n, m, p = size
    rng = np.random.default_rng(sum(size))
    A, B, C = rng.normal(size=(n, n)), rng.normal(size=(n, m)), rng.normal(size=(p, n))
    D = {
        "none": np.zeros((p, m)),
        "rank one": np.outer(rng.normal(size=p), rng.normal(size=m)),
        "full": rng.normal(size=(p, m)),
    }[feedthrough]
    found = tzero((A, B, C, D))
    expected, rank = slicot_zeros(slycot, A, B, C, D)
    assert found.normal_rank == rank
    assert matched(found.transmission, expected, 1e-7)


def test_rank_of_the_system_matrix_drops_at_zeros_of_a_built_plant():
    """Outputs of which some are derivatives of others, repeated signals, and states without input: structure, not luck."""
    rng = np.random.default_rng(5)
    A, B, C = rng.normal(size=(7, 7)), rng.normal(size=(7, 2)), rng.normal(size=(2, 7))
    C[1] = C[0] @ A - (C[0] @ B)[0] / max(abs((C[0] @ B)[0]), 1) * C[0]
    found = tzero((A, B, C, np.zeros((2, 2))))
    for z in found.transmission:
        matrix = np.block([[A - z * np.eye(7), B], [C, np.zeros((2, 2))]])
        assert np.linalg.svd(matrix, compute_uv=False)[-1] < 1e-8 * np.linalg.norm(matrix)
    twice = tzero((A, B, np.vstack([C[0], C[0]]), np.zeros((2, 2))))
    assert twice.normal_rank == 1
    assert twice.degenerate


def test_integrators_alone():
    """A = 0: 1 + 1/s has the zero -1, 1 + 0/s none but its hidden mode; the rank is that of D."""
    assert matched(tzero(([[0.0]], [[1.0]], [[1.0]], [[1.0]])).transmission, [-1.0], 1e-12)
    hidden = tzero(([[0.0]], [[1.0]], [[0.0]], [[1.0]]))
    assert hidden.normal_rank == 1
    assert matched(hidden.invariant, [0.0], 1e-12)
    assert not len(hidden.transmission)


def test_plant_whose_transfer_function_is_zero_has_no_minimal_states():
    """C vanishes on what B reaches, but no single state is without input or output."""
    A = [[0, -2, 1], [-2, 0, 0], [-2, -2, 1.0]]
    plant = (A, [[0], [1], [1]], [[-1, -1, 1]], [[0.0]])
    assert len(minreal(plant).A) == 0
    assert tzero(plant).normal_rank == 0


def test_hidden_modes_are_invariant_but_not_transmission_zeros():
    """(s + 2) / ((s + 1)(s + 3)) with a mode at -5 that the input does not move."""
    A = np.diag([-1.0, -3.0, -5.0])
    found = tzero((A, [[1.0], [1.0], [0.0]], [[0.5, 0.5, 1.0]], [[0.0]]))
    assert matched(found.transmission, [-2.0], 1e-9)
    assert matched(found.invariant, [-2.0, -5.0], 1e-9)


def test_units_of_states_and_signals_do_not_matter():
    rng = np.random.default_rng(2)
    A, B, C = rng.normal(size=(6, 6)), rng.normal(size=(6, 2)), rng.normal(size=(2, 6))
    d = 10.0 ** np.linspace(-6, 6, 6)
    other = (A * d / d[:, None], B / d[:, None] * [1e-7, 1e5], (C * d) * [[1e6], [1e-4]], np.zeros((2, 2)))
    assert matched(tzero(other).transmission, tzero((A, B, C, np.zeros((2, 2)))).transmission, 1e-6)


def test_strong_zero_makes_the_whole_matrix_vanish():
    """(s - 3) / (s + 1) times a matrix of full rank has the strong zero 3; so has no single entry's own zero."""
    factor = control.ss(control.tf([1, -3], [1, 1]))
    rng = np.random.default_rng(1)
    rest = control.ss(
        rng.normal(size=(3, 3)) - 4 * np.eye(3), rng.normal(size=(3, 2)), rng.normal(size=(2, 3)), 0
    )
    plant = control.append(factor, factor) * rest
    assert matched(strong_zeros(plant), [3.0], 1e-6)
    assert not len(strong_zeros(rest))
    ordinary = tzero(rest).transmission
    assert len(ordinary)


def test_zero_dynamics_of_a_non_minimum_phase_pair_warns():
    """G = (s - 2)(s + 3) / (s (s + 1)(s + 4)): relative degree 1."""
    plant = control.ss(control.tf(np.poly([2, -3]), np.poly([0, -1, -4])))
    with pytest.warns(DoubtfulResult, match="not minimum phase, zero at 2"):
        found = zero_dynamics(plant)
    assert found.relative_degree == 1
    assert matched(found.zeros, [2.0, -3.0], 1e-9)
    model = as_plant(plant)
    # on the basis the output is zero and some input keeps the motion in it
    assert np.abs(model.C @ found.V).max() < 1e-12
    off = model.A @ found.V - found.V @ found.A
    assert np.abs(off - model.B @ np.linalg.lstsq(model.B, off, rcond=None)[0]).max() < 1e-12


def test_zero_dynamics_of_a_sampled_and_of_an_unconnected_pair():
    found = zero_dynamics(([[0.5, 1.0], [0.0, 0.2]], [[0.0], [1.0]], [[1.0, 0.0]], [[0.0]], 0.1))
    assert found.relative_degree == 2
    assert found.minimum_phase
    with pytest.raises(InputError, match=r"no way from input u.0 to output y.0"):
        zero_dynamics(([[-1.0]], [[1.0]], [[0.0]], [[0.0]]))
    with pytest.raises(InputError, match=r"2 inputs; expected the name of one: u.0, u.1"):
        zero_dynamics((np.diag([-1.0, -2]), np.eye(2), [[1.0, 1.0]], np.zeros((1, 2))))


@pytest.mark.parametrize("period", [None, 0.01])
def test_table_of_damping(period):
    """An oscillator of 2 Hz with 3 percent and a lag of 0.2 s, in states of very different units."""
    w = 4 * np.pi
    A = scipy.linalg.block_diag([[0, 1], [-(w**2), -0.06 * w]], [[-5.0]])
    d = np.array([1e3, 1.0, 1e-6])
    A = A * d / d[:, None]
    plant = as_plant(
        (
            A if period is None else scipy.linalg.expm(A * period),
            np.eye(3),
            np.eye(3),
            np.zeros((3, 3)),
            period,
        )
    )
    modes = damp(plant)
    np.testing.assert_allclose(modes.omega, [5.0, w, w], rtol=1e-9)
    np.testing.assert_allclose(modes.damping, [1.0, 0.03, 0.03], rtol=1e-8)
    np.testing.assert_allclose(modes.participation[0], [0, 0, 1], atol=1e-9)
    np.testing.assert_allclose(modes.participation[1], [0.5, 0.5, 0], atol=1e-9)
    assert modes.time_constants[0] == pytest.approx(0.2)
    assert "x.2 1.00" in str(modes)


def test_value_forgotten_within_a_period_is_an_infinitely_fast_pole():
    plant = as_plant((np.diag([0.0, 0.5]), np.eye(2), np.eye(2), np.zeros((2, 2)), 0.1))
    for poles in (plant.poles, damp(plant).poles):
        np.testing.assert_allclose(poles, [np.log(0.5) / 0.1, -np.inf])
    assert damp(plant).damping[1] == 1.0


def test_access_to_modes():
    plant = (
        np.diag([-1.0, -2.0, -3.0]),
        [[1.0, 0], [0, 1], [0, 0]],
        [[1.0, 0, 1], [0, 0, 1]],
        np.zeros((2, 2)),
    )
    found = modal_access(plant)
    np.testing.assert_allclose(found.controllability, [[1, 0], [0, 1], [0, 0]], atol=1e-12)
    np.testing.assert_allclose(
        found.observability, [[np.sqrt(0.5), 0], [0, 0], [np.sqrt(0.5), 1]], atol=1e-12
    )
    assert found.uncontrollable == [-3.0]
    assert found.unobservable == [-2.0]


@pytest.mark.parametrize("seed", range(12))
def test_chain_of_lags_has_the_one_zero_that_was_put_in(seed):
    """(s + z) / ((s + p1) ... (s + pk)) as a series of 16 to 27 lags: the zero alone, to the digits that its coefficients have."""
    rng = np.random.default_rng(seed)
    p, z = 10 ** rng.uniform(-1, 1.5, rng.integers(16, 28)), rng.uniform(0.1, 30)
    model = of_matrices([[-p[0]]], [[1.0]], [[z - p[0]]], [[1.0]])
    for a in p[1:]:
        model = series(model, of_matrices([[-a]], [[1.0]], [[rng.uniform(0.2, 5)]], [[0.0]]))
    assert tzero(model).transmission == pytest.approx([-z], rel=1e-9)


def test_zeros_of_a_chain_are_those_of_slicot():
    slycot = pytest.importorskip("slycot")
    import scipy.linalg

    k = 20
    model = of_matrices([[-float(k)]], [[1.0]], [[2.5 - k]], [[1.0]])
    for i in range(1, k):
        model = series(model, of_matrices([[-float(i)]], [[1.0]], [[1.0]], [[0.0]]))
    o = slycot.ab08nd(k, 1, 1, model.A, model.B, model.C, model.D)
    expected = scipy.linalg.eigvals(o[8][: o[0], : o[0]], o[9][: o[0], : o[0]])
    np.testing.assert_allclose(tzero(model).transmission, expected, rtol=1e-9)
