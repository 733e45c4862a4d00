"""Impulses of events in free flight: momentum is kept and no energy is made, for every form of loops and every method."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.dynamics.loops.forms import FORMS
from articulus.simulation.integrate import ALL_METHODS
from articulus.simulation.integrate.base import Integrator
from articulus.simulation.running.steppers import STEPPERS, stepper_of

STEP, END = 5e-3, 0.2
OUTPUTS = ("momentum", "energy")
EVENTS = (
    art.events.Latch("lock"),
    art.events.Switch("q.shoulder", "pin"),
    art.events.Capture("weld", distance=0.35, speed=5.0),
)
SWITCHING = tuple(form.name for form in FORMS if form.switches and not form.own)


def runs(method: Integrator) -> bool:
    """Whether a method can run a mechanism."""
    return any(kind in STEPPERS for kind in type(method).__mro__)


ONE_STEP = tuple(
    m.name for m in ALL_METHODS if runs(m) and stepper_of(m).switches and not getattr(m, "past", 0)
)


def craft(seed: int) -> tuple[art.Mechanism, np.ndarray, np.ndarray]:
    """Return two craft of random bodies that fly towards each other, the first with a panel to latch and an arm, and their start."""
    random = np.random.default_rng(seed)
    m = art.Mechanism("craft", gravity=(0, 0, 0))

    def body(name: str, mass: float) -> None:
        inertia = tuple(mass * (1 + 0.3 * random.random(3)))
        m.body(name, mass, tuple(random.uniform(-0.1, 0.1, 3)), inertia)

    body("hub", 30.0), body("panel", 3.0), body("arm", 4.0), body("target", 20.0)
    axis = random.normal(size=3)
    m.joint("base", art.Free(), "ground", "hub")
    m.joint("hinge", art.Revolute((0, 0, 1)), "hub", "panel", at=(0.5, 0, 0))
    m.joint("shoulder", art.Revolute(tuple(axis / np.linalg.norm(axis))), "hub", "arm", at=(0, 0.5, 0))
    m.joint("other", art.Free(), "ground", "target")
    m.frame("probe", "hub", (0, 0, 1.0)).frame("port", "target", (0, 0, -1.0)).frame(
        "hand", "arm", (0, 0.4, 0)
    )
    m.constrain(art.Lock("lock", "hinge", (0.0,)))
    m.constrain(art.Lock("pin", "shoulder", (0.0,)))
    m.constrain(art.mechanism.LoopJoint("weld", art.Fixed(), "probe", "port"))
    q = m.q(hinge=-0.05, shoulder=-0.05)
    q[m.q_slice("other")][-3:] = 0.05, -0.04, 2.5
    v = np.concatenate([random.uniform(-0.2, 0.2, 6), [1.5, 0.8], random.uniform(-0.2, 0.2, 6)])
    v[[5, 13]] = 0.6, -0.9
    return m, q, v


def check(run: art.Run, drift: float) -> None:
    """Momentum does not change by more than the drift of the method, relative to its size, and energy does not rise."""
    assert {event.name for event in run.events} == {event.name for event in EVENTS}
    momentum, energy = run["momentum"], run["energy"][:, :2].sum(axis=1)
    assert np.abs(momentum - momentum[0]).max() < drift * np.abs(momentum[0]).max()
    assert np.diff(energy).max() < drift * energy[0]
    assert energy[-1] < 0.5 * energy[0]  # the impacts are plastic


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("form", SWITCHING)
def test_every_form_keeps_momentum_at_events(form: str) -> None:
    m, q, v = craft(SWITCHING.index(form))
    check(art.simulate(m, END, q, v, step=STEP, events=EVENTS, loops=form, outputs=OUTPUTS), 1e-9)


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("method", ONE_STEP)
def test_every_method_keeps_momentum_at_events(method: str) -> None:
    """Between the events methods of first order drift by the square of the step times the turning, the others by tolerances."""
    m, q, v = craft(7)
    drift = 1e-4 if "euler" in method else 1e-7
    check(art.simulate(m, END, q, v, step=STEP, events=EVENTS, method=method, outputs=OUTPUTS), drift)
