"""Statistics of a campaign against printed numbers, closed forms and the coverage they promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from articulus.errors import InputError
from articulus.study.campaign.failure_causes import drivers, group_causes
from articulus.study.campaign.samplers import MonteCarlo, Saltelli
from articulus.study.campaign.sensitivity import main_effects, sobol_indices, tornado
from articulus.study.campaign.statistics import judge, pass_rate, quantile, runs_without_failure, summary


def test_pass_rates_have_the_exact_bounds():
    # no failure: 1 - (alpha/2)^(1/n), by hand; the rule of three is its neighbor
    all_pass = pass_rate(100, 100)
    assert (all_pass.low, all_pass.high) == (pytest.approx(0.025 ** (1 / 100), rel=1e-12), 1.0)
    assert pass_rate(0, 10).high == pytest.approx(1 - 0.025 ** (1 / 10), rel=1e-12)
    some = pass_rate(7, 20, 0.9)  # defining equations of Clopper and Pearson
    assert stats.binom.sf(6, 20, some.low) == pytest.approx(0.05, rel=1e-9)
    assert stats.binom.cdf(7, 20, some.high) == pytest.approx(0.05, rel=1e-9)


@pytest.mark.parametrize("p", [0.02, 0.5, 0.97])
def test_the_interval_covers_the_probability_as_often_as_promised(p):
    n = 60
    held = [pass_rate(k, n).low <= p <= pass_rate(k, n).high for k in range(n + 1)]
    assert (stats.binom.pmf(range(n + 1), n, p) * held).sum() >= 0.95


def test_success_runs_of_the_standards():
    # printed in reliability handbooks: 59 runs without failure for 95 % at 95 %, 22 for 90 % at 90 %
    assert runs_without_failure(0.95, 0.95) == 59
    assert runs_without_failure(0.9, 0.9) == 22


@pytest.mark.parametrize(("n", "share"), [(30, 0.5), (200, 0.05), (100, 0.99), (5, 0.5)])
def test_order_statistics_enclose_a_quantile_as_promised(n, share):
    # exactly: the interval from the l-th to the u-th smallest holds the quantile with P(l <= B < u), B binomial
    found = quantile(np.arange(1.0, n + 1), share)
    law = stats.binom(n, share)
    below = 0.0 if found.low == -math.inf else law.cdf(found.low - 1)
    above = 0.0 if found.high == math.inf else law.sf(found.high - 1)
    assert below <= 0.025
    assert above <= 0.025
    if found.low > -math.inf:  # and the next narrower one would not
        assert law.cdf(found.low) > 0.025
    if found.high < math.inf:
        assert law.sf(found.high - 2) > 0.025


def test_a_quantile_beyond_the_sample_has_no_upper_bound():
    found = quantile(np.arange(50.0), 0.99)
    assert found.high == math.inf
    assert found.value == 49


def test_summaries_leave_out_failed_runs_and_say_so():
    s = summary("x", np.array([1.0, 2.0, 3.0, np.nan]), "m")
    assert (s.count, s.missing, s.mean, s.deviation, s.least, s.greatest) == (3, 1, 2.0, 1.0, 1.0, 3.0)
    with pytest.raises(InputError, match="between 0 and 1"):
        quantile(np.ones(3), 95)


class Below:
    figure = "x"

    def passes(self, values):
        return values < 2

    def badness(self, values):
        return np.where(np.isnan(values), np.inf, values - 2)


def test_a_failed_run_does_not_pass_and_is_the_worst():
    (found,) = judge([Below()], {"x": np.array([1.0, 5.0, np.nan, 1.5])})
    assert (found.rate.passed, found.rate.runs, found.worst) == (2, 4, 2)
    (grid,) = judge([Below()], {"x": np.array([1.0, 5.0])}, "grid")
    assert math.isnan(grid.rate.low)


# sensitivity

A, B = 7.0, 0.1
VARIANCE = A**2 / 8 + B * math.pi**4 / 5 + B**2 * math.pi**8 / 18 + 0.5
FIRST = np.array([0.5 * (1 + B * math.pi**4 / 5) ** 2, A**2 / 8, 0.0]) / VARIANCE
BOTH = 8 * B**2 * math.pi**8 / 225 / VARIANCE
TOTAL = np.array([FIRST[0] + BOTH, FIRST[1], BOTH])


def ishigami(u):
    x = math.pi * (2 * u - 1)
    return np.sin(x[:, 0]) + A * np.sin(x[:, 1]) ** 2 + B * x[:, 2] ** 4 * np.sin(x[:, 0])


def test_sobol_indices_of_ishigami():
    design = Saltelli((1, 1, 1), seed=1)
    found = sobol_indices(design, ishigami(design.rows(0, 4096 * design.block)), "abc")
    # random points would err by about 1/sqrt(4096) = 0.016 of the variance; Sobol's do better
    np.testing.assert_allclose(found.first, FIRST, atol=0.016)
    np.testing.assert_allclose(found.total, TOTAL, atol=0.016)
    assert found.second_order[0, 2] == pytest.approx(BOTH, abs=0.03)
    assert abs(found.second_order[0, 1]) < 0.03
    assert found.variance == pytest.approx(VARIANCE, rel=0.02)
    for k in range(3):
        assert found.first_bounds[0, k] < FIRST[k] < found.first_bounds[1, k]
        assert found.total_bounds[0, k] < TOTAL[k] < found.total_bounds[1, k]
    assert found.second_bounds[0, 0, 2] < BOTH < found.second_bounds[1, 0, 2]


def test_axes_of_several_coordinates_have_indices_as_a_whole():
    design = Saltelli((1, 2), seed=1, second_order=False)
    u = design.rows(0, 4096 * design.block)
    found = sobol_indices(design, ishigami(u[:, [1, 0, 2]]), ["b", "a and c"])
    together = FIRST[0] + BOTH  # of a and c and their interaction
    np.testing.assert_allclose(found.first, [FIRST[1], together], atol=0.016)
    np.testing.assert_allclose(found.total, [FIRST[1], together], atol=0.016)
    assert found.second_order is None


def test_sobol_indices_are_refused_where_they_would_be_wrong():
    with pytest.raises(InputError, match="saltelli"):
        sobol_indices(MonteCarlo(3), np.zeros(100), "abc")
    design = Saltelli((1, 1, 1), seed=1)
    y = ishigami(design.rows(0, 20 * design.block))
    y[:: design.block] = np.nan
    with pytest.raises(InputError, match="20 with a failed run"):
        sobol_indices(design, y, "abc")
    with pytest.raises(InputError, match="same in all runs"):
        sobol_indices(design, np.ones(20 * design.block), "abc")


def test_main_effects_of_ishigami_are_its_first_indices():
    u = MonteCarlo(3, 2).rows(0, 40_000)
    effects = main_effects({"a": u[:, 0], "b": u[:, 1], "c": u[:, 2]}, ishigami(u), bins=40)
    shares = {e.name: e.share for e in effects}
    assert [e.name for e in effects] == ["b", "a", "c"]
    # 40 bins leave 1/40^2 of a smooth effect unexplained; random error about 2/sqrt(40000)
    np.testing.assert_allclose([shares[k] for k in "abc"], FIRST, atol=0.015)


def test_swings_and_ranks_of_a_linear_figure():
    u = MonteCarlo(2, 3).rows(0, 20_000)
    effects = main_effects({"up": u[:, 0], "down": u[:, 1]}, 2 * u[:, 0] - 5 * u[:, 1])
    first, other = tornado(effects)
    assert (first.name, other.name) == ("down", "up")
    assert first.swing == pytest.approx(-5 * 0.9, abs=0.1)  # means of the outer tenths are 0.05 and 0.95
    assert first.rank < -0.8
    assert other.rank > 0.2


def test_inputs_with_few_or_repeated_values_have_bins_of_whole_values():
    x = np.repeat([1.0, 2.0, 3.0], [10, 20, 30])
    (few,) = main_effects({"x": x}, 2 * x)
    assert few.centers.tolist() == [1, 2, 3]
    assert few.means.tolist() == [2, 4, 6]
    assert few.share == pytest.approx(1)
    many = np.concatenate([np.zeros(500), np.arange(1.0, 501)])  # half of the values are equal
    (tied,) = main_effects({"x": many}, (many == 0).astype(float))
    assert tied.means[0] == 1
    assert (tied.means[1:] == 0).all()


def test_failures_are_grouped_and_their_drivers_found():
    u = MonteCarlo(3, 4).rows(0, 2000)
    inputs = {"payload": u[:, 0], "friction": u[:, 1], "noise": u[:, 2]}
    causes = np.where(u[:, 0] > 0.95, "diverged", np.where(u[:, 1] < 0.02, "stuck", ""))
    large, small = group_causes(causes.tolist(), inputs)
    assert (large.cause, small.cause) == ("diverged", "stuck")
    assert [d.name for d in large.drivers] == ["payload"]
    assert large.drivers[0].tendency == "high"
    assert small.drivers[0].name == "friction"
    assert drivers(inputs, np.arange(100), np.arange(100, 2000)) == ()
