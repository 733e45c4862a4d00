"""Rows of the structured singular value: bounds that are far apart or above the peer's are not timed."""

from articulus.bench import robust
from articulus.bench.rows import Effort

BRIEF = Effort(seconds=0.0, quick=True, rounds=2)


def test_mu_is_timed_only_if_the_bounds_are_near(monkeypatch):
    (row,) = robust.mu(BRIEF)
    assert not row.failed
    assert row.value > 0
    monkeypatch.setattr(robust, "GAP", -1.0)
    (row,) = robust.mu(BRIEF)
    assert row.failed
