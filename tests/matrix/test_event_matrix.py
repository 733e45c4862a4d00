"""Every kind of event in one run, on a tree, a loop and a flexible mechanism; methods of every kind; single and in batches."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest

import articulus as art
from articulus.model.mechanism import Frame, Lock, PointOnPoint, Pose
from articulus.simulation.loop.events import (
    ALL_EVENTS,
    Bounce,
    Capture,
    Crossing,
    Event,
    Latch,
    Release,
    Switch,
)
from selection import in_turn

from .hosts import HOSTS, MASS, host, start

STEP, END = 1e-3, 0.02
METHODS = {"rk4": 1e-5, "dormand_prince": 1e-6, "rosenbrock": 1e-6, "cvodes": 1e-5}
"""Fixed steps, adaptive, implicit, of many steps; and how far times may be from those of a tight run [s]. All on a tree, two in
turn on the other hosts."""

KINDS = (Crossing, Bounce, Latch, Capture, Release, Switch)


@functools.cache
def events(where: str) -> tuple[Event, ...]:
    """Return an event of every kind, in the order in which they happen.

    The brake slows the wrist down, so that the grip closes, and the force of the pin jumps above its limit, so that it slips:
    three events in one instant.
    """
    places = host(where).description.q_slices
    at = {joint: float(start(where)[0][places[joint].start]) for joint in ("stick", "bucket")}
    return (
        Latch("brake", name="brake"),
        Crossing("q.stick", level=at["stick"] + 0.0003, name="mark"),
        Bounce("bucket", at["bucket"] + 0.00025, 1, 0.5, name="stop"),
        Capture("pin", distance=0.01, speed=0.3, name="grip"),
        Release("pin", limit=1e-3, name="slip"),
        Switch("t", "brake", active=False, level=0.0153, name="free"),
    )


@functools.cache
def mechanism(where: str) -> art.Mechanism:
    """Return a host with a brake in its swing, and a pin that the wrist comes near to; neither holds at the start."""
    m, (q, v) = host(where), start(where)
    d = m.description
    swing = d.v_slices["swing"].start
    rate = m.velocity("wrist", q, np.where(np.arange(m.nv) == swing, 0.0, v))[3:]
    eye = m.pose("wrist", q)[:3, 3] + 0.005 * rate / np.linalg.norm(rate)
    frames = (*d.frames, Frame("eye", "ground", Pose(tuple(map(float, eye)))))
    lock = Lock("brake", "swing", (float(q[d.q_slices["swing"].start]) + 0.0005,))
    constraints = (*d.constraints, PointOnPoint("pin", "wrist", "eye"), lock)
    return art.Mechanism.from_description(dataclasses.replace(d, frames=frames, constraints=constraints))


def happened(run: art.Run, row: int = 0) -> list[tuple[str, float]]:
    return [(e.name, e.time) for e in run.events if e.run == row]


def test_every_kind_of_event_takes_part() -> None:
    assert set(KINDS) == set(ALL_EVENTS)


@pytest.mark.parametrize("where", HOSTS)
def test_events(where: str) -> None:
    """Times of a tight run; a batch is the single runs; energy is accounted for, but what the steps themselves lose."""
    q, v = start(where)
    given = {"step": STEP, "events": events(where), "outputs": ("energy",)}
    tight = art.simulate(
        mechanism(where), END, q, v, method="dormand_prince", rtol=1e-11, atol=1e-12, **given
    )
    wanted = happened(tight)
    assert {event.name for event in events(where)} <= {name for name, _ in wanted}
    assert dict(wanted)["slip"] == dict(wanted)["grip"]
    some = METHODS if where == "tree" else in_turn(tuple(METHODS), HOSTS.index(where), 2)
    for method in some:
        tolerance = METHODS[method]
        batch = art.rollout(
            mechanism(where), END, q, v, params={MASS.name: [1.2, 0.9]}, method=method, **given
        )
        single = art.simulate(mechanism(where), END, q, v, method=method, **given)
        same(happened(batch), happened(single), 1e-12)
        same(happened(single), wanted, tolerance)


def same(found: list[tuple[str, float]], wanted: list[tuple[str, float]], tolerance: float) -> None:
    assert [name for name, _ in found] == [name for name, _ in wanted]
    assert np.allclose([t for _, t in found], [t for _, t in wanted], rtol=0, atol=tolerance)
