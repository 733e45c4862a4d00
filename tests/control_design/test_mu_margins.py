"""One-sided, two-sided and real margins of Tekawy, Safonov & Chiang 1989; the bound by a semidefinite program."""

import numpy as np
import pytest
import scipy.optimize

from articulus.control import mussv
from articulus.control.robust import mu_semidefinite, one_sided, perron, real_two_sided, two_sided
from articulus.errors import InputError

RNG = np.random.default_rng(11)
M = np.array([[0.2, -1, 0.5], [0.8, 0.3, -0.4], [-0.6, 0.7, 0.1]])


def complex_matrices(f, n):
    return RNG.normal(size=(f, n, n)) + 1j * RNG.normal(size=(f, n, n))


def scaled(d, matrix):
    d = np.concatenate([d, [0.0]])
    return np.exp(d)[:, None] * matrix * np.exp(-d)


def test_against_a_generic_optimizer():
    """Both bounds are convex in the logarithms of D: a simplex search from the origin finds them, to about 1e-6."""
    matrix = complex_matrices(1, 3)[0]
    for ours, value in (
        (two_sided, lambda d: np.linalg.norm(scaled(d, matrix), 2)),
        (one_sided, lambda d: np.linalg.eigvalsh(0.5 * (scaled(d, matrix) + scaled(d, matrix).conj().T))[-1]),
    ):
        options = {"xatol": 1e-9, "fatol": 1e-13, "maxiter": 4000}
        exact = min(
            scipy.optimize.minimize(value, x, method="Nelder-Mead", options=options).fun
            for x in RNG.normal(size=(3, 2))
        )
        assert ours(matrix) == pytest.approx(exact, rel=1e-5)


def test_order_of_the_margins():
    """K_m1 >= K_m2 >= 1 / sigma_max, real >= complex; Perron and singular value are the coarsest bounds."""
    matrices = complex_matrices(10, 4)
    one, two, real = one_sided(matrices), two_sided(matrices), real_two_sided(matrices)
    slack = 1 + 1e-6
    assert (one <= two * slack).all()
    assert (real <= two * slack).all()
    assert (one <= real * slack).all()
    assert (two <= np.linalg.norm(matrices, 2, axis=(1, 2)) * slack).all()
    assert (two <= perron(matrices) * slack).all()


def test_no_real_perturbation_inside_the_real_margin():
    """det(I - M Delta) keeps its sign for real Delta within the margin, and a corner attains it for this matrix."""
    bound = real_two_sided(M)
    deltas = RNG.uniform(-1, 1, (2000, 3)) / (bound * (1 + 1e-9))
    assert (np.linalg.det(np.eye(3) - M * deltas[:, None, :]) > 0).all()
    assert mussv(M, [(-1, 0)] * 3).lower == pytest.approx(bound, rel=1e-5)


def test_one_sided_closed_forms():
    """1 - m d = 0 with d in the disk over [0, K] needs Re(1 / d) >= 1 / K: K = 1 / Re m; of triangular M the worst entry."""
    assert one_sided([[2.0 - 5.0j]]) == pytest.approx(2.0, rel=1e-9)
    assert one_sided([[-2.0 + 1.0j]]) == 0.0
    assert one_sided(np.diag([-1.0, -2.0])) == 0.0
    assert one_sided([[1 + 1j, 30.0], [0.0, 0.5 - 4j]]) == pytest.approx(1.0, rel=1e-6)
    assert one_sided(M) == pytest.approx(0.3, rel=1e-6)


@pytest.mark.parametrize("blocks", [[(1, 1)] * 4, [(-1, 0), (2, 2), (-1, 0)], [(2, 0), (-2, 0)]])
def test_semidefinite_program_finds_the_same(blocks):
    matrix = complex_matrices(1, 4)[0]
    assert mussv(matrix, blocks).upper == pytest.approx(mu_semidefinite(matrix, blocks), rel=1e-5)


def test_wrong_input():
    with pytest.raises(InputError, match=r"shape \(2, 3\)"):
        two_sided(np.zeros((2, 3)))
    with pytest.raises(InputError, match="at most 12"):
        real_two_sided(np.eye(13))
