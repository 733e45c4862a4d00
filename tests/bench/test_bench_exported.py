"""Rows of exports measure what they say."""

from __future__ import annotations

import pytest
from tests.bridges.compiling import needs_gcc

from articulus.bench import exported
from articulus.bench.rows import Effort


@needs_gcc
def test_a_unit_beside_simulate(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fmpy")
    monkeypatch.setattr(exported, "UNIT_STEPS", 20)
    (row,) = exported.unit_step(Effort(seconds=0.02))
    assert row.value == pytest.approx(row.ours_us / row.peer_us)
    assert row.bar is not None
