"""Rows of environments and of JAX measure what they say."""

from __future__ import annotations

import pytest

from articulus.bench import games
from articulus.bench.rows import Effort


@pytest.mark.filterwarnings("ignore:half_cheetah.xml. MuJoCo says")
def test_environments_beside_mujoco(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gymnasium")
    pytest.importorskip("mujoco")
    monkeypatch.setattr(games, "GAMES", (games.GAMES[1],))
    monkeypatch.setattr(games, "LANES", 16)
    rows = list(games.environments(Effort(seconds=0.05)))
    assert [row.peer for row in rows] == ["MuJoCo's steps", "bare steps"]
    assert all(row.ours_us and row.peer_us and row.value for row in rows)
    assert "0 games failed" in rows[0].note


def test_jax_beside_our_call(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jax")
    monkeypatch.setattr(games, "ROWS", 64)
    (row,) = games.jax_calls(Effort(seconds=0.05))
    assert not row.failed
    assert row.value == pytest.approx(row.ours_us / row.peer_us)
