"""Events in batches: the same times and states as single runs; events on forces, multipliers and sampled signals."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError
from articulus.simulation.loop.components import PD, ForceSensor, JointSensor, Measured
from articulus.simulation.loop.events import Bounce, Crossing, Switch
from articulus.simulation.results import RunStatus

G = 9.81


def ball() -> art.Mechanism:
    m = art.Mechanism("ball")
    m.body("ball", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))
    m.joint("z", art.Prismatic((0, 0, 1)), "ground", "ball")
    return m


def pendulum() -> art.Mechanism:
    """Return a point mass of 1 kg on a rod of 1 m, by a constraint: its multiplier is the force of the rod."""
    m = art.Mechanism("pendulum")
    m.body("slide", 1e-9, (0, 0, 0), (1e-9, 1e-9, 1e-9))
    m.joint("x", art.Prismatic((1, 0, 0)), "ground", "slide")
    m.body("bob", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))
    m.joint("z", art.Prismatic((0, 0, 1)), "slide", "bob")
    return m.constrain(art.mechanism.Distance("rod", "bob", "ground", 1.0))


def same_as_single(batch: art.Run, singles: list[art.Run], tolerance: float) -> None:
    for row, single in enumerate(singles):
        found = [e for e in batch.events if e.run == row]
        assert [e.name for e in found] == [e.name for e in single.events]
        assert np.allclose([e.time for e in found], [e.time for e in single.events], rtol=0, atol=tolerance)
        known = np.isfinite(batch.q[row]).all(axis=-1)
        n = min(known.sum(), len(single.q)) - 1  # the end of a run that an event stops is its own
        assert np.allclose(batch.q[row, :n], single.q[:n], rtol=0, atol=tolerance)


def test_bounces_rest_and_release_in_a_batch() -> None:
    """Balls from other heights: impacts, rest and release as in single runs; the time of rest is sqrt(2 h / g) (1 + e) / (1 - e)."""
    t = ca.SX.sym("t")
    lift = ca.Function("lift", [t], [3 * t], ["t"], ["u"])
    given = {"controller": lift, "step": 0.01, "sample": 0.1, "events": [Bounce("z", 0.0, -1, 0.5)]}
    q0 = np.array([[1.0], [0.4], [0.0], [0.0]])
    v0 = np.array(
        [[0.0], [0.3], [0.0], [-1.0]]
    )  # the third starts at rest on its stop, the fourth moves into it
    batch = art.rollout(ball(), 3.6, q0=q0, v0=v0, outputs=("energy", "stops"), **given)
    singles = [art.simulate(ball(), 3.6, q0=q, v0=v, **given) for q, v in zip(q0, v0)]
    same_as_single(batch, singles, 1e-11)
    assert {e.name for e in batch.events} == {"bounce", "bounce rests", "bounce lets go"}
    assert np.allclose([e.time for e in batch.events if "lets go" in e.name], G / 3, atol=1e-9)
    assert np.abs(batch["energy.balance"]).max() < 1e-6  # of rk4 steps of 0.01 s


@pytest.mark.parametrize("method", ["rk4", "dormand_prince", "rosenbrock"])
def test_release_by_the_force_of_a_constraint(method: str) -> None:
    """The force of the rod of a pendulum let go at 90 deg is 3 m g cos(angle): it breaks at 20 N where cos = 20 / 3 g.

    From there the mass flies: its speed across is that of the energy, v^2 = 2 g cos.
    """
    strong = Switch("multipliers.rod", "rod", active=False, direction=1, level=20.0, name="breaks")
    start = np.array([[1.0, 0.0], [0.8, -0.6]])
    given = {
        "method": method,
        "step": 0.005,
        "sample": 0.05,
        "events": [strong],
        "rtol": 1e-10,
        "atol": 1e-11,
    }
    batch = art.rollout(pendulum(), 0.8, q0=start, outputs=("multipliers", "energy"), **given)
    same_as_single(batch, [art.simulate(pendulum(), 0.8, q0=q, **given) for q in start], 1e-9)
    cosine = 20 / (3 * G)
    event = next(e for e in batch.events if e.run == 0)
    after = batch.t > event.time
    height, speed = -cosine, np.sqrt(2 * G * cosine)
    fall = batch.t[after] - event.time
    down = speed * np.sqrt(1 - cosine**2)
    assert np.allclose(batch.q[0, after, 1], height - down * fall - G * fall**2 / 2, atol=1e-6)  # rk4 steps
    assert np.abs(batch["multipliers"][0, after]).max() == 0.0
    assert np.abs(batch["energy.balance"]).max() < 1e-6


def test_a_sensor_of_force_stops_a_run() -> None:
    """The force between pendulum and pivot, 3 m g cos(angle), is watched through a sensor."""
    m = art.Mechanism("hanging")
    m.body("bob", 1.0, (0, 0, -1.0), (1e-9, 1e-9, 1e-9))
    m.joint("hinge", art.Revolute((0, 1, 0)), "ground", "bob")
    force = ca.SX.sym("force", 3)
    size = ca.Function("size", [force], [ca.norm_2(force)])
    heavy = Crossing(size, 1, stop=True, level=25.0, inputs=("hinge_force_sensor.force",), name="heavy")
    given = {"components": [ForceSensor("hinge")], "step": 0.002, "events": [heavy]}
    run = art.simulate(m, 2.0, q0=[np.pi / 2], **given)
    assert run.status == RunStatus.STOPPED
    assert np.cos(run.q[-1, 0]) == pytest.approx(25 / (3 * G), abs=1e-9)
    batch = art.rollout(m, 2.0, q0=np.array([[np.pi / 2], [0.1]]), **given)
    assert list(batch.status) == [RunStatus.STOPPED, RunStatus.COMPLETE]
    assert batch.events[0].time == pytest.approx(run.t[-1], abs=1e-12)


@pytest.mark.parametrize("single", [True, False])
def test_a_sampled_signal_jumps_across_the_level(single: bool) -> None:
    """A ball falls through 0.5 m; its sensor tells at the next sampling instant, 20 ms of delay later."""
    sensor = Measured(JointSensor(name="height"), period=0.02, delay=1)
    seen = Crossing("height.q", -1, level=0.5, name="low", action=lambda t, q, v: (q, v + 10.0))
    given = {"components": [sensor], "step": 0.005, "events": [seen]}
    run = (art.simulate if single else art.rollout)(ball(), 0.5, q0=[1.0], **given)
    instant = np.ceil(np.sqrt(2 * 0.5 / G) / 0.02) * 0.02 + 0.02
    assert [e.time for e in run.events] == pytest.approx([instant], abs=1e-12)
    v = run.v[-1, 0] if single else run.v[0, -1, 0]
    assert v == pytest.approx(10 - G * 0.5, abs=1e-9)


def test_an_event_that_another_one_makes_jump() -> None:
    """At an impact the velocity turns round: a crossing of it happens at the same instant, once."""
    turned = Crossing("v.z", 1, name="turned")
    run = art.simulate(ball(), 0.6, q0=[1.0], step=0.01, events=[turned, Bounce("z", 0.0, -1, 0.5)])
    assert [e.name for e in run.events] == ["bounce", "turned"]
    assert run.events[0].time == run.events[1].time


def test_levels_may_be_parameters_of_a_sweep() -> None:
    """The level is one more parameter: fall through other heights."""
    m, height = ball(), art.Parameter("height", 0.5)
    pull = PD(kp=1e-12, kd=0.0, target=height)  # a component that has the parameter
    mark = Crossing("q.z", -1, level=height, name="mark")
    heights = np.array([0.2, 0.5, 0.9])
    run = art.rollout(m, 0.5, q0=[1.0], params={"height": heights}, components=[pull], events=[mark])
    times = {e.run: e.time for e in run.events}
    assert [times[i] for i in range(3)] == pytest.approx(np.sqrt(2 * (1 - heights) / G), abs=1e-9)


def test_a_batch_with_events_goes_on_from_a_checkpoint(tmp_path) -> None:
    """Whatever the pieces in which it is run: bit by bit the same."""
    given = {"q0": np.array([[1.0], [0.7]]), "step": 0.01, "events": [Bounce("z", 0.0, -1, 0.5)]}
    whole = art.rollout(ball(), 2.0, sample=0.01, **given)
    path = tmp_path / "c"
    kept = art.rollout(
        ball(), 2.0, sample=0.01, checkpoint=path, checkpoint_interval=0.0, keep_checkpoint=True, **given
    )
    again = art.rollout(ball(), 2.0, sample=0.01, checkpoint=path, **given)
    for run in (kept, again):
        assert np.array_equal(whole.q, run.q)
        assert [e.time for e in whole.events] == [e.time for e in run.events]


def test_an_event_can_have_a_parameter_of_its_own() -> None:
    """Time at which a run passes a level of time is that level, run by run; tolerance: rounding of the time."""
    times = np.array([0.0105, 0.0207, 0.0333])
    late = Crossing("t", level=art.Parameter("when", 0.05), name="late")
    run = art.rollout(ball(), 0.05, events=[late], params={"when": times})
    assert [e.run for e in run.events] == [0, 1, 2]
    assert np.allclose([e.time for e in run.events], times, atol=1e-9)


def test_names_of_signals_are_checked() -> None:
    with pytest.raises(InputError, match=r"event 'crossing': no signal 'q\.y'"):
        art.simulate(ball(), 0.1, events=[Crossing("q.y")])
    with pytest.raises(InputError, match=r"event 'crossing': the value has 6 numbers; expected one"):
        art.simulate(ball(), 0.1, events=[Crossing("momentum")])
    two = ca.SX.sym("x", 2)
    with pytest.raises(InputError, match="2 inputs; expected 1"):
        Crossing(ca.Function("f", [two], [two[0]], ["q"], ["f"]), inputs=("q", "v"))
    with pytest.raises(InputError, match="a signal of 1 numbers; expected 2, as the function takes"):
        art.simulate(ball(), 0.1, events=[Crossing(ca.Function("f", [two], [two[0]], ["q"], ["f"]))])
