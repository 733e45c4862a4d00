"""Validation against measured runs: forward, inverse, friction, where a run starts."""

from __future__ import annotations

import json

import numpy as np
import pytest

import articulus as art
from articulus.design.validation import SignalComparison, _smooth, smooth, validate
from articulus.errors import InputError
from articulus.simulation.loop.components.prescribed import PrescribedForce
from articulus.simulation.loop.table import Table
from articulus.study.records import Record


def pendulum(viscous: float = 0.0, mass: float = 2.0) -> art.Mechanism:
    m = art.Mechanism("pendulum").body("rod", mass=mass, com=(0, 0, -0.5), inertia=(0.17, 0.17, 0.01))
    return m.joint(
        "pin", art.Revolute(axis=(0, 1, 0)), "ground", "rod", damping=art.Parameter("viscous", viscous)
    )


@pytest.fixture(scope="module")
def record() -> Record:
    t = np.arange(0, 6.001, 0.01)
    torque = 4.0 * np.sin(1.3 * t) * np.minimum(t, 1.0)
    run = art.Loop(pendulum(3.0), None, [PrescribedForce("pin", Table(t, torque))]).simulate(
        6.0, step=2e-3, sample=0.01
    )
    random = np.random.default_rng(0)
    columns = {
        "angle": run["q"][:, 0] + 1e-4 * random.normal(size=len(run.t)),
        "torque": torque + 0.01 * random.normal(size=len(t)),
    }
    return Record("swing", run.t, columns, {"angle": "rad", "torque": "N m"})


def test_a_right_model_passes_both_ways(record: Record, tmp_path) -> None:
    found = validate(pendulum(), record, {"pin": "angle"}, {"pin": "torque"}, friction=["viscous"])
    assert found.ok
    assert found.friction["viscous"] == pytest.approx(
        3.0, abs=0.1
    )  # 0.03 expected of the noise and the spline
    assert found.forward[0].relative < 0.01
    assert found.inverse[0].relative < 0.05
    found.to_json(tmp_path / "v.json")
    assert json.loads((tmp_path / "v.json").read_text())["ok"]
    found.to_html(tmp_path / "v.html")
    assert "position of pin" in (tmp_path / "v.html").read_text()


@pytest.mark.filterwarnings("ignore::articulus.errors.DoubtfulResult")
def test_a_wrong_model_is_told_with_where_it_fails(record: Record) -> None:
    found = validate(pendulum(3.0, mass=4.0), record, {"pin": "angle"}, {"pin": "torque"})
    assert [w.split(" is off")[0] for w in found.warnings] == ["position of pin", "force of pin"]


@pytest.mark.filterwarnings("ignore::articulus.errors.DoubtfulResult")
def test_where_a_run_starts(record: Record) -> None:
    """Statics place a hanging pendulum; where its weight's moment hardly changes with the angle, they do not, and that is told."""
    hanging = validate(pendulum(3.0), record, {"pin": "angle"}, {"pin": "torque"}, start="statics")
    assert hanging.start == "static equilibrium with the measured force"
    held = Record(
        "held",
        record.t,
        {
            "angle": np.full(len(record), np.pi / 2) + 1e-5 * np.sin(record.t),
            "torque": np.full(len(record), -2 * 9.80665 * 0.5),
        },
        record.units,
    )
    level = validate(pendulum(3.0), held, {"pin": "angle"}, {"pin": "torque"}, start="statics")
    assert level.start == "the measured position"
    assert level.start_condition > 100
    assert any("statics do not tell" in w for w in level.warnings)


def test_pieces_are_smooth() -> None:
    """A line, a cubic and a line: recovered from samples, equal values and slopes where they meet."""
    t = np.linspace(0, 4, 401)
    u = np.clip(t - 1, 0, 2) / 2
    x = u**2 * (3 - 2 * u)
    c = smooth(t, x, [(1.0, 1), (3.0, 3), (4.0, 1)])
    np.testing.assert_allclose(c[1], [0, 0, 0.75, -0.25], atol=1e-10)
    np.testing.assert_allclose(c[2], [1, 0, 0, 0], atol=1e-10)


def test_refusals(record: Record) -> None:
    with pytest.raises(InputError, match="no joint 'pim'"):
        validate(pendulum(), record, {"pim": "angle"}, {"pin": "torque"})
    with pytest.raises(InputError, match="no parameter 'dry'"):
        validate(pendulum(), record, {"pin": "angle"}, {"pin": "torque"}, friction=["dry"])
    with pytest.raises(InputError, match="degrees 1 or 3"):
        smooth(record.t, record["angle"], [(1.0, 2)])


@pytest.mark.parametrize("wrong", [("a", "m"), ("a", "kg"), ("f", "N"), ("f", "rad")])
def test_columns_of_another_unit_are_refused(wrong: tuple[str, str]) -> None:
    """A position in meters for a joint that turns, a force in radians: the column, its unit and the joint are named."""
    arm = art.load("two_link")
    t = np.linspace(0.0, 1.0, 20)
    units = {"a": "rad", "b": "rad", "f": "N m", "g": "N m"} | dict([wrong])
    record = Record("log", t, {n: np.sin(t) for n in units}, units)
    with pytest.raises(InputError, match=rf"column '{wrong[0]}' .* in {wrong[1]}; expected .* of 'joint1'"):
        validate(arm, record, {"joint1": "a", "joint2": "b"}, {"joint1": "f", "joint2": "g"})


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
def test_signals_that_do_not_change_have_no_share(size: float) -> None:
    """A constant signal has no spread to compare with: the share is infinite, or zero where nothing differs, and no 1e+303 % at any size."""
    t = np.arange(10.0)
    off = SignalComparison("force", "N", t, np.full(10, size), np.full(10, 2 * size))
    assert off.relative == np.inf
    assert off.rms == pytest.approx(size)
    assert SignalComparison("force", "N", t, np.full(10, size), np.full(10, size)).relative == 0.0


@pytest.mark.parametrize("size", [1e-9, 1.0])
@pytest.mark.parametrize("noise", [0.0, 1e-4])
def test_smoothed_records_have_velocities_at_their_ends(noise: float, size: float) -> None:
    """Of a cosine that starts and ends in motion: speed within 2 %, acceleration within 30 % at both ends, where a natural spline has 5 % and 100 %."""
    t = np.linspace(3.0, 4.0, 301)
    x = size * (np.cos(5 * t) + noise * np.random.default_rng(0).normal(size=t.size))
    q, v, a = _smooth(t, x, (), t[[0, -1]])
    np.testing.assert_allclose(q, size * np.cos(5 * t[[0, -1]]), atol=1e-3 * size)
    np.testing.assert_allclose(v, -5 * size * np.sin(5 * t[[0, -1]]), atol=0.02 * 5 * size)
    np.testing.assert_allclose(a, -25 * size * np.cos(5 * t[[0, -1]]), atol=0.3 * 25 * size)
