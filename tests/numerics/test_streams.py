"""Random streams: the same whatever the order and the parts, those of NumPy's own spawning, uniform, and resumable."""

import json

import numpy as np
import pytest
from scipy import stats

from articulus.errors import InputError
from articulus.numerics.streams import (
    counter_stream,
    resume_stream,
    stream,
    stream_state,
    uniform_rows,
    words,
)


@pytest.mark.parametrize("seed", [0, 7, 2**63, 10**40])
def test_children_are_those_of_spawn(seed):
    children = np.random.SeedSequence(seed).spawn(5)
    for k in (4, 0, 2):
        expected = np.random.default_rng(children[k]).normal(size=8)
        np.testing.assert_array_equal(stream(seed, k).normal(size=8), expected)
    np.testing.assert_array_equal(stream(seed).random(3), np.random.default_rng(seed).random(3))


def test_seeds_and_children_give_numbers_of_their_own():
    ways = [(0,), (0, 0), (0, 1), (1,), (1, 0), (0, 0, 0), ((0, 1),), ((0, 2),)]
    first = {tuple(stream(*way).integers(2**62, size=2).tolist()) for way in ways}
    assert len(first) == len(ways)
    assert len({tuple(words(2, *numbers)) for numbers in [(0, 1), (1, 0), (0, 2), (10**30, 1)]}) == 4


@pytest.mark.parametrize("dims", [1, 3, 4, 9])
def test_rows_do_not_depend_on_the_parts_in_which_they_are_asked_for(dims):
    key = words(2, 5, 1)
    whole = uniform_rows(key, dims, 0, 100)
    parts = [uniform_rows(key, dims, a, b - a) for a, b in [(40, 100), (0, 1), (1, 40)]]
    np.testing.assert_array_equal(np.vstack([parts[1], parts[2], parts[0]]), whole)
    assert uniform_rows(key, dims, 10**12, 1).shape == (1, dims)
    assert uniform_rows(key, dims, 7, 0).shape == (0, dims)


def test_rows_are_uniform_and_independent():
    """Kolmogorov and Smirnov, and correlations; limits that one of a million good generators misses."""
    points = uniform_rows(words(2, 1), 4, 0, 20_000)
    assert points.min() > 0.0
    assert points.max() < 1.0
    assert min(stats.kstest(column, "uniform").pvalue for column in points.T) > 1e-6
    off = np.corrcoef(points.T) - np.eye(4)
    assert np.abs(off).max() < 5 / np.sqrt(len(points))
    assert np.abs(np.corrcoef(points[:-1].T, points[1:].T)[:4, 4:]).max() < 5 / np.sqrt(len(points))


def test_a_stream_goes_on_where_it_was():
    for each in (stream(3, 1), counter_stream(3)):
        each.normal(size=11), each.integers(5, dtype=np.int32)
        state = json.loads(json.dumps(stream_state(each)))
        np.testing.assert_array_equal(resume_stream(state).normal(size=5), each.normal(size=5))


def test_a_file_names_no_function():
    with pytest.raises(InputError, match="no generator 'seed'"):
        resume_stream({"bit_generator": "seed"})
