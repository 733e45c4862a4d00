"""Families of polynomials: Kharitonov, edges, polynomic; against roots of random members."""

import itertools
import time

import numpy as np
import pytest

from articulus.control.robust import edges, kharitonov, polynomic
from articulus.control.robust.polynomials import hurwitz
from articulus.errors import DoubtfulResult, InputError

RNG = np.random.default_rng(5)


def rightmost(p):
    return np.roots(p).real.max()


@pytest.mark.parametrize("degree", [2, 3, 4, 5])
def test_kharitonov_against_random_members(degree):
    """If the four are stable, so is every member; if not, one of the four has the root to show it."""
    seen = set()
    for _ in range(25):
        middle = np.poly(-RNG.uniform(0.2, 2.0, degree))
        width = RNG.uniform(0.0, 0.9) * middle
        found = kharitonov(middle - width, middle + width)
        members = middle + width * RNG.uniform(-1, 1, (30, degree + 1))
        if found:
            assert max(map(rightmost, members)) < 0
        else:
            assert rightmost(found.polynomial) >= 0
            assert (np.abs(found.polynomial - middle) <= width + 1e-12).all()
        seen.add(bool(found))
    assert degree < 3 or seen == {True, False}


def test_kharitonov_third_degree_by_hand():
    """s^3 + a s^2 + b s + c, all positive: stable if and only if a_min b_min > c_max (Routh)."""
    assert kharitonov([1, 2, 3, 1], [1, 4, 5, 5.99])
    assert not kharitonov([1, 2, 3, 1], [1, 4, 5, 6.01])
    with pytest.raises(InputError, match="degree must not change"):
        kharitonov([-1, 1], [1, 1])


def test_edges_find_what_corners_do_not_show():
    """s^3 + a s^2 + b s + c with a b > c at both ends (1 > 0.9, 100 > 99), but 5.5^2 < 49.95 in the middle."""
    p, q = np.array([1.0, 1.0, 1.0, 0.9]), np.array([1.0, 10.0, 10.0, 99.0])
    assert rightmost(p) < 0
    assert rightmost(q) < 0
    found = edges([p, q])
    assert not found
    assert abs(found.root.real) < 1e-9  # where the line leaves stability
    assert max(rightmost((1 - t) * p + t * q) for t in np.linspace(0, 1, 400)) > 0


def test_edges_against_dense_lines():
    seen = set()
    for _ in range(30):
        p, q = (np.poly(-RNG.uniform(0.02, 0.3, 1)) for _ in range(2))
        for _ in range(2):
            z, w = RNG.uniform(0.01, 0.3, 2), RNG.uniform(0.3, 3.0, 2)
            p, q = (
                np.polymul(p, [1, 2 * z[0] * w[0], w[0] ** 2]),
                np.polymul(q, [1, 2 * z[1] * w[1], w[1] ** 2]),
            )
        found = edges([p, q])
        dense = max(rightmost((1 - t) * p + t * q) for t in np.linspace(0, 1, 120))
        assert bool(found) == (dense < 0) or abs(dense) < 1e-3
        seen.add(bool(found))
    assert seen == {True, False}


def test_hurwitz_determinant_by_hand():
    np.testing.assert_array_equal(hurwitz(np.array([1.0, 2.0, 3.0, 4.0])), [[2, 4, 0], [1, 3, 0], [0, 2, 4]])


def test_polynomic_dependence():
    """s^3 + a s^2 + b s + a^2 b: stable if and only if a b > a^2 b, a < 1 (Routh), for a, b > 0."""
    family = lambda a, b: [1.0, a, b, a * a * b]  # noqa: E731
    assert polynomic(family, {"a": (0.2, 0.95), "b": (1.0, 3.0)})
    found = polynomic(family, {"a": (0.2, 1.05), "b": (1.0, 3.0)})
    assert found.stable is False
    assert found.values["a"] >= 1.0
    np.testing.assert_allclose(rightmost(family(**found.values)), found.root.real, atol=1e-9)
    with pytest.raises(InputError, match="not polynomials"):
        polynomic(lambda a: [1.0, np.exp(3 * a)], {"a": (0.0, 1.0)})


def test_polynomic_tells_its_limit_and_reads_no_clock(monkeypatch):
    """a < 0.95 takes some hundred parts: ten do not decide, and an hour per look at a clock changes nothing."""
    family, box = lambda a, b: [1.0, a, b, a * a * b], {"a": (0.2, 0.95), "b": (1.0, 3.0)}
    with pytest.warns(DoubtfulResult, match=r"left after 10; raise parts.*rightmost root"):
        assert polynomic(family, box, parts=10).stable is None
    with pytest.raises(InputError, match="parts = 0"):
        polynomic(family, box, parts=0)
    quick, hours = polynomic(family, box), itertools.count()
    for clock in ("time", "monotonic", "perf_counter", "process_time"):
        monkeypatch.setattr(time, clock, lambda: 3600.0 * next(hours))
    slow = polynomic(family, box)
    assert slow.stable is quick.stable is True
    assert slow.root == quick.root


def test_polynomic_on_the_boundary_is_told():
    """a = 1 has roots on the imaginary axis only outside a box that ends 1e-9 before it: the smallest part does not decide."""
    with pytest.warns(DoubtfulResult, match="too near to the boundary"):
        assert polynomic(lambda a: [1.0, a, 1.0, a * a], {"a": (0.2, 1.0 - 1e-9)}).stable is None
