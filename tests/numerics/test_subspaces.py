"""Invariant subspaces: A maps them into themselves, at every scale, with the eigenvalues that were asked for."""

import numpy as np
import pytest

from articulus.numerics.subspaces import (
    invariant_subspace,
    near_axis,
    split_spectrum,
    stable_subspace,
)

RNG = np.random.default_rng(11)
SCALES = [1e-9, 1.0, 1e9]


def _random(n, scale):
    A = scale * RNG.normal(size=(n, n))
    values = np.linalg.eigvals(A)
    return A, values, values.real < 0


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("n", [1, 2, 5, 12, 40])
def test_subspaces_are_invariant(n, scale):
    A, values, stable = _random(n, scale)
    for part in (stable, ~stable):
        space = invariant_subspace(A, values, part)
        rows = invariant_subspace(A.T, values, part)
        assert space.basis.shape == (n, part.sum())
        np.testing.assert_allclose(space.basis.T @ space.basis, np.eye(part.sum()), atol=1e-13)
        np.testing.assert_allclose(A @ space.basis, space.basis @ space.T, atol=1e-12 * scale * n)
        assert _same(np.linalg.eigvals(space.T), values[part], 1e-9 * scale)
        # left rows of a group vanish on the subspace of the other one
        other = invariant_subspace(A, values, ~part)
        np.testing.assert_allclose(rows.basis.T @ other.basis, 0.0, atol=1e-9)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("n", [1, 3, 8, 30])
def test_a_split_is_the_matrix(n, scale):
    A, values, stable = _random(n, scale)
    split = split_spectrum(A, values, stable)
    k = int(stable.sum())
    middle = np.zeros((n, n))
    middle[:k, :k], middle[k:, k:] = split.A1, split.A2
    condition = np.linalg.cond(split.right)
    np.testing.assert_allclose(split.left @ split.right, np.eye(n), atol=1e-13 * condition)
    np.testing.assert_allclose(split.right @ middle @ split.left, A, atol=1e-12 * condition * scale)
    np.testing.assert_allclose(split.right[:, :k].T @ split.right[:, :k], np.eye(k), atol=1e-13)
    np.testing.assert_allclose(split.left[k:] @ split.left[k:].T, np.eye(n - k), atol=1e-13)
    assert _same(np.linalg.eigvals(split.A1), values[stable], 1e-9 * scale)


def test_fast_and_slow_modes_are_told_apart():
    """Poles of 1e-9 and 1e9 beside each other: the chosen ones, not those nearest to zero."""
    values = np.array([-1e9, -1e-9, 1e-3, 2.0])
    mix = np.triu(RNG.normal(size=(4, 4)), 1) + np.eye(4)
    A = mix @ np.diag(values) @ np.linalg.inv(mix)
    found = np.linalg.eigvals(A)
    chosen = np.abs(found) > 1e8
    space = invariant_subspace(A, found, chosen)
    np.testing.assert_allclose(space.T, [[-1e9]], rtol=1e-9)


def test_nothing_and_everything():
    A, values, _ = _random(4, 1.0)
    assert invariant_subspace(A, values, np.zeros(4, bool)).basis.shape == (4, 0)
    assert invariant_subspace(A, values, np.ones(4, bool)).basis.shape == (4, 4)
    none = np.zeros((0, 0))
    assert split_spectrum(none, np.zeros(0), np.zeros(0, bool)).right.shape == (0, 0)


def test_half_of_a_pair_is_refused():
    A = np.array([[0.0, 1.0], [-1.0, 0.0]])
    with pytest.raises(np.linalg.LinAlgError, match="rounding decides"):
        invariant_subspace(A, np.linalg.eigvals(A), np.array([True, False]))


@pytest.mark.parametrize("scale", SCALES)
def test_stable_subspace_of_a_hamiltonian_matrix(scale):
    n = 6
    A, B, C = (RNG.normal(size=(n, n)) for _ in range(3))
    H = scale * np.block([[A, -B @ B.T], [-C.T @ C, -A.T]])
    space = stable_subspace(H)
    np.testing.assert_allclose(H @ space.basis, space.basis @ space.T, atol=1e-11 * scale)
    assert np.linalg.eigvals(space.T).real.max() < 0
    assert stable_subspace(np.block([[np.zeros((1, 1)), -np.eye(1)], [np.eye(1), np.zeros((1, 1))]])) is None


def test_near_axis_counts_by_size_and_floor():
    values = np.array([1j, 1e-7 + 1j, -1e-7 - 1j, -1e-9, 0.0, -1.0])
    np.testing.assert_array_equal(near_axis(values, 1e-6), [True, True, True, False, True, False])
    np.testing.assert_array_equal(near_axis(values, 1e-6, 1e-8), [True, True, True, True, True, False])


def _same(found, expected, allowed):
    """Return whether two sets of values are equal but for rounding: each has its own neighbor."""
    return len(found) == len(expected) and all(np.abs(expected - s).min() <= allowed for s in found)
