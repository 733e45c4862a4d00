"""Exact identities of polynomial matrices: residuals are zero."""

import itertools

import numpy as np
import pytest

pytest.importorskip("flint")

from articulus.control.exact.polynomial_matrix import (
    PolynomialMatrix,
    coprime,
    hermite,
    right_fraction,
    smith,
)
from articulus.errors import InputError


def random(m, n, degree, seed):
    rng = np.random.default_rng(seed)
    return PolynomialMatrix(
        [[[int(c) for c in rng.integers(-4, 5, degree + 1)] for _ in range(n)] for _ in range(m)]
    )


@pytest.mark.parametrize(("m", "n", "seed"), [(3, 3, 0), (4, 2, 1), (2, 4, 2)])
def test_hermite_and_smith(m, n, seed):
    P = random(m, n, 2, seed)
    H, U = hermite(P)
    assert U @ P == H
    assert U.determinant().degree() == 0
    assert all(H[i, j] == 0 for i in range(m) for j in range(n) if j < i)
    S, U, V = smith(P)
    assert U @ P @ V == S
    assert U.determinant().degree() == V.determinant().degree() == 0
    diagonal = [S[i, i] for i in range(min(m, n))]
    assert all(b % a == 0 for a, b in itertools.pairwise(diagonal) if a != 0)


def test_determinant_is_that_of_numbers():
    P = random(3, 3, 2, 5)
    det = P.determinant()
    for s in (0, 2, -3):
        np.testing.assert_allclose(float(det(s)), np.linalg.det(P(s)), rtol=1e-10)


def test_coprime_fractions_of_a_transfer_matrix_with_a_common_factor():
    """G with the factor (s + 1) in both N and D: it is taken out, and Bezout's equation holds exactly."""
    N, D = right_fraction([[[1, 1], 2], [0, [3, 1]]], [[[2, 3, 1], [3, 1]], [[1, 1], ["1/2", 1]]])
    extra = PolynomialMatrix([[[1, 1], 0], [0, 1]])
    found = coprime(N @ extra, D @ extra)
    assert PolynomialMatrix.identity(2) == found.X @ found.D + found.Y @ found.N
    assert found.Dl @ found.N == found.Nl @ found.D
    assert found.D @ found.common == D @ extra
    assert found.N @ found.common == N @ extra
    s = 0.3 + 0.7j
    G = N(s) @ np.linalg.inv(D(s))
    np.testing.assert_allclose(found.N(s) @ np.linalg.inv(found.D(s)), G, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(np.linalg.inv(found.Dl(s)) @ found.Nl(s), G, rtol=1e-12, atol=1e-13)
    assert found.D.determinant().degree() < (D @ extra).determinant().degree()


def test_bad_input_is_named():
    with pytest.raises(InputError, match="different lengths"):
        PolynomialMatrix([[1, 2], [3]])
    with pytest.raises(InputError, match="coefficient nan"):
        PolynomialMatrix([[float("nan")]])
    with pytest.raises(InputError, match="singular for every s"):
        coprime(PolynomialMatrix([[1, 1]]), PolynomialMatrix([[1, 1], [1, 1]]))
