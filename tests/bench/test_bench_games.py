"""Rows of environments and of JAX measure what they say."""

from __future__ import annotations

import pytest

import articulus as art
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


@pytest.mark.filterwarnings("ignore:.*MuJoCo says")
def test_humanoid_with_feet_has_27_degrees_of_freedom() -> None:
    """Ankles of two hinges with motors, four capsules that touch the floor, and the mass of the file but for its balls."""
    mujoco = pytest.importorskip("mujoco")
    pytest.importorskip("gymnasium")
    text = games.GAMES[-1].text()
    model, ours = mujoco.MjModel.from_xml_string(text), art.load(text)
    assert (model.nv, model.nu, ours.nv) == (27, 21, 27)
    assert ours.description.scales().mass == pytest.approx(model.body_mass.sum(), rel=1e-9)
    feet = [s for s in ours.description.equipment.collisions if str(dict(s.values)["frame"]).endswith("foot")]
    assert [s.type for s in feet] == ["capsule"] * 4
