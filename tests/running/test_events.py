"""Events: times against closed forms and scipy, impulses against the equations of impact, refusals."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import articulus as art
from articulus.errors import InputError, NumericalError
from articulus.simulation.loop.events import Bounce, Crossing, Switch
from articulus.simulation.results import RunStatus

G = 9.81
ONE_STEP = (
    "rk4",
    "central_difference",
    "lie_rk4",
    "dormand_prince",
    "rosenbrock",
    "newmark",
    "generalized_alpha",
)
"""Methods that are exact for a ball in free fall."""


def ball(axis: int = 2) -> art.Mechanism:
    m = art.Mechanism("ball")
    m.body("ball", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))
    m.joint("z", art.Prismatic(tuple(np.eye(3)[axis])), "ground", "ball")
    return m


def pendulum(length: float = 1.0) -> art.Mechanism:
    m = art.Mechanism("pendulum")
    m.body("bob", 1.0, (0, 0, -length), (1e-9, 1e-9, 1e-9))
    m.joint("hinge", art.Revolute((0, 1, 0)), "ground", "bob")
    return m


def arm() -> art.Mechanism:
    """Return two links in the x-z plane on hinges about y, without gravity."""
    m = art.Mechanism("arm", gravity=(0, 0, 0))
    m.body("upper", 2.0, (0.4, 0, 0.1), (0.1, 0.2, 0.15))
    m.joint("shoulder", art.Revolute((0, 1, 0)), "ground", "upper")
    m.body("lower", 1.2, (0.3, 0, -0.1), (0.05, 0.08, 0.06))
    m.joint("elbow", art.Revolute((0, 1, 0)), "upper", "lower", at=(0.9, 0, 0))
    return m


def on(expression: str) -> ca.Function:
    """Return a function of t, q and v from its text, such as "q[0] - 1"."""
    t, q, v = ca.SX.sym("t"), ca.SX.sym("q", 2), ca.SX.sym("v", 2)
    forms = {"elbow": q[1] - 0.3, "upper": q[0] - 0.2, "time": t - 0.35}
    return ca.Function("f", [t, q, v], [forms[expression]], ["t", "q", "v"], ["f"])


def test_events_at_the_same_instant_all_happen() -> None:
    """Two crossings of one function, one of which ends the run: both are told."""
    seen: list[float] = []

    def see(t: float, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        seen.append(t)
        return q, v

    first = Crossing(on("time"), action=see, name="first")
    second = Crossing(on("time"), action=see, name="second")
    for method in ("rk4", "dormand_prince"):
        seen.clear()
        run = art.simulate(arm(), 0.6, method=method, step=0.1, events=[first, second])
        assert [e.name for e in run.events] == ["first", "second"]
        assert seen == pytest.approx([0.35, 0.35], abs=1e-9)


def angle(value: float) -> ca.Function:
    q = ca.SX.sym("q")
    return ca.Function("angle", [q], [q - value], ["q"], ["f"])


def bounces(height: float, e: float, t_end: float) -> list[float]:
    """Return the times of impact of a ball: sqrt(2 h / g) (1 + 2 e + 2 e^2 + ...)."""
    fall = np.sqrt(2 * height / G)
    times, flight = [fall], 2 * fall * e
    while times[-1] + flight < t_end:
        times.append(times[-1] + flight)
        flight *= e
    return times


# times


@pytest.mark.parametrize("step", [0.01, 0.25])
@pytest.mark.parametrize("method", ONE_STEP)
def test_bouncing_ball(method: str, step: float) -> None:
    """Free fall is exact for these methods, so only rounding is left; with the long step several impacts fall in one.

    The rounding of one impact is about 1e-14 s and every further one inherits it.
    """
    run = art.simulate(
        ball(),
        2.25,
        q0=[1.0],
        step=step,
        method=method,
        rtol=1e-12,
        atol=1e-12,
        events=[Bounce("z", 0.0, -1, 0.7)],
    )
    expected = bounces(1.0, 0.7, 2.25)
    assert len(expected) == 6
    assert np.allclose([e.time for e in run.events], expected, rtol=0, atol=1e-10)
    assert run.q.min() > -1e-9
    assert run.status == RunStatus.COMPLETE


def test_energy_lost_in_impacts_is_dissipated() -> None:
    """After n impacts e^(2n) of the energy is left; the balance counts the rest as dissipated."""
    run = art.simulate(ball(), 2.0, q0=[1.0], step=0.01, events=[Bounce("z", 0.0, -1, 0.8)])
    stored = run["energy.kinetic"] + run["energy.potential"]
    count = np.searchsorted([e.time for e in run.events], run.t)
    assert np.allclose(stored, G * 0.64**count, atol=1e-10)
    assert np.allclose(run["energy.dissipated"], G * (1 - 0.64**count), atol=1e-10)
    assert np.abs(run["energy.balance"]).max() < 1e-10


def test_action_that_brings_itself_about_is_refused() -> None:
    """A reversal at a crossing of either direction happens again at once, on the way back."""
    q = ca.SX.sym("q")
    wiggle = [
        Crossing(
            ca.Function("f", [q], [q - s * 1e-12], ["q"], ["f"]), action=lambda t, q, v: (q, -v), name=f"w{s}"
        )
        for s in (-1, 1)
    ]
    with pytest.raises(NumericalError, match=r"200 events between .* follow each other without end"):
        art.simulate(ball(0), 1.0, v0=[1.0], step=0.1, events=wiggle)


def test_start_on_the_stop() -> None:
    """A ball thrown up from its floor comes back after 2 v / g, also within the first step."""
    run = art.simulate(ball(), 0.3, v0=[1.0], step=0.3, events=[Bounce("z", 0.0, -1, 1.0)])
    assert np.allclose([e.time for e in run.events], [2 / G], atol=1e-12)


@pytest.mark.parametrize(
    ("direction", "chosen"), [(1, slice(1, None, 2)), (-1, slice(0, None, 2)), (0, slice(None))]
)
@pytest.mark.parametrize("method", ["rk4", "dormand_prince", "cvodes"])
def test_pendulum_crossings(method: str, direction: int, chosen: slice) -> None:
    """Passages through 0.3 rad against scipy's DOP853 at 1e-13; both directions, each alone, both together.

    cvodes controls local errors of 1e-11, which grow in each restart at the 200 steps.
    """
    reference = solve_ivp(
        lambda t, x: [x[1], -G * np.sin(x[0])], (0, 4), [1.0, 0.0], method="DOP853", rtol=1e-13, atol=1e-13,
        events=lambda t, x: x[0] - 0.3,
    ).t_events[0]  # fmt: skip
    event = Crossing(angle(0.3), direction, name="passage")
    run = art.simulate(
        pendulum(), 4.0, q0=[1.0], step=0.02 if method != "rk4" else 0.002, method=method, rtol=1e-11, atol=1e-12,
        events=[event],
    )  # fmt: skip
    tolerance = 1e-6 if method == "cvodes" else 1e-8
    assert len(reference) == 4
    assert np.allclose([e.time for e in run.events], reference[chosen], rtol=0, atol=tolerance)


def test_there_and_back_within_a_step() -> None:
    """A pendulum that passes a mark near its turn, and comes back before the step is over, is seen twice."""
    path = solve_ivp(
        lambda t, x: [x[1], -G * np.sin(x[0])], (0, 0.4), [0.5, 1.0], method="DOP853", rtol=1e-13, atol=1e-13,
        dense_output=True,
    ).sol  # fmt: skip
    top = brentq(lambda t: path(t)[1], 0, 0.4)
    expected = [brentq(lambda t: path(t)[0] - 0.57, *span) for span in ((0, top), (top, 0.4))]
    run = art.simulate(
        pendulum(), 0.4, q0=[0.5], v0=[1.0], step=0.4, method="dormand_prince", rtol=1e-12, atol=1e-12,
        events=[Crossing(angle(0.57), name="mark")],
    )  # fmt: skip
    assert np.allclose([e.time for e in run.events], expected, rtol=0, atol=1e-7)


def test_events_happen_in_the_order_of_time() -> None:
    """Three events in one step, given in another order."""
    marks = [Crossing(angle(z), name=str(z)) for z in (0.2, 0.6, 0.4)]
    run = art.simulate(ball(0), 1.0, q0=[0.0], v0=[1.0], step=1.0, events=marks)
    assert [e.name for e in run.events] == ["0.2", "0.4", "0.6"]
    assert np.allclose([e.time for e in run.events], [0.2, 0.4, 0.6], atol=1e-12)


def test_event_in_time() -> None:
    """An event of t alone is found at its time, and its action takes part from then on."""
    t = ca.SX.sym("t")
    kick = Crossing(
        ca.Function("f", [t], [t - 0.55], ["t"], ["f"]), action=lambda t, q, v: (q, v + 2.0), name="kick"
    )
    run = art.simulate(ball(0), 1.0, step=0.1, events=[kick])
    assert run.events[0].time == pytest.approx(0.55, abs=1e-13)
    assert np.allclose(run.q[:, 0], 2 * np.maximum(run.t - 0.55, 0), atol=1e-12)
    assert np.allclose(run["energy.input"], np.where(run.t > 0.55, 2.0, 0.0), atol=1e-12)


# ends of runs


@pytest.mark.parametrize("sample", [0.02, 0.1])
def test_stop_ends_the_run_there(sample: float) -> None:
    """The last sample is at the located time, on the mark; samples before are those of a run without the event."""
    stop = Crossing(angle(0.5), stop=True, name="mark")
    run = art.simulate(pendulum(), 2.0, q0=[1.0], step=0.02, sample=sample, events=[stop])
    free = art.simulate(pendulum(), 2.0, q0=[1.0], step=0.02, sample=sample)
    assert run.status == RunStatus.STOPPED
    assert [e.stop for e in run.events] == [True]
    assert run.t[-1] == run.events[0].time
    assert run.q[-1, 0] == pytest.approx(0.5, abs=1e-12)
    assert np.array_equal(run.t[:-1], free.t[: len(run.t) - 1])
    assert np.allclose(run.q[:-1], free.q[: len(run.t) - 1], rtol=0, atol=1e-12)
    assert np.isfinite(run["energy"]).all()


def test_python_controller_is_not_asked_after_a_stop() -> None:
    calls: list[float] = []

    def controller(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        calls.append(t)
        return np.zeros(1)

    stop = Crossing(angle(0.5), stop=True, name="mark")
    run = art.simulate(pendulum(), 2.0, q0=[1.0], step=0.02, controller=controller, events=[stop])
    assert max(calls) < run.t[-1]
    assert len(calls) == len(run.t) - 1


# impacts


def test_bounce_of_an_arm() -> None:
    """At the elbow's stop the elbow's rate turns by -e; the momentum about the shoulder stays; M dv acts on the elbow alone."""
    m, e = arm(), 0.6
    run = art.simulate(
        m, 1.0, q0=[0.0, 0.0], v0=[0.5, 1.0], step=0.005, method="dormand_prince", rtol=1e-12, atol=1e-12,
        events=[Bounce("elbow", 0.3, 1, e)],
    )  # fmt: skip
    at = run.events[0].time
    k = int(np.searchsorted(run.t, at))
    before, after = (_to(m, run, k - 1, at), _to(m, run, k, at))
    (q, v0), (q1, v1) = before, after
    assert np.allclose(q, q1, atol=1e-9)
    assert v1[1] == pytest.approx(-e * v0[1], abs=1e-8)
    impulse = m.mass_matrix(q) @ (v1 - v0)
    assert impulse[0] == pytest.approx(0.0, abs=1e-8)
    about = run["momentum"][:, 1]
    assert np.allclose(about, about[0], atol=1e-9)


def _to(m: art.Mechanism, run: art.Run, k: int, t: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the state at t by scipy, from sample k before or after it."""
    nv = m.nv

    def rate(_: float, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[nv:], m.forward_dynamics(x[:nv], x[nv:], np.zeros(nv))])

    start = np.concatenate([run.q[k], run.v[k]])
    end = solve_ivp(rate, (run.t[k], t), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return end[:nv], end[nv:]


def test_lock_of_an_arm() -> None:
    """A free elbow locks: momentum about the shoulder stays, velocities and energy as the impact equations say.

    [M G'; G 0] (v+, impulse) = (M v-, 0), here G = (0, 1).
    """
    m = arm()
    m.constrain(art.Lock("latch", "elbow", (0.3,)))
    run = art.simulate(
        m, 1.0, q0=[0.0, 0.0], v0=[0.5, 1.0], step=0.005, method="dormand_prince", rtol=1e-12, atol=1e-12,
        events=[Switch(on("elbow"), "latch", name="click")],
    )  # fmt: skip
    assert np.array_equal(run.q[0], [0.0, 0.0])  # the latch does not hold at the start
    assert np.array_equal(run.v[0], [0.5, 1.0])
    at = run.events[0].time
    k = int(np.searchsorted(run.t, at))
    q, v = _to(arm(), run, k - 1, at)
    M, G = m.mass_matrix(q), np.array([[0.0, 1.0]])
    after = np.linalg.solve(np.block([[M, G.T], [G, np.zeros((1, 1))]]), np.append(M @ v, 0.0))[:2]
    assert np.allclose(run.v[k:], after, atol=1e-8)
    assert np.allclose(run.q[k:, 1], 0.3, atol=1e-10)
    momentum = run["momentum"][:, 1]
    assert np.allclose(momentum, momentum[0], atol=1e-9)
    lost = (v @ M @ v - after @ M @ after) / 2
    assert lost > 0.01
    assert run["energy.dissipated"][-1] == pytest.approx(lost, abs=1e-8)
    assert np.abs(run["energy.balance"]).max() < 1e-8


def test_release_of_an_arm() -> None:
    """A locked elbow is let go without an impulse: energy and momentum stay, the elbow starts to move."""
    m = arm()
    m.constrain(art.Lock("latch", "elbow", (-0.8,)))
    run = art.simulate(
        m, 1.0, q0=[0.0, -0.8], v0=[1.0, 0.0], step=0.005, method="dormand_prince", rtol=1e-12, atol=1e-12,
        events=[Switch(on("time"), "latch", active=False, name="open")],
    )  # fmt: skip
    held = run.t <= run.events[0].time
    assert run.events[0].time == pytest.approx(0.35, abs=1e-12)
    assert np.allclose(run.q[held, 1], -0.8, atol=1e-11)
    assert np.abs(run.q[-1, 1] + 0.8) > 0.1
    assert np.abs(run["energy.balance"]).max() < 1e-9
    assert np.abs(run["multipliers"][held]).max() > 0.1
    assert np.abs(run["multipliers"][~held]).max() == 0.0


def test_bounce_of_a_closed_loop() -> None:
    """The impulse of a stop within a loop leaves the loop closed: G v = 0 after it as before."""
    from closed_zoo import four_bar

    m = four_bar()
    run = art.simulate(
        m, 1.5, q0=[0.2, -0.2, 0.2], v0=[0.5, -0.5, 0.5], step=0.01, method="rk4",
        events=[Bounce("crank_pin", 0.6, 1, 0.7)],
    )  # fmt: skip
    assert run.events
    assert np.abs(run["constraint"]).max() < 1e-9
    assert run["q"][:, 0].max() < 0.6 + 1e-6


# refusals


def test_unknown_names() -> None:
    q = ca.SX.sym("velocity", 1)
    odd = ca.Function("f", [q], [q], ["velocity"], ["f"])
    cases = [
        (Bounce("hinge", 0.0), r"event 'bounce': no joint 'hinge'; valid names: z"),
        (Crossing(odd), r"event 'crossing': no signal 'velocity'; valid names: .*momentum, q, t"),
        (Switch(angle(0.0), "latch"), r"event 'switch': no constraint 'latch'; there are none"),
    ]
    for event, text in cases:
        with pytest.raises(InputError, match=text):
            art.simulate(ball(), 0.1, q0=[1.0], step=0.1, events=[event])


def test_bad_numbers() -> None:
    with pytest.raises(InputError, match=r"restitution 1\.2; expected 0 to 1"):
        Bounce("z", 0.0, restitution=1.2)
    with pytest.raises(InputError, match="side 2; expected 1 or -1"):
        Bounce("z", 0.0, side=2)


@pytest.mark.parametrize("bad", [lambda q: q[:0], lambda q: np.array([np.nan]), lambda q: 1.0])
def test_bad_actions(bad) -> None:
    event = Crossing(angle(0.5), action=lambda t, q, v: (bad(q), v), name="jump")
    with pytest.raises(InputError, match=r"event 'jump' at t = .*expected 1 finite numbers"):
        art.simulate(ball(), 1.0, q0=[1.0], step=0.1, events=[event])


def test_methods_that_look_back_or_keep_their_constraints() -> None:
    with pytest.raises(InputError, match="'ab4' looks back over steps; expected a one-step method"):
        art.simulate(ball(), 1.0, method="ab4", events=[Bounce("z", 0.0)])
    m = arm()
    m.constrain(art.Lock("latch", "elbow", (0.3,)))
    with pytest.raises(InputError, match=r"'hht' keeps its constraints; expected another.*'click'"):
        art.simulate(m, 1.0, method="hht", events=[Switch(on("elbow"), "latch", name="click")])


def test_a_crossing_of_something_else_than_a_function_is_refused_at_once():
    with pytest.raises(InputError, match=r"Crossing.function: found 3.0; expected the name of a signal"):
        Crossing(3.0)
