"""The rows of schedules and of times of one call are there and agree with what they say."""

from articulus.bench import rows, schedules
from articulus.bench.rows import Effort


def test_rows_of_schedules():
    listed, searched = schedules.schedules(Effort(quick=True))
    assert listed.met
    assert not listed.failed
    assert searched.value is not None
    assert searched.value < 5.0


def test_graph_is_the_same_for_the_same_seed():
    assert schedules.random_graph(50, 1).edges == schedules.random_graph(50, 1).edges
    assert schedules.random_graph(50, 1).edges != schedules.random_graph(50, 2).edges


def test_a_row_of_two_threads():
    (row,) = schedules.threads(Effort(seconds=0.0, quick=True, rounds=1))
    assert not row.failed
    assert "predicted" in row.note


def test_rows_of_times_of_one_call():
    seven, *others = schedules.distribution(Effort(seconds=0.0, quick=True, rounds=1))
    assert seven.ours_us > 0
    assert all("worst" in row.note for row in (seven, *others))


def test_derivatives_about_one_state():
    (row,) = rows.one_gradient(Effort(seconds=0.0, quick=True, rounds=1))
    assert not row.failed
    assert row.value == row.ours_us


def test_rows_of_segments():
    (row,) = schedules.segments(Effort(seconds=0.0, quick=True, rounds=1))
    assert not row.failed
    assert row.ours_us > 0
    assert row.peer_us > 0
