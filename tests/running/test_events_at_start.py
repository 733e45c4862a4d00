"""Events whose condition holds at the start happen there, once, in single runs, batches and runs that were cut."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus.simulation.running import checkpoint, runner

METHODS = ("rk4", "dormand_prince", "cvodes")


def hanging() -> art.Mechanism:
    """Return a mass of 1 kg that a lock holds under gravity: 9.81 N."""
    m = art.Mechanism("hanging").body("b", 1.0, inertia=(1, 1, 1))
    return m.joint("z", art.Prismatic((0, 0, 1)), "ground", "b").constrain(art.Lock("hold", "z", (0.0,)))


def pair() -> art.Mechanism:
    m = art.Mechanism("pair", gravity=(0, 0, 0))
    for name, mass in (("a", 1.0), ("b", 3.0)):
        m.body(name, mass, inertia=(1, 1, 1)).joint(f"free {name}", art.Free(), "ground", name)
    return m.constrain(art.mechanism.LoopJoint("weld", art.Fixed(), "a", "b"))


def door() -> art.Mechanism:
    m = art.Mechanism("door", gravity=(0, 0, 0)).body("b", 1.0, inertia=(1, 1, 1))
    m.joint("hinge", art.Revolute((0, 0, 1)), "ground", "b", stiffness=1.0, rest=0.5)
    return m.constrain(art.Lock("lock", "hinge", (0.2,)))


def started(run: art.Run, row: int = 0) -> list[str]:
    """Return the events at the start; there are no others."""
    own = [event for event in run.events if event.run == row]
    assert all(event.time == run.t[0] for event in own)
    return [event.name for event in own]


@pytest.mark.parametrize("method", METHODS)
def test_overloaded_at_the_start(method: str) -> None:
    """It falls by g t^2 / 2 from the first instant."""
    events = [art.events.Release("hold", limit=5.0)]
    run = art.simulate(hanging(), 1.0, events=events, step=0.01, method=method)
    assert started(run) == ["release"]
    assert run.q[-1, 0] == pytest.approx(-9.81 / 2, rel=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_within_the_limits_at_the_start(method: str) -> None:
    """The pair goes on as one with the speed of its center of mass, 0.1 m/s * 1 / 4."""
    m = pair()
    q = m.neutral.copy()
    q[11] = 0.01
    events = [art.events.Capture("weld", distance=0.05, speed=0.2)]
    run = art.simulate(m, 1.0, q, [0, 0, 0, 0.1] + [0] * 8, events=events, step=0.05, method=method)
    assert started(run) == ["capture"]
    assert np.allclose(run.v[-1, [3, 9]], 0.025, rtol=0, atol=1e-9)
    assert np.linalg.norm(run.q[-1, 11:14] - run.q[-1, 4:7]) == pytest.approx(0.01, abs=1e-9)


@pytest.mark.parametrize("speed", [-0.3, 0.0, 0.3])
def test_at_its_angle_at_the_start(speed: float) -> None:
    run = art.simulate(door(), 1.0, [0.2], [speed], events=[art.events.Latch("lock")], step=0.01)
    assert started(run) == ["latch"]
    assert np.allclose(run.q, 0.2, rtol=0, atol=1e-12)


@pytest.mark.parametrize("t0", [0.0, 0.3, 7.1])
def test_time_of_the_start(t0: float) -> None:
    events = [art.events.Switch("t", "hold", active=False, level=t0)]
    run = art.simulate(hanging(), t0 + 1.0, t0=t0, events=events, step=0.01)
    assert started(run) == ["switch"]
    assert run.q[-1, 0] == pytest.approx(-9.81 / 2, rel=1e-7)


def test_what_does_not_hold_at_the_start() -> None:
    """A level that was passed before, a signal at its level that moves the other way, and one that does not move."""
    past = art.events.Switch("t", "hold", active=False, level=-0.1)
    assert started(art.simulate(hanging(), 0.1, events=[past], step=0.01)) == []
    away = art.events.Switch("q.hinge", "lock", direction=-1)
    assert started(art.simulate(door(), 0.1, [0.0], [0.1], events=[away], step=0.01)) == []
    still = art.events.Switch("q.z", "hold", active=False)
    assert started(art.simulate(hanging(), 0.1, events=[still], step=0.01)) == []
    swing = art.load("pendulum_chain", n=1)
    leaving = art.events.Crossing("q", stop=True)
    assert started(art.simulate(swing, 0.1, [0.0], [0.1], events=[leaving], step=0.01)) == []


@pytest.mark.parametrize("method", METHODS)
def test_batches_are_the_single_runs(method: str) -> None:
    """Limits and times differ from run to run: some open at the start, some later, some never."""
    limit, when = art.Parameter("limit", 5.0), art.Parameter("when", 0.05)
    events = [
        art.events.Release("hold", limit=limit),
        art.events.Switch("t", "hold", active=False, level=when),
    ]
    given = {"events": events, "step": 0.01, "method": method}
    params = {"limit": [5.0, 20.0, 20.0, 20.0], "when": [0.05, 0.0, 0.05, 1.0]}
    many = art.rollout(hanging(), 0.1, params=params, **given)
    for row in range(4):
        one = art.simulate(hanging(), 0.1, params={name: x[row] for name, x in params.items()}, **given)
        own = [(e.name, e.time) for e in many.events if e.run == row]
        assert own == [(e.name, e.time) for e in one.events]
        assert np.allclose(many.q[row, -1], one.q[-1], rtol=0, atol=1e-12)
    assert [(e.name, e.run) for e in many.events] == [("release", 0), ("switch", 1), ("switch", 2)]


def test_not_again_after_a_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that goes on from its checkpoint does not start again."""
    monkeypatch.setattr(runner, "FIRST_CHUNK", 1)
    monkeypatch.setattr(runner, "CHUNK_SECONDS", 0.0)
    events = [art.events.Release("hold", limit=5.0)]

    def run(**how: object) -> art.Run:
        return art.simulate(hanging(), 0.1, events=events, step=0.01, **how)

    write = checkpoint.CheckpointWriter.write

    def cut(*given: object, **named: object) -> None:
        write(*given, **named)
        raise InterruptedError

    path = tmp_path / "run.ckpt"
    with monkeypatch.context() as patched:
        patched.setattr(checkpoint.CheckpointWriter, "write", cut)
        with pytest.raises(InterruptedError):
            run(checkpoint=path, checkpoint_interval=0.0)
    assert checkpoint.read(path).state.step == 1
    again, whole = run(checkpoint=path), run()
    assert started(again) == ["release"]
    assert np.array_equal(again.q, whole.q)
