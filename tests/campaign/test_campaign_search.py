"""Worst cases, rare failures and sequential stopping, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats

from articulus.errors import InputError, NumericalError
from articulus.study.campaign.search import METHODS, worst_case
from articulus.study.campaign.sequential import Stopping, run_until
from articulus.study.campaign.statistics import pass_rate
from articulus.study.campaign.subset import failure_probability

BETA = 4.753424308822899  # Phi(-BETA) = 1e-6


def peaks(u):
    """Two hills: one of height 1 in a corner, one of 0.8 in the middle."""
    high = np.exp(-30 * ((u - 0.9) ** 2).sum(axis=1))
    return np.maximum(high, 0.8 * np.exp(-3 * ((u - 0.5) ** 2).sum(axis=1)))


@pytest.mark.parametrize("method", METHODS)
def test_the_worst_case_is_found_and_repeats(method):
    found = worst_case(peaks, 2, method=method, runs=1500, batch=30, seed=1)
    assert found.badness == pytest.approx(1, abs=1e-2)
    np.testing.assert_allclose(found.point, 0.9, atol=0.03)
    assert found.runs <= 1500
    assert (np.diff(found.history) >= 0).all()
    again = worst_case(peaks, 2, method=method, runs=1500, batch=30, seed=1)
    assert again.point.tobytes() == found.point.tobytes()


@pytest.mark.parametrize("method", METHODS)
def test_a_worst_case_at_the_end_of_the_range_is_told(method):
    found = worst_case(lambda u: u[:, 0] - u[:, 1] ** 2, 2, method=method, runs=1200, batch=20)
    assert found.at_edge.tolist() == [True, True]
    assert found.point[0] == pytest.approx(1 - 0.00135, abs=2e-3)
    inner = worst_case(lambda u: -((u - 0.3) ** 2).sum(axis=1), 2, method=method, runs=1200, batch=20)
    assert not inner.at_edge.any()


@pytest.mark.parametrize("method", METHODS)
def test_a_failed_run_ends_the_search(method):
    def fails(u):
        return np.where(u[:, 0] > 0.7, np.nan, u[:, 0])

    found = worst_case(fails, 2, method=method, runs=5000, batch=20)
    assert found.badness == math.inf
    assert found.point[0] > 0.7
    assert found.runs < 1000


def test_searches_that_make_no_sense_are_refused():
    with pytest.raises(InputError, match="cma-es"):
        worst_case(peaks, 3, method="cma")
    with pytest.raises(InputError, match="two or more"):
        worst_case(peaks, 1, method="cma-es")
    with pytest.raises(InputError, match="batches"):
        worst_case(peaks, 3, runs=10)


# rare failures


def linear(dims):
    return lambda u: special.ndtri(u).sum(axis=1) / math.sqrt(dims) - BETA


@pytest.mark.parametrize("dims", [1, 2, 50])
def test_subset_simulation_at_one_in_a_million(dims):
    found = failure_probability(linear(dims), dims, runs_per_level=4000, seed=3)
    # four deviations of the estimate that the method itself states, and a statement that is of any use
    assert 0.05 < found.variation < 0.3
    assert abs(math.log(found.probability / 1e-6)) < 4 * found.variation
    assert found.runs < 30_000  # plain Monte Carlo would take 2.5e7 for a variation of 0.2
    assert (linear(dims)(found.points) > 0).all()
    low, high = found.bounds
    assert low < found.probability < high


def test_the_stated_variation_is_that_of_repeated_estimates():
    # 24 estimates: the deviation of their logarithm is known to about 1/sqrt(2 * 24) = 15 %, the mean to sigma/sqrt(24)
    found = [failure_probability(linear(5), 5, runs_per_level=500, seed=s) for s in range(24)]
    logs = np.log([f.probability / 1e-6 for f in found])
    stated = np.mean([f.variation for f in found])
    assert 0.6 * stated < logs.std(ddof=1) < 1.7 * stated
    assert abs(logs.mean() + 0.5 * stated**2) < 4 * stated / math.sqrt(24)


def test_two_failure_regions_are_both_counted():
    # |z1| > b and the sphere |z| > r in five dimensions have closed forms
    two = failure_probability(lambda u: np.abs(special.ndtri(u[:, 0])) - 4.0, 2, runs_per_level=4000, seed=1)
    assert abs(math.log(two.probability / (2 * special.ndtr(-4.0)))) < 4 * two.variation
    radius = math.sqrt(stats.chi2.isf(1e-6, 5))
    ball = failure_probability(
        lambda u: np.linalg.norm(special.ndtri(u), axis=1) - radius, 5, runs_per_level=4000
    )
    assert abs(math.log(ball.probability / 1e-6)) < 4 * ball.variation


def test_frequent_failures_need_one_level_and_failed_runs_count():
    found = failure_probability(lambda u: np.where(u[:, 0] > 0.7, np.nan, -1.0), 1, runs_per_level=1000)
    assert found.runs == 1000
    assert found.probability == pytest.approx(0.3, abs=4 * math.sqrt(0.21 / 1000))


def test_flat_figures_are_refused():
    with pytest.raises(NumericalError, match="flat"):
        failure_probability(lambda u: np.full(len(u), -1.0), 2, runs_per_level=100)
    with pytest.raises(InputError, match="multiple of 10"):
        failure_probability(linear(2), 2, runs_per_level=1005)


def test_failures_that_no_run_meets_have_an_upper_bound():
    """A failure that cannot happen, one 60 deviations away (numbers between 0 and 1 end at 8), and one behind a plateau, at P(z > 5) = 3e-7."""
    never = failure_probability(lambda u: -1 - u[:, 0] ** 2, 2, runs_per_level=100)
    assert math.isnan(never.probability)
    assert 1e-8 < never.bounds[1] < 1e-6  # u^2 is lost beside 1 for u below 1e-8
    assert "no run failed" in never.warnings[0]
    assert len(never.points) == 0
    far = failure_probability(lambda u: special.ndtri(u[:, 0]) - 60.0, 1, runs_per_level=1000)
    assert math.isnan(far.probability)
    assert far.bounds[0] == 0.0
    assert (
        far.bounds[1] < 1e-12
    )  # 8.2 deviations are 1e-16; a factor of ten for each of few levels that hang at the end

    def ridge(u):
        z = special.ndtri(u[:, 0])
        return np.where(z > 5.0, 1.0, np.minimum(z - 3.0, -0.5))

    hidden = failure_probability(ridge, 1, runs_per_level=1000, seed=4)
    assert special.ndtr(-5.0) < hidden.bounds[1]
    assert hidden.at_most == pytest.approx(special.ndtr(-2.5), rel=4 * hidden.variation)


# sequential


def passing(p, seed):
    return lambda first, count: (
        np.random.Generator(np.random.Philox(key=seed).advance(first)).random(count) < p
    )


def test_runs_stop_when_the_answer_is_sure():
    rate, sure = run_until(passing(0.999, 1), Stopping(above=0.9))
    assert sure
    assert rate.runs == 64
    rate, sure = run_until(passing(0.5, 1), Stopping(width=0.05))
    assert sure
    assert rate.width <= 0.05
    rate, sure = run_until(passing(0.9, 1), Stopping(above=0.9, max_runs=2000))
    assert (rate.runs, sure) == (2000, False)


def test_many_looks_do_not_spoil_the_confidence():
    # runs that pass with exactly the rate asked about: any verdict is wrong; a plain 90 % interval looked at 9 times is wrong in far more
    wrong = plain = 0
    stopping = Stopping(above=0.5, confidence=0.9, first_runs=16, max_runs=4096)
    for seed in range(200):
        counts = np.cumsum(np.random.default_rng(seed).random(4096) < 0.5)
        looks = [(k, int(counts[n - 1]), n) for k, n in stopping.looks()]
        wrong += any(stopping.enough(stopping.rate(*look)) for look in looks)
        plain += any(stopping.enough(pass_rate(passed, runs, 0.9)) for _, passed, runs in looks)
    assert wrong <= 20
    assert plain > 40  # more than a fifth: the plain interval is not enough


def test_stopping_rules_that_make_no_sense_are_refused():
    with pytest.raises(InputError, match="either"):
        Stopping()
    with pytest.raises(InputError, match="above"):
        Stopping(above=95)


def test_fewer_runs_than_a_generation_are_refused():
    """A generation has a point for each coordinate: of a hundred, 64 runs would not be one, and nothing would be run."""
    with pytest.raises(
        InputError, match=r"found 64 runs for 100 coordinates; expected at least one generation, 100 runs"
    ):
        worst_case(lambda points: points[:, 0], 100, runs=64)
    assert worst_case(lambda points: points[:, 0], 100, runs=100).runs == 100
