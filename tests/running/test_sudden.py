"""What happens suddenly is not stepped over by methods that choose their steps: meetings, and jumps of laws of time."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError
from articulus.simulation.loop import contact
from articulus.simulation.loop.bends import Bends

METHODS = ("dormand_prince", "rosenbrock", "cvodes", "idas")
STEPS = [0.01, 0.5, 1.0]
X = art.Prismatic((1, 0, 0))
c = art.components


def row(*places: float) -> art.Mechanism:
    """Return bodies of 1 kg on a line."""
    m = art.Mechanism("row", gravity=(0, 0, 0))
    for i, x in enumerate(places):
        m.body(f"b{i}", 1.0, inertia=(1e-3,) * 3).joint(f"x{i}", X, "ground", f"b{i}", at=(x, 0, 0))
    return m


def balls(*names: str) -> list[contact.Shape]:
    return [contact.Sphere(name, 0.02) for name in names]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("method", METHODS)
def test_balls_do_not_pass_through_each_other(method: str, step: float) -> None:
    """Equal balls without loss exchange their speeds, to the tolerance of the method through a hard impact."""
    touch = c.Contact(*balls("b0", "b1"), stiffness=1e7)
    run = art.simulate(row(-1, 1), 1.0, v0=[5.0, -5.0], components=[touch], method=method, step=step)
    assert np.allclose(run.v[-1], [-5.0, 5.0], rtol=0, atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_a_row_of_balls_passes_the_blow_on(method: str) -> None:
    """Newton's cradle with gaps: each ball stops the one before; three meetings in one step of the samples."""
    many = c.Contacts(balls("b0", "b1", "b2", "b3"), stiffness=1e7)
    run = art.simulate(
        row(0.0, 1.0, 1.7, 2.5), 1.0, v0=[6.0, 0, 0, 0], components=[many], method=method, step=1.0
    )
    assert np.allclose(run.v[-1], [0, 0, 0, 6.0], rtol=0, atol=1e-3)


def test_a_ball_that_falls_bounces() -> None:
    """It hits after sqrt(2 m / g); half that time later it is where it was half that time before, but for the touch of 1.4 ms."""
    m = art.Mechanism("ball").body("b", 1.0, inertia=(1e-3,) * 3)
    m.joint("z", art.Prismatic((0, 0, 1)), "ground", "b", at=(0, 0, 1.02))
    ground = c.Contact(contact.Sphere("b", 0.02), contact.Plane("ground"), stiffness=1e8)
    t = 1.5 * np.sqrt(2 / 9.81)
    for method in METHODS[:3]:
        run = art.simulate(m, t, components=[ground], method=method, step=t)
        assert run.q[-1, 0] == pytest.approx(-0.25, abs=5e-3)


@pytest.mark.parametrize("method", METHODS[:3])
@pytest.mark.parametrize(
    "stop",
    [
        c.JointStop("x0", stiffness=1e6, upper=1.5),
        c.Backlash("x0", gap=3.0, stiffness=1e6),
        c.Cable(("ground", "b0"), length=1.5, stiffness=1.5e6),
        c.SpringDamper("ground", "b0", stiffness=1e6, length=1.5, side="tension"),
    ],
    ids=lambda stop: stop.type_name,
)
def test_stops_and_cables_send_back(stop: art.components.Component, method: str) -> None:
    """At 1.5 m the speed is turned round, whatever the distance of the samples; the touch takes pi sqrt(m / k) = 3.1 ms."""
    run = art.simulate(row(0.0), 1.0, [0.5], [2.0], components=[stop], method=method, step=1.0)
    assert run.v[-1, 0] == pytest.approx(-2.0, abs=1e-5)
    assert run.q[-1, 0] == pytest.approx(0.5 + np.pi * 2e-3, abs=1e-5)


def pulse(begin: float, length: float) -> tuple[ca.SX, ca.SX]:
    t = ca.SX.sym("t")
    return t, ca.if_else(ca.logic_and(t >= begin, t < begin + length), 1 / length, 0)


@pytest.mark.parametrize("step", [0.1, 1.0])
@pytest.mark.parametrize("method", METHODS)
def test_a_pulse_is_not_stepped_over(method: str, step: float) -> None:
    """1 N s within 1 ms at an odd time gives 1 kg the speed 1 m/s."""
    t, u = pulse(0.54321, 1e-3)
    for law in (u, ca.if_else(ca.fabs(t - 0.5) < 5e-4, 1000, 0)):
        run = art.simulate(
            row(0.0), 1.0, controller=ca.Function("law", [t], [law], ["t"], ["u"]), method=method, step=step
        )
        assert run.v[-1, 0] == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize("method", METHODS[:2])
def test_pulses_of_other_components(method: str) -> None:
    t, u = pulse(0.54321, 1e-3)
    push = c.PrescribedForce("x0", ca.Function("law", [t], [u]))
    run = art.simulate(row(0.0), 1.0, components=[push], method=method, step=1.0)
    assert run.v[-1, 0] == pytest.approx(1.0, abs=1e-7)


def test_bends_of_functions_of_time() -> None:
    """Every kind of operation that jumps or bends, one inside another, and what rests on other inputs is left out."""
    t, x = ca.SX.sym("t"), ca.SX.sym("x")
    shown = (
        ca.if_else(ca.fabs(t - 0.7) < 0.01, 1, 0)
        + ca.sign(ca.cos(5 * t))
        + ca.floor(t / 0.4)
        + ca.fmax(t**2, 0.25)
        + ca.fabs(x - t)
    )
    bends = Bends(ca.Function("f", [x, t], [shown]), 1)
    found = bends.between(0.0, 1.0)
    assert np.allclose(found, [np.pi / 10, 0.4, 0.5, 0.69, 0.7, 0.71, 0.8, 0.3 * np.pi], rtol=0, atol=1e-12)
    far = Bends(ca.Function("f", [t], [ca.if_else(ca.fabs(t - 12.3) < 1e-6, 1, 0)]), 0)
    assert np.allclose(far.between(0.0, 1e6), [12.3 - 1e-6, 12.3, 12.3 + 1e-6], rtol=0, atol=1e-14)


@pytest.mark.parametrize("method", METHODS[:3])
def test_longest_step(method: str) -> None:
    """A feedback that acts within 20 mm of the way is seen with steps of 1 ms; `max_step` is for methods that choose."""
    x = ca.SX.sym("q")
    law = ca.Function("law", [x], [ca.if_else(ca.fabs(x - 1.23456) < 0.01, -50.0, 0)], ["q"], ["u"])
    given = {"controller": law, "method": method, "step": 1.0}
    run = art.simulate(row(0.0), 1.0, [0.0], [2.0], max_step=1e-3, **given)
    assert run.v[-1, 0] == pytest.approx(np.sqrt(4 - 2 * 50 * 0.02), abs=1e-5)
    assert run.meta["settings"]["max_step"] == 1e-3
    many = art.rollout(row(0.0), 1.0, [[0.0]] * 2, [2.0], max_step=1e-3, **given)
    assert np.array_equal(many.v[1, -1], run.v[-1])


def test_longest_step_is_refused_where_it_means_nothing() -> None:
    with pytest.raises(InputError, match=r"max_step: found 0\.1 s with method 'rk4'"):
        art.simulate(row(0.0), 1.0, max_step=0.1)
    with pytest.raises(InputError, match="max_step: found -1"):
        art.simulate(row(0.0), 1.0, max_step=-1, method="dormand_prince")
