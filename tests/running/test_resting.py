"""Joints that come to rest on a stop and are let go: times and forces of closed forms, complementarity, refusals."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import brentq
from test_events import G, arm, ball, pendulum

import articulus as art
from articulus.bench.models import chain
from articulus.errors import InputError
from articulus.simulation.loop.components import Expression, PrescribedForce, Table
from articulus.simulation.loop.events import Bounce
from articulus.simulation.results import RunStatus
from articulus.simulation.running.loop import Loop
from closed_zoo import four_bar

METHODS = (
    "rk4",
    "central_difference",
    "lie_rk4",
    "dormand_prince",
    "rosenbrock",
    "newmark",
    "generalized_alpha",
)
FLOOR = Bounce("z", 0.0, -1, 0.5)


def times(run: art.Run, name: str) -> list[float]:
    return [e.time for e in run.events if e.name == name]


def pull(text: str) -> Expression:
    """Return a force in the only joint as a function of time."""
    t = ca.SX.sym("t")
    forms = {"sine": 15 * ca.sin(t), "ramp": 4 * t, "late": 30 * (t - 1) * (t > 1)}
    return Expression(ca.Function("pull", [t], [forms[text]], ["t"], ["u"]))


# coming to rest


@pytest.mark.parametrize("e", [0.0, 0.5, 0.8])
@pytest.mark.parametrize("method", METHODS)
def test_a_ball_comes_to_rest(method: str, e: float) -> None:
    """Flights of a ball add up to sqrt(2 h / g) (1 + e) / (1 - e); then it rests on the floor exactly, borne by its weight.

    All methods are exact in free fall. Rounding of each impact is about 1e-14 s, and some 60 inherit it.
    """
    floor = Bounce("z", 0.25, -1, e)
    run = art.simulate(
        ball(), 5.0, q0=[1.25], step=0.02, method=method, rtol=1e-12, atol=1e-12, events=[floor]
    )
    rests = np.sqrt(2 / G) * (1 + e) / (1 - e)
    assert times(run, "bounce rests") == pytest.approx([rests], abs=1e-10)
    after = run.t > rests
    assert (run.q[after, 0] == 0.25).all()
    assert (run.v[after] == 0.0).all()
    assert run["stops"][after, 0] == pytest.approx(np.full(after.sum(), G), rel=1e-12)
    assert (run["stops"][run.t < rests - 1e-3] == 0.0).all()
    assert run.q.min() > 0.25 - 1e-9
    assert run["energy.dissipated"][-1] == pytest.approx(G, rel=1e-10)
    assert np.abs(run["energy.balance"]).max() < 1e-9
    assert run.status == RunStatus.COMPLETE


def test_the_time_of_rest_is_that_of_all_flights_to_come() -> None:
    """With e = 0.95 rest comes after 17.6 s and 270 impacts, most of them in one long step."""
    run = art.simulate(ball(), 20.0, q0=[1.0], step=2.0, events=[Bounce("z", 0.0, -1, 0.95)])
    assert times(run, "bounce rests") == pytest.approx([np.sqrt(2 / G) * 39], abs=1e-9)
    assert run.q[-1, 0] == 0.0


def test_an_elastic_ball_never_rests() -> None:
    run = art.simulate(ball(), 3.0, q0=[1e-4], step=0.05, events=[Bounce("z", 0.0, -1, 1.0)])
    assert not times(run, "bounce rests")
    assert len(run.events) == int((3.0 / np.sqrt(2e-4 / G) + 1) / 2)
    # impacts at (2 k - 1) fall; each has the rounding of its position, 1e-12 of the height
    assert run["energy.kinetic"][-1] + run["energy.potential"][-1] == pytest.approx(G * 1e-4, rel=1e-6)


@pytest.mark.parametrize("method", ["rk4", "dormand_prince"])
def test_a_pendulum_rests_against_its_stop(method: str) -> None:
    """A pendulum falls against a stop beside its lowest point and rests there: its moment is m g L sin(angle)."""
    at, e = 0.4, 0.6
    run = art.simulate(
        pendulum(), 6.0, q0=[1.2], step=0.01, method=method, rtol=1e-10, atol=1e-11, events=[Bounce("hinge", at, -1, e)]
    )  # fmt: skip
    rests = times(run, "bounce rests")
    impacts = np.array(times(run, "bounce"))
    assert len(rests) == 1
    after = run.t > rests[0]
    assert after.any()
    assert (run.q[after, 0] == at).all()
    assert run["stops"][after, 0] == pytest.approx(np.full(after.sum(), G * np.sin(at)), rel=1e-8)
    # near the end gravity is as good as constant: each flight lasts e times the one before
    flights = np.diff(impacts)
    assert flights[12:20] / flights[11:19] == pytest.approx(e, rel=1e-3)
    assert rests[0] == pytest.approx(impacts[-1] + flights[-1] * e / (1 - e), abs=1e-9)


# being let go


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_is_lifted_when_the_force_exceeds_its_weight(method: str) -> None:
    """A force 15 sin(t) N on a ball of 1 kg at rest: it leaves at asin(g / 15), then moves as the integral says."""
    run = art.simulate(
        ball(), 1.2, q0=[0.0], step=0.01, method=method, rtol=1e-11, atol=1e-12, components=[pull("sine")],
        events=[FLOOR],
    )  # fmt: skip
    leaves = np.arcsin(G / 15)
    assert times(run, "bounce rests") == [0.0]
    # the time is that of a change of sign, to 1e-12 of a step; the adhesion of 1e-10 m/s^2 adds 1e-11 s
    assert times(run, "bounce lets go") == pytest.approx([leaves], abs=1e-10)
    t = run.t - leaves
    up = 15 * (np.sin(leaves) - np.sin(run.t) + t * np.cos(leaves)) - G * t**2 / 2
    # methods of second order: 0.01^2 of a force of 15 N that turns in a second
    tolerance = 1e-4 if method in ("central_difference", "newmark", "generalized_alpha") else 1e-9
    assert run.q[:, 0] == pytest.approx(np.where(t > 0, up, 0.0), abs=tolerance)
    assert run["stops"][:, 0] == pytest.approx(np.where(t > 0, 0.0, G - 15 * np.sin(run.t)), abs=1e-9)


def test_a_force_that_jumps_lets_go_at_the_jump() -> None:
    """Between two steps the stop would have to pull at once; the ball flies with (F - m g) / m."""
    lift = PrescribedForce("z", Table((0.0, 0.5), (0.0, 20.0), hold=True))
    run = art.simulate(ball(), 1.0, q0=[0.0], step=0.01, components=[lift], events=[FLOOR])
    assert times(run, "bounce lets go") == pytest.approx([0.5], abs=1e-12)
    t = np.maximum(run.t - 0.5, 0)
    assert run.q[:, 0] == pytest.approx((20 - G) * t**2 / 2, abs=1e-12)


def test_lifted_dropped_and_at_rest_again() -> None:
    """Complementarity: at every sample the gap or the force is zero, and neither is negative."""
    t = ca.SX.sym("t")
    shaking = Expression(ca.Function("f", [t], [14 * ca.sin(2 * t)], ["t"], ["u"]))
    run = art.simulate(
        ball(), 12.0, q0=[0.2], step=0.01, method="rk4", components=[shaking], events=[Bounce("z", 0.0, -1, 0.3)]
    )  # fmt: skip
    assert len(times(run, "bounce lets go")) > 2
    gap, force = run.q[:, 0], run["stops"][:, 0]
    assert gap.min() > -1e-10
    assert force.min() > -1e-9
    assert np.abs(gap * force).max() < 1e-9
    assert np.abs(run["energy.balance"]).max() < 1e-6  # RK4 at 0.01 s through a force of 2 rad/s


def test_pressed_from_nothing_against_a_stop() -> None:
    """A body at rest at its stop without a force rests; a growing push is borne, a growing pull moves it: x = 4 t^3 / 6."""
    m = ball(0)
    push = art.simulate(m, 1.0, step=0.1, components=[pull("ramp")], events=[Bounce("z", 0.0, 1)])
    assert (push.q == 0.0).all()
    assert push["stops"][:, 0] == pytest.approx(-4 * push.t, abs=1e-12)
    away = art.simulate(m, 1.0, step=0.1, components=[pull("ramp")], events=[Bounce("z", 0.0, -1)])
    assert away.q[:, 0] == pytest.approx(4 * away.t**3 / 6, abs=1e-9)


def test_a_joint_at_rest_feels_the_others() -> None:
    """An arm whose elbow is at its stop moves as if it were locked, until the stop would have to pull.

    The force of the stop is the moment that inverse dynamics asks of the elbow.
    """
    m = arm()
    t = ca.SX.sym("t")
    drive = Expression(ca.Function("f", [t], [ca.vertcat(-3 * ca.cos(2 * t), 0)], ["t"], ["u"]))
    run = art.simulate(
        m, 2.0, q0=[0.0, 0.3], step=0.005, method="rk4", components=[drive], events=[Bounce("elbow", 0.3, 1)]
    )  # fmt: skip
    (leaves,) = times(run, "bounce lets go")
    held = run.t < leaves
    locked = arm().constrain(art.Lock("latch", "elbow", (0.3,)))
    same = art.simulate(locked, 2.0, q0=[0.0, 0.3], step=0.005, method="rk4", components=[drive])
    assert run.q[held] == pytest.approx(same.q[held], abs=1e-8)
    tau = m.inverse_dynamics(run.q[held], run.v[held], run["vdot"][held])
    assert run["stops"][held, 0] == pytest.approx(tau[:, 1], abs=1e-9)
    assert run["stops"][held, 0].max() < 1e-9
    force = lambda at: np.interp(at, same.t, m.inverse_dynamics(same.q, same.v, same["vdot"])[:, 1])  # noqa: E731
    assert leaves == pytest.approx(
        brentq(force, leaves - 0.1, leaves + 0.1), abs=1e-4
    )  # samples 0.005 s apart


def test_two_stops_hold_and_let_go_on_their_own() -> None:
    """A double pendulum, horizontal on two stops: forces are those of statics; a lift of the lower link frees it alone."""
    m = art.Mechanism("folded")
    for name, parent, at in (("upper", "ground", (0, 0, 0)), ("lower", "upper", (1, 0, 0))):
        m.body(name, 1.0, (0.5, 0, 0), (0.01, 0.1, 0.1))
        m.joint(f"{name}_pin", art.Revolute((0, -1, 0)), parent, name, at=at)
    t = ca.SX.sym("t")
    lift = Expression(ca.Function("f", [t], [ca.vertcat(0, 10 * t)], ["t"], ["u"]))
    stops = [Bounce("upper_pin", 0.0, -1, name="first"), Bounce("lower_pin", 0.0, -1, name="second")]
    run = art.simulate(m, 0.6, step=0.01, components=[lift], events=stops)
    # moments of the weights: G 0.5 + G 1.5 about the first pin, G 0.5 about the second; the lift takes over from the second
    assert run["stops"][0] == pytest.approx([2 * G, 0.5 * G], rel=1e-9)
    assert times(run, "second lets go") == pytest.approx([0.5 * G / 10], abs=1e-9)
    assert not times(run, "first lets go")
    assert (run.q[:, 0] == 0.0).all()
    assert run.q[-1, 1] > 1e-4


def test_a_body_pushed_from_one_stop_to_the_other() -> None:
    """Two stops of one joint: a force of 4 N that turns over at 1 s; 2 kg need sqrt(2 m d / F) from one to the other."""
    m = art.Mechanism("shuttle", gravity=(0, 0, 0))
    m.body("sled", 2.0, inertia=(1.0, 1.0, 1.0))
    m.joint("x", art.Prismatic((1, 0, 0)), "ground", "sled")
    push = PrescribedForce("x", Table((0.0, 1.0), (-4.0, 4.0), hold=True))
    stops = [Bounce("x", -0.1, -1, name="left"), Bounce("x", 0.1, 1, name="right")]
    run = art.simulate(m, 2.0, q0=[-0.1], step=0.01, components=[push], events=stops)
    assert times(run, "left lets go") == pytest.approx([1.0], abs=1e-12)
    assert times(run, "right rests") == pytest.approx([1.0 + np.sqrt(2 * 2 * 0.2 / 4)], abs=1e-10)
    assert run["stops.x"][0] == pytest.approx(4.0)
    assert run["stops.x.1"][-1] == pytest.approx(-4.0)
    assert run.q[-1, 0] == 0.1


def test_an_impact_takes_another_joint_off_its_stop() -> None:
    """An arm whose elbow is pressed onto its stop hits the shoulder's stop, and the lower link flies on.

    The impulse acts on the shoulder alone, since the elbow's stop cannot pull: M dv = (impulse, 0).
    """
    m = arm()
    press = PrescribedForce("elbow", 2.0)
    stops = [Bounce("shoulder", -0.2, -1, name="shoulder"), Bounce("elbow", 0.3, 1, name="elbow")]
    run = art.simulate(
        m, 0.3, q0=[0.0, 0.3], v0=[-1.0, 0.0], step=0.001, components=[press], events=stops
    )  # fmt: skip
    (hit,) = times(run, "shoulder")
    assert times(run, "elbow lets go")[0] == hit
    k = int(np.searchsorted(run.t, hit))
    assert (run.q[:k, 1] == 0.3).all()
    change = m.mass_matrix(run.q[k]) @ (run.v[k] - run.v[k - 1])
    # within a step of 1 ms forces of some 3 N m act besides
    assert change == pytest.approx([change[0], 0.0], abs=0.01)
    assert run.v[k, 1] < -1.0
    assert abs(run.v[k, 0]) < 0.01


def test_a_loop_rests_on_a_stop() -> None:
    """The stop of a four-bar holds it through the loop: the moment is that of virtual work, dV / dq along the loop."""
    m = four_bar()
    run = art.simulate(
        m, 6.0, q0=[0.2, -0.2, 0.2], v0=[0.5, -0.5, 0.5], step=0.01, method="rk4",
        events=[Bounce("crank_pin", 0.6, 1, 0.3)],
    )  # fmt: skip
    rest = times(run, "bounce rests")
    if not rest:
        pytest.fail("the four-bar did not come to rest")
    after = run.t > rest[0] + 0.02
    assert run.q[after, 0] == pytest.approx(0.6, abs=1e-12)
    assert np.abs(run["constraint"][after]).max() < 1e-9
    q = run.q[-1]
    Gq = m.constraint_jacobian(q)
    free = np.linalg.svd(Gq)[2][-1]
    free /= free[0]
    assert run["stops"][-1, 0] == pytest.approx(m.tree.gravity(q) @ free, rel=1e-6)


# the linear model, the checkpoint, refusals


def test_the_linear_model_of_a_joint_at_rest_has_it_fixed() -> None:
    m = arm()
    run = art.simulate(m, 0.1, q0=[0.0, 0.3], step=0.01, events=[Bounce("elbow", 0.3, 1)])
    assert run.linearize(0.05).states == ("q.shoulder", "v.shoulder")
    locked = arm().constrain(art.Lock("latch", "elbow", (0.3,)))
    same = art.simulate(locked, 0.1, q0=[0.0, 0.3], step=0.01).linearize(0.05)
    assert run.linearize(0.05).B[:, 0] == pytest.approx(same.B[:, 0], abs=1e-8)


@pytest.mark.parametrize(("side", "q0", "text"), [(-1, -0.5, "at least 0"), (1, 0.5, "at most 0")])
def test_a_start_beyond_the_stop_is_told(side: int, q0: float, text: str) -> None:
    expected = (
        rf"event 'bounce': joint 'z' starts at {q0}, beyond its stop at 0 \(side [+-]1\); expected {text}"
    )
    with pytest.raises(InputError, match=expected):
        art.simulate(ball(), 1.0, q0=[q0], events=[Bounce("z", 0.0, side, 0.5)])


def test_a_start_on_the_stop_moving_into_it_is_an_impact() -> None:
    run = art.simulate(ball(0), 1.0, v0=[2.0], step=0.1, events=[Bounce("z", 0.0, 1, 0.5)])
    assert times(run, "bounce") == [0.0]
    assert run.q[-1, 0] == pytest.approx(-1.0, abs=1e-12)


def test_the_force_of_a_stop_in_a_long_chain():
    """Where accelerations are calls: the joint at rest has none, and the stop gives what inverse dynamics asks for there.

    Tolerance: rounding of a chain of 28 links, of accelerations up to 1e3.
    """
    mechanism, rng = chain(28).mechanism, np.random.default_rng(4)
    system = Loop(mechanism).equations((Bounce("joint20", 0.0, -1, 0.0),))
    c, d, (q, v) = system.c0.copy(), system.d0.copy(), 0.3 * rng.normal(size=(2, 28))
    v[20] = 0.0
    c[system.places["q"]], c[system.places["v"]] = q, v
    d[system.held_places["resting"]] = 1.0
    stops, vdot = (np.array(x).ravel() for x in system.reporting(("stops", "vdot"))(c, d, [], [], 0.0, 1e-3))
    needed = mechanism.inverse_dynamics(q, v, vdot)
    assert vdot[20] == 0.0
    assert abs(stops[0]) > 0.1
    np.testing.assert_allclose(needed[20], stops[0], rtol=1e-8)
    np.testing.assert_allclose(np.delete(needed, 20), 0.0, atol=1e-9)
