"""States of a session: dead-man stop, leaving, pause, reset, recording, replay, fault."""

from __future__ import annotations

import numpy as np
import pytest

from articulus.browser.drive.recording import Recording
from articulus.browser.drive.session import SHOW, DrivePhase
from articulus.simulation.results.run import Run

from .support import MS, HandClock, go, session, two_link


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


def speed(driven) -> float:
    return float(np.abs(driven.plant.v(driven.plant.state())).max())


def hold(driven, clock, axes, seconds) -> None:
    """Hold the sticks, with a message every 20 ms as the page sends them."""
    for _ in range(round(seconds / 0.02)):
        driven.move("left", axes)
        go(driven, clock, 0.02)


def test_a_stick_moves_its_joint_at_the_rate_asked_for(clock) -> None:
    driven = session(clock)
    hold(driven, clock, (1.0, 0.0), 1.0)
    v = driven.plant.v(driven.plant.state())
    full = next(c for c in two_link().components if c.name == "servo").full
    assert v[0] == pytest.approx(full[0], rel=0.02)  # a servo of 20 rad/s has settled after 1 s
    assert abs(v[1]) < 0.02 * full[0]


def test_silence_stops_the_machine(clock) -> None:
    driven = session(clock)
    hold(driven, clock, (1.0, 1.0), 0.5)
    assert speed(driven) > 0.1
    go(driven, clock, 0.25)
    assert not driven.shown.stopped
    assert any(driven.shown.axes)
    go(driven, clock, 0.1)
    assert driven.shown.stopped
    assert driven.shown.axes == (0.0, 0.0)
    go(driven, clock, 1.0)
    assert speed(driven) < 1e-3


def test_leaving_stops_then_pauses_and_keeps_the_recording(clock) -> None:
    kept: list[Recording] = []
    driven = session(clock, kept.append)
    driven.ask(driven.record)
    hold(driven, clock, (1.0, 0.0), 0.5)
    driven.ask(driven.leave)
    go(driven, clock, 0.5)
    assert driven.phase is DrivePhase.RUNNING
    assert driven.shown.axes == (0.0, 0.0)
    go(driven, clock, 0.6)
    assert driven.phase is DrivePhase.PAUSED
    assert speed(driven) < 1e-3
    assert len(kept) == 1
    assert kept[0].duration == pytest.approx(1.5, abs=0.03)


def test_coming_back_in_time_goes_on(clock) -> None:
    driven = session(clock)
    driven.ask(driven.leave)
    go(driven, clock, 0.5)
    driven.ask(driven.enter)
    go(driven, clock, 2.0)
    assert driven.phase is DrivePhase.RUNNING


def test_leaving_during_a_replay_pauses(clock) -> None:
    driven = session(clock)
    driven.ask(driven.record)
    go(driven, clock, 5.0)
    driven.ask(driven.replay)
    driven.ask(driven.leave)
    go(driven, clock, 1.1)
    assert driven.phase is DrivePhase.PAUSED


def test_pause_stops_time_and_reset_goes_back(clock) -> None:
    driven = session(clock)
    start = driven.plant.state()
    hold(driven, clock, (1.0, -1.0), 0.5)
    driven.ask(driven.pause)
    go(driven, clock, 0.002)
    t, state = driven.plant.t, driven.plant.state()
    hold(driven, clock, (1.0, -1.0), 0.2)
    assert driven.plant.t == t
    assert np.array_equal(driven.plant.state(), state)
    driven.ask(driven.reset)
    clock.pass_by(400 * MS)
    driven.work(1)
    assert driven.plant.q(driven.plant.state()) == pytest.approx(driven.plant.q(start), abs=1e-9)
    assert driven.phase is DrivePhase.RUNNING


def test_a_recording_is_a_run_that_can_be_saved_and_replayed(clock, tmp_path) -> None:
    pytest.importorskip("h5netcdf", reason="needs the extra data")
    driven = session(clock)
    hold(driven, clock, (0.5, 0.0), 0.3)
    driven.ask(driven.record)
    hold(driven, clock, (1.0, 0.0), 0.5)
    seen = driven.plant.q(driven.plant.state())
    driven.ask(driven.stop_recording)
    driven.work(1)
    recording = driven.last
    assert recording is not None
    path = recording.save(tmp_path, "drive")
    assert path.with_suffix(".html").stat().st_size < 5e6
    run = Run.load(path)
    assert run.mechanism.name == "two_link"
    assert run.t[0] == 0.0
    assert np.allclose(np.diff(run.t), 0.01)
    assert run.q[-1] == pytest.approx(seen, abs=0.02)  # up to 10 ms before
    assert run["sticks.axes"][-1] == pytest.approx([1.0, 0.0])
    driven.ask(driven.replay)
    go(driven, clock, 0.25)
    assert driven.phase is DrivePhase.REPLAY
    assert driven.shown.t == pytest.approx(0.25, abs=SHOW * 1e-3)
    assert driven.plant.q(driven.shown.state) == pytest.approx(run.q[24], abs=0.02)
    go(driven, clock, 0.5)
    assert driven.phase is DrivePhase.PAUSED


def test_a_second_recording_gets_its_own_file(clock, tmp_path) -> None:
    driven = session(clock)
    recording = Recording(driven.plant, np.tile(driven.plant.state(), (3, 1)))
    assert recording.save(tmp_path, "drive") != recording.save(tmp_path, "drive")


def test_a_machine_that_diverged_waits_for_a_reset(clock) -> None:
    driven = session(clock)
    driven.plant._x[0, driven.plant.system.places["v"]] = np.nan
    go(driven, clock, 0.05)
    assert driven.phase is DrivePhase.FAULT
    driven.ask(driven.resume)
    driven.ask(driven.record)
    go(driven, clock, 0.05)
    assert driven.phase is DrivePhase.FAULT
    driven.ask(driven.reset)
    go(driven, clock, 0.05)
    assert driven.phase is DrivePhase.RUNNING
    assert np.isfinite(driven.plant.state()).all()
