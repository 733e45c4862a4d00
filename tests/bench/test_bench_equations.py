"""Rows of Riccati equations: solutions that differ from the peer's are not timed."""

from articulus.bench import equations
from articulus.bench.rows import Effort

BRIEF = Effort(seconds=0.0, quick=True, rounds=2)


def test_equations_are_timed_only_if_they_agree(monkeypatch):
    rows = list(equations.riccati(BRIEF))
    assert len(rows) == 5
    assert all(not row.failed and row.value > 0 and row.peer for row in rows)
    monkeypatch.setattr(equations, "AGREE", -1.0)
    monkeypatch.setattr(equations, "ALONE", -1.0)
    assert all(row.failed for row in equations.riccati(BRIEF))
