"""Samplers of a campaign: rows do not depend on the cut, and each design is what its name says."""

from __future__ import annotations

import numpy as np
import pytest

from articulus.errors import InputError
from articulus.study.campaign.distributions import Rows, Uniform, axes_of, draw
from articulus.study.campaign.samplers import Grid, LatinHypercube, MonteCarlo, Saltelli, Sobol, sampler_of

ALL = [
    MonteCarlo(5, 3),
    LatinHypercube(5, 1000, 3),
    Sobol(5, 3),
    Grid(((0.1, 0.2), None, (0.3, 0.5, 0.7)), 1),
    Saltelli((1, 2, 2), 3),
    Saltelli((1, 2), 3, second_order=False),
]


@pytest.mark.parametrize("sampler", ALL, ids=lambda s: type(s).__name__)
def test_rows_are_the_same_however_they_are_cut_and_in_any_order(sampler):
    whole = sampler.rows(0, 1000)
    pieces = {first: sampler.rows(first, count) for first, count in ((307, 693), (0, 7), (7, 300))}
    assert whole.tobytes() == np.concatenate([pieces[k] for k in (0, 7, 307)]).tobytes()
    assert sampler.rows(12, 0).shape == (0, sampler.dims)
    assert (whole > 0).all()
    assert (whole < 1).all()


def test_seeds_give_other_points_and_large_seeds_work():
    assert (MonteCarlo(3, 1).rows(0, 9) != MonteCarlo(3, 2).rows(0, 9)).all()
    assert (Sobol(3, 1).rows(0, 9) != Sobol(3, 2).rows(0, 9)).all()
    assert MonteCarlo(3, 1 << 80).rows(1 << 40, 2).shape == (2, 3)


def test_monte_carlo_has_the_moments_of_independent_numbers():
    u = MonteCarlo(6, 0).rows(0, 20_000)
    np.testing.assert_allclose(u.mean(axis=0), 0.5, atol=4 * np.sqrt(1 / 12 / 20_000))
    np.testing.assert_allclose(np.cov(u.T), np.eye(6) / 12, atol=4 / 12 / np.sqrt(20_000) * 1.2)


@pytest.mark.parametrize("runs", [1, 2, 3, 64, 1000, 1025])
def test_a_latin_hypercube_has_one_point_in_every_cell(runs):
    u = LatinHypercube(4, runs, 5).rows(0, runs)
    cells = np.sort(np.floor(u * runs).astype(int), axis=0)
    assert (cells == np.arange(runs)[:, None]).all()
    if runs == 1000:  # the orders of two coordinates are not alike: deviation of a correlation 1/sqrt(runs)
        assert np.abs(np.corrcoef(u.T) - np.eye(4)).max() < 4 / np.sqrt(runs)


def test_sobol_points_fill_every_cell_of_powers_of_two():
    u = Sobol(2, 7).rows(0, 256)
    for a, b in ((256, 1), (16, 16), (1, 256)):
        cells = np.floor(u * (a, b)).astype(int)
        assert len({tuple(c) for c in cells}) == 256


def test_a_grid_goes_through_all_combinations_and_then_again():
    axes = axes_of({"a": [1, 2], "r": Uniform(0, 1), "b": Rows.of([10, 20, 30], [1, 2, 7])})
    found = draw(axes, sampler_of("grid", axes, 12, 0).rows(0, 12))
    assert found["a"].tolist() == [1, 1, 1, 2, 2, 2] * 2
    assert found["b"].tolist() == [10, 20, 30] * 4
    assert len(set(found["r"])) == 12
    with pytest.raises(InputError, match="multiple of the 6"):
        sampler_of("grid", axes, 10, 0)


def test_a_list_goes_through_its_rows_in_order():
    rows = tuple((float(i), float(i * i)) for i in range(37))
    axes = axes_of({("a", "b"): Rows(rows)})
    found = draw(axes, sampler_of("list", axes, 37, 0).rows(5, 20))
    assert found["b"].tolist() == [i * i for i in range(5, 25)]


def test_saltelli_exchanges_whole_axes():
    design = Saltelli((1, 2), 3)
    A, A1, A2, B1, B2, B = design.rows(design.block, design.block)
    assert (A != B).all()
    assert A1.tolist() == [B[0], A[1], A[2]]
    assert A2.tolist() == [A[0], B[1], B[2]]
    assert B1.tolist() == [A[0], B[1], B[2]]
    assert B2.tolist() == [B[0], A[1], A[2]]


@pytest.mark.parametrize(
    ("kind", "runs", "told"),
    [
        ("monte-carlo", 10, "monte carlo"),
        ("monte carlo", 0, "at least 1"),
        ("saltelli", 10, "such as 12"),
        ("list", 10, "one table"),
        ("grid", 10, "no axis with values"),
    ],
)
def test_numbers_of_runs_and_names_that_make_no_sense_are_refused(kind, runs, told):
    with pytest.raises(InputError, match=told):
        sampler_of(kind, axes_of({"a": Uniform(0, 1), "b": Uniform(0, 1)}), runs, 0)


def test_only_a_latin_hypercube_cannot_be_extended():
    MonteCarlo(2).require_extension(100, 250)
    Sobol(2).require_extension(100, 250)
    with pytest.raises(InputError, match="cannot be extended"):
        LatinHypercube(2, 100).require_extension(100, 250)
