"""The rows of schedules and of times of one call are there and agree with what they say."""

from articulus.bench import schedules
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


def test_rows_of_segments():
    (row,) = schedules.segments(Effort(seconds=0.0, quick=True, rounds=1))
    assert not row.failed
    assert row.ours_us > 0
    assert row.peer_us > 0
