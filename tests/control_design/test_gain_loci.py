"""Characteristic gain loci: turns around -1 against eigenvalues of the closed loop, on random loops and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from articulus import control
from articulus.control.analysis import gain_loci
from articulus.control.analysis.gain_loci import follow
from articulus.errors import DoubtfulResult, InputError


@pytest.mark.parametrize("period", [None, 0.1])
@pytest.mark.parametrize("m", [1, 2, 4])
def test_turns_count_the_unstable_poles_of_random_loops(m, period):
    rng = np.random.default_rng(m)
    seen = set()
    for _ in range(12):
        n = int(rng.integers(1, 8))
        A = rng.standard_normal((n, n)) * (3.0 if period is None else 0.8 / np.sqrt(n) * 1.4)
        B, C = rng.standard_normal((n, m)), rng.standard_normal((m, n))
        D = 0.3 * rng.standard_normal((m, m)) if rng.random() < 0.5 else np.zeros((m, m))
        closed = np.linalg.eigvals(A - B @ np.linalg.solve(np.eye(m) + D, C))
        left = closed.real if period is None else np.abs(closed) - 1
        if np.abs(left).min() < 1e-3:
            continue
        found = gain_loci((A, B, C, D, *(() if period is None else (period,))))
        assert found.unstable_closed == np.count_nonzero(left > 0)
        seen.add((found.unstable_open, found.unstable_closed))
    assert len(seen) > 4  # stable and unstable ones, opened and closed


def test_loci_of_a_circulant_loop_are_known():
    """L = g(s) [[a, -b], [b, a]] has the loci (a + jb) g and (a - jb) g."""
    found = gain_loci(([[-1.0, 0], [0, -1.0]], np.eye(2), [[3.0, -4.0], [4.0, 3.0]], np.zeros((2, 2))))
    w = found.omega[:-1]
    g = 1 / (1j * w + 1)
    known = np.stack([(3 + 4j) * g, (3 - 4j) * g], axis=1)
    off = np.minimum(np.abs(found.loci[:-1] - known), np.abs(found.loci[:-1] - known[:, ::-1])).max()
    assert off < 1e-5  # the contour is 1e-6 of the frequency beside the axis
    assert np.abs(np.diff(found.loci, axis=0)).max() < 2.5  # continuous: the loci stay apart by 8 |g|
    assert (found.turns, found.unstable_closed) == (0, 0)


def test_integrators_and_undamped_modes_lie_to_the_left_of_the_contour():
    double = (
        [[0.0, 1.0], [0.0, 0.0]],
        [[0.0], [1.0]],
        [[1.0, 1.0]],
        [[0.0]],
    )  # (s + 1) / s^2: closed -0.5 +- 0.87j
    assert gain_loci(double).unstable_closed == 0
    unstable = ([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], [[1.0, -1.0]], [[0.0]])  # (1 - s) / s^2
    assert gain_loci(unstable).unstable_closed == 2
    modes = (
        [[0.0, 1.0], [-100.0, 0.0]],
        [[0.0], [1.0]],
        [[0.0, 2.0]],
        [[0.0]],
    )  # rate feedback of an undamped mode
    assert gain_loci(modes).unstable_closed == 0
    turned = (*modes[:2], [[0.0, -2.0]], [[0.0]])
    assert gain_loci(turned).unstable_closed == 2


def test_a_design_is_judged_as_its_poles_are():
    plant = ([[0.0, 1.0], [4.0, 0.0]], [[0.0], [1.0]], [[1.0, 0.0]], [[0.0]])
    design = control.lqg(plant, 10.0, 1.0, 1.0, 0.1)
    found = gain_loci(design)
    assert (found.unstable_open, found.turns, found.unstable_closed) == (1, 1, 0)
    S = control.margins(design).sensitivity
    assert found.nearest[0] == pytest.approx(
        1 / S.value, rel=0.05
    )  # one channel; between frequencies of the grid
    assert found.plot().axes
    assert "1 turns around -1" in str(found)


def test_a_locus_through_minus_one_is_told():
    with pytest.warns(DoubtfulResult, match="boundary of stability"):
        gain_loci(([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], [[1.0, 0.0]], [[0.0]]), [0.5, 1.0, 2.0])


@pytest.mark.parametrize(
    ("loop", "omega", "told"),
    [
        (([[-1.0]], [[1.0, 2.0]], [[1.0]], [[0.0, 0.0]]), None, "2 inputs and 1 outputs"),
        (([[-1.0]], [[1.0]], [[1.0]], [[0.0]]), [-1.0, 2.0], "not negative"),
        (([[-1.0]], [[1.0]], [[1.0]], [[0.0]]), [np.nan], "finite"),
        (([[0.5]], [[1.0]], [[1.0]], [[0.0]], 0.1), [100.0], "half of the sampling"),
    ],
)
def test_wrong_loops_and_frequencies_are_refused(loop, omega, told):
    with pytest.raises(InputError, match=told):
        gain_loci(loop, omega)


def test_following_is_continuous():
    t = np.linspace(0, 2 * np.pi, 200)
    loci = np.stack([np.exp(1j * t), 2 * np.exp(-1j * t)], axis=1)
    mixed = loci.copy()
    mixed[::3] = mixed[::3, ::-1]
    assert np.abs(np.diff(follow(mixed), axis=0)).max() < 0.07
