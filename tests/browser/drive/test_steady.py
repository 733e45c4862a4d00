"""The excavator does not chatter: at rest in the soil, while it digs, lowered in free air. No browser, no clock."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from articulus.browser.drive.excavator import GROUND, cat215b
from articulus.browser.drive.plant import Plant
from articulus.browser.drive.rates import JOINT, RESOLVED

REST = [0.0, 0.0, 0.0, 0.0]


@functools.cache
def plant() -> Plant:
    return Plant(cat215b())


@pytest.fixture
def digger() -> Plant:
    plant().put(REST, JOINT, False)
    plant().reset()
    return plant()


def rates(digger: Plant, axes, mode: int, soil: bool, seconds: float) -> np.ndarray:
    """Return the joint rates after every step, (steps, 4) [deg/s]."""
    digger.put(axes, mode, soil)
    out = []
    for _ in range(round(seconds / digger.h)):
        digger.advance(1)
        out.append(digger.v(digger.state()))
    assert not digger.failed
    return np.degrees(out)


def depth(digger: Plant) -> float:
    return float(GROUND - digger.machine.mechanism.pose("bucket_tip", digger.q(digger.state()))[2, 3])


@pytest.mark.parametrize(
    "dig",
    [
        [([0, -1, 0, 0], 6.0)],
        [([0, -1, 0, 0], 5.0), ([0, -1, 0, -1], 3.0)],
        [([0, -1, 0, 0], 5.0), ([0, -1, -1, 0], 3.0)],
        [([0, 0, 1, 0], 3.0), ([0, -1, 0, 0], 6.0)],
    ],
    ids=["boom", "curl", "pull", "far"],
)
def test_the_bucket_rests_in_the_soil(digger, dig) -> None:
    """With the sticks released no joint moves by 0.5 deg/s, and the rate does not jump from step to step.

    Explicit steps through the friction (1e7 N s/m on some 500 kg) hold the bucket at 3.5 deg/s, or at 3.5 and 14.5 in turn.
    """
    for axes, seconds in dig:
        rates(digger, axes, JOINT, True, seconds)
    assert depth(digger) > 1.0
    found = rates(digger, REST, JOINT, True, 2.0)[1000:]
    assert np.abs(found).max() < 0.5
    assert np.abs(np.diff(found, axis=0)).max() < 0.01


def test_digging_is_smooth(digger) -> None:
    """Under way through the soil a rate changes by less than 0.5 deg/s in a step: 500 deg/s^2, what the valves can do."""
    rates(digger, [0, -1, 0, 0], JOINT, True, 5.0)
    found = rates(digger, [0, -1, -1, -1], JOINT, True, 3.0)
    assert np.abs(np.diff(found, axis=0)).max() < 0.5


def test_lowering_in_free_air_has_no_limit_cycle(digger) -> None:
    """In RESOLVED mode, and at rest after it, nothing of the bucket's resonance (34 Hz on closed lines) is left.

    The largest line between 20 and 80 Hz of a second's rates, as an amplitude; without damping of the resonance it grows to 36 deg/s.
    """
    lowering = rates(digger, [0, -1, 0, 0], RESOLVED, False, 6.0)
    resting = rates(digger, REST, RESOLVED, False, 2.0)
    for second in (*np.split(lowering, 6)[1:], *np.split(resting, 2)):
        lines = np.fft.rfft((second - second.mean(axis=0)) * np.hanning(1000)[:, None], axis=0)
        assert 4 / 1000 * np.abs(lines[20:80]).max() < 0.5
    assert np.abs(resting[-500:]).max() < 0.5
