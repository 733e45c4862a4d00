"""Ground that is dug: volume is kept, loose ground lies no steeper than its angle, the bucket holds what it can."""

from __future__ import annotations

import numpy as np
import pytest

from articulus.browser.drive import machine_for
from articulus.browser.drive.gauges import CUBIC_INCH, PSI, Gauges
from articulus.browser.drive.plant import Plant
from articulus.browser.drive.recording import Recording
from articulus.browser.drive.session import DriveSession
from articulus.browser.drive.terrain import CELL, Digging, Terrain

from .support import HandClock, go


def ground() -> Terrain:
    return Terrain(Digging("tip", "bucket", along=(0, 1, 0), opening=(1, 0, 0), reach=3.0), -0.5)


LEVEL_OPENING = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
"""Rotation that turns the opening upward and leaves the edge along y."""
POURING = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
"""The same with the opening downward."""


def dug(terrain: Terrain, depth: float = 0.3, length: float = 2.0) -> None:
    """Pull the edge through the ground at a depth."""
    for x in np.linspace(1.0, 1.0 - length, 81):
        terrain.move(np.array([x, 0.0, terrain.level - depth]), LEVEL_OPENING, 0.015)


def test_a_furrow_has_the_volume_that_the_bucket_and_the_spoil_have() -> None:
    terrain = ground()
    dug(terrain, 0.2, 1.0)
    width = round(terrain.digging.width / CELL) + 1
    furrow = terrain.heights < terrain.level - 1e-9
    np.testing.assert_allclose(terrain.heights[furrow], terrain.level - 0.2)
    assert furrow.sum() == pytest.approx(width * (1.0 / CELL + 1), rel=0.2)  # whole cells
    assert terrain.load == pytest.approx(0.2 * CELL**2 * furrow.sum())
    assert abs(terrain.volume) < 1e-12


def test_a_full_bucket_pushes_the_rest_before_it() -> None:
    terrain = ground()
    dug(terrain, 0.5, 3.0)
    assert terrain.load == pytest.approx(terrain.digging.capacity)
    assert terrain.heights.max() > terrain.level + 0.05
    assert abs(terrain.volume) < 1e-12


def test_a_bucket_that_tilts_pours_a_heap_at_the_angle_of_repose() -> None:
    terrain = ground()
    dug(terrain, 0.3, 2.0)
    terrain.move(np.array([1.5, 1.5, 1.0]), LEVEL_OPENING, 0.015)
    load = terrain.load
    for _ in range(400):
        terrain.move(np.array([1.5, 1.5, 1.0]), LEVEL_OPENING, 0.015)
    assert terrain.load == load, "an opening that looks up holds"
    for _ in range(600):
        terrain.move(np.array([1.5, 1.5, 1.0]), POURING, 0.015)
    assert terrain.load == 0.0
    assert abs(terrain.volume) < 1e-12
    i, j = terrain._cells(np.array([[0.3, 0.7]]))[0]  # beside the furrow
    heap = terrain.heights[i:, j:]
    slopes = max(np.abs(np.diff(heap, axis=axis)).max() for axis in (0, 1)) / CELL
    assert slopes < np.tan(terrain.digging.repose) * 1.1  # what still slides is slower than 0.1 mm an update
    assert slopes > 0.7 * np.tan(terrain.digging.repose)


def test_ground_that_was_never_moved_stands_and_the_border_holds() -> None:
    terrain = ground()
    dug(terrain, 0.4, 1.0)
    for _ in range(200):
        terrain.move(np.array([2.0, 2.0, 1.0]), LEVEL_OPENING, 0.015)
    walls = np.abs(np.diff(terrain.heights, axis=1)).max()
    assert walls == pytest.approx(0.4)
    terrain.move(np.array([50.0, 0.0, -3.0]), POURING, 0.015)
    assert abs(terrain.volume) < 1e-12
    assert terrain.height(50.0, 0.0) == terrain.level


@pytest.fixture(scope="module", params=["cat215b", "cat215b_cylinders"])
def digger(request: pytest.FixtureRequest) -> tuple[DriveSession, HandClock]:
    clock = HandClock()
    return DriveSession(Plant(machine_for(request.param)), clock), clock


