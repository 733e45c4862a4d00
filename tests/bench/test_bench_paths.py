"""Rows of given paths: a run that is slow or breaks its limits is not timed."""

import numpy as np

from articulus.bench import paths
from articulus.bench.rows import Effort

BRIEF = Effort(seconds=0.0, quick=True, rounds=1)


def test_paths_are_timed_only_if_they_are_right(monkeypatch):
    monkeypatch.setattr(paths, "FINE", 1600)
    one, many = paths.path_speeds(BRIEF)
    assert not one.failed
    assert not many.failed
    assert one.ours_us > many.ours_us > 0
    monkeypatch.setattr(paths, "OVERLOAD", -1.0)
    assert all(row.failed for row in paths.path_speeds(BRIEF))


def test_points_agree_with_the_peer():
    rows = list(paths.points(BRIEF))
    assert [row.failed for row in rows] == [False] * 3
    assert np.isfinite([row.ours_us for row in rows]).all()
