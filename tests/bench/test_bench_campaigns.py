"""Rows of campaigns: all are there, and a wrong answer is not timed."""

from articulus.bench import campaigns
from articulus.bench.rows import Effort

BRIEF = Effort(seconds=0.0, quick=True, rounds=1)


def test_rows_of_campaigns(monkeypatch):
    monkeypatch.setattr(campaigns, "N", 2)
    rows = [*campaigns.arms(BRIEF), *campaigns.large(BRIEF)]
    assert [row.unit for row in rows[-2:]] == ["MB", "s"]
    assert all(row.value > -50 for row in rows)
    assert rows[-2].value < 400
    monkeypatch.setattr(campaigns, "AGREE", -1.0)
    assert next(campaigns.arms(BRIEF)).failed


def test_fewest_steps():
    """An error of (10/n)^4 is 1e-6 at n = 316.2."""
    assert campaigns._fewest_steps(lambda n: (10 / n) ** 4, 25)[0] == 317