def hold(digger: tuple[DriveSession, HandClock], axes: list[float], seconds: float, mode: int = 1) -> None:
    session, clock = digger
    session.mode = mode
    for _ in range(round(seconds / 0.1)):
        for group in session.plant.machine.groups:
            session.move(group, axes)
        go(session, clock, 0.1)
    assert not session.plant.failed


def test_the_excavator_digs_and_carries(digger: tuple[DriveSession, HandClock]) -> None:
    session, _ = digger
    session.reset()
    session.switch_soil(True)
    for axes, seconds in (
        ([0, 0, 1, 0], 3),
        ([0, -1, 0, 0], 3),
        ([0, -1, 0, 1], 1.2),
        ([0, -0.1, -1, -0.3], 3.5),
    ):
        hold(digger, list(map(float, axes)), seconds)
    gauges = Gauges(session.plant)
    read = dict(zip([f"{g.group}.{g.name}.{g.unit}" for g in gauges.all], gauges.at(session.plant.state())))
    assert read["soil.in the bucket.m³"] == pytest.approx(session.terrain.load, rel=1e-6)
    assert read["soil.in the bucket.m³"] > 0.1
    assert read["soil.weight of it.kN"] == pytest.approx(17 * session.terrain.load, rel=1e-6)
    assert read["soil.force on the edge.kN"] > 5
    assert read["arrow.force.x.kN"] > 0, "against the motion toward the cab"
    assert abs(session.terrain.volume) < 1e-9
    lifted = session.plant.state()
    session.switch_soil(False)
    assert session.terrain.load == 0.0
    assert session.plant.load(session.plant.state()) == 0.0
    assert session.plant.load(lifted) > 0


def test_gauges_are_the_signals_in_other_units() -> None:
    plant = Plant(machine_for("cat215b"))
    plant.put([0.5, 0.5, 0.5, 0.0], 0, False)
    plant.sink = []
    plant.advance(500)
    run = Recording(plant, np.concatenate(plant.sink)).run
    gauges = Gauges(plant)
    read = gauges.at(np.concatenate(plant.sink)[-1])
    power = 0.0
    for k, joint in enumerate(("swing", "boom", "stick", "bucket")):
        assert read[2 * k] == pytest.approx(run[f"{joint}.pressures"][-1].max() * PSI / 1e6)
        flow = abs(run[f"{joint}.flows"][-1, 0]) * CUBIC_INCH
        assert read[2 * k + 1] == pytest.approx(6e4 * flow)
        power += flow * {"boom": 7000.0}.get(joint, 4000.0) * PSI
    assert read[8] == pytest.approx(power / 1e3)


def test_the_load_weighs_on_the_boom() -> None:
    """Held by closed valves, the pressures rise by the moment of the load about the boom's hinge (table 5.2)."""
    plant = Plant(machine_for("cat215b"))
    before = plant.state()
    plant.bear(0.0, 10e3)
    plant.advance(3000)
    moved = plant.q(plant.state()) - plant.q(before)
    assert moved[1] < -1e-5, "the boom sinks on its lines"
    assert abs(moved[0]) < 1e-6


def test_a_delay_shows_where_the_machine_was() -> None:
    clock = HandClock()
    session = DriveSession(Plant(machine_for("two_link")), clock)
    session.choose_delay(0.5)
    seen = []
    for k in range(200):
        for group in session.plant.machine.groups:
            session.move(group, [1.0 if k > 20 else 0.0] * 2)
        go(session, clock, 0.015)
        seen.append((clock.time, session.ahead, session.shown))
    for time, _, shown in seen[60:]:
        assert 0.5e9 <= time - shown.read < 0.5e9 + 32e6
    states = {each.read: each.state for _, each, _ in seen}
    for _, _, shown in seen[60:]:
        if shown.read in states:
            np.testing.assert_array_equal(states[shown.read], shown.state)
    assert session.shown.t < session.ahead.t - 0.45
    session.choose_delay(0.0)
    go(session, clock, 0.03)
    assert session.shown is session.ahead
    session.choose_delay(9.0)
    assert session.delay == 2.0
