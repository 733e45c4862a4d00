"""The proof of a station whose bandwidth lies below its modes, with few modes and with all."""

from __future__ import annotations

import numpy as np
import pytest

from articulus.cases.station_momentum import case


@pytest.mark.parametrize("modes", [12, pytest.param(141, marks=pytest.mark.nightly)])
def test_loops_of_a_hundredth_of_a_hertz_hold_a_station_with_modes_from_a_tenth(modes: int) -> None:
    """The design knows no mode; every check holds, and no mode loses damping: rates of the hub act on the hub."""
    proof = case.attitude(modes)
    assert proof.ok
    assert len(proof.modes) == modes
    assert abs(proof.modes[0].before) / case.BANDWIDTH == pytest.approx(10.5, abs=0.1)
    assert all(after > before * (1 - 1e-9) for before, after in (mode.damping for mode in proof.modes))
    assert not any(mode.known for mode in proof.modes)
    assert np.degrees(min(each.phase for each in proof.margins.channels)) == pytest.approx(65.2, abs=0.5)
