"""Banded LU factors are those of the full matrix, at every scale; singular matrices are refused."""

import mpmath
import numpy as np
import pytest

from articulus.numerics.banded import BandedLU, band_storage

RNG = np.random.default_rng(4)


def _random(n, lower, upper, scale):
    """Return a banded matrix and its storage; rows of sizes that differ by 1e3, so that rows are exchanged."""
    A = RNG.normal(size=(n, n)) * scale * 10 ** RNG.uniform(-1.5, 1.5, (n, 1))
    i, j = np.indices((n, n))
    A[(i - j > lower) | (j - i > upper)] = 0.0
    band, inside = band_storage(n, lower, upper), np.nonzero(A)
    band[lower + upper + inside[0] - inside[1], inside[1]] = A[inside]
    return A, band


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize(
    ("n", "lower", "upper"), [(1, 0, 0), (7, 0, 3), (7, 3, 0), (30, 1, 1), (40, 5, 2), (6, 5, 5)]
)
def test_solution_is_that_of_the_full_matrix(n, lower, upper, scale):
    A, band = _random(n, lower, upper, scale)
    right = RNG.normal(size=(n, 3))
    factors = BandedLU(band, lower, upper)
    X = factors.solve(right)
    exact = np.array((mpmath.matrix(A.tolist()) ** -1 * mpmath.matrix(right.tolist())).tolist(), dtype=float)
    allowed = 1e-14 * n * np.linalg.cond(A / np.abs(A).max(axis=1, keepdims=True))
    assert np.abs(X - exact).max() <= allowed * np.abs(exact).max()
    assert np.abs(A @ X - right).max() <= 1e-13 * n * (np.abs(A) @ np.abs(X)).max()
    np.testing.assert_array_equal(factors.solve(right[:, 1]), X[:, 1])


def test_right_sides_are_left_alone():
    _, band = _random(5, 1, 2, 1.0)
    right = np.ones(5)
    BandedLU(band, 1, 2).solve(right)
    np.testing.assert_array_equal(right, np.ones(5))


def test_storage_is_that_of_lapack():
    band = band_storage(4, 1, 2)
    band[3 + 2 - 1, 1] = 7.0
    assert band.flags.f_contiguous
    assert band.ravel(order="K")[(2 * 1 + 2 + 1) * 1 + 3 + 1] == 7.0


def test_singular_matrices_are_refused():
    _, band = _random(6, 1, 1, 1.0)
    band[:, 3] = 0.0
    with pytest.raises(np.linalg.LinAlgError, match=r"pivot \d of 6 is zero"):
        BandedLU(band, 1, 1)


def test_empty_matrix():
    assert BandedLU(band_storage(0, 1, 1), 1, 1).solve(np.zeros((0, 2))).shape == (0, 2)
