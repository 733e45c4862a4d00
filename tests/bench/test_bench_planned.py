"""Rows of planned motions: the peer solves the same problem, and a wrong answer is not timed."""

from articulus.bench import planned
from articulus.bench.rows import Effort

BRIEF = Effort(seconds=0.0, quick=True, rounds=2)


def test_the_peer_finds_the_same_motion(monkeypatch):
    rows = list(planned.motions(BRIEF))
    assert [row.name.split(", ")[-1] for row in rows if row.peer] == [
        *["functions per iteration", "whole solution"] * 3,
        "multiple shooting",
    ]
    assert not any(row.failed for row in rows)
    assert all(row.value > 0 for row in rows)
    monkeypatch.setattr(planned, "AGREE", -1.0)
    monkeypatch.setattr(planned, "FORMS", {})
    assert all(row.failed for row in planned.motions(BRIEF) if row.peer)
