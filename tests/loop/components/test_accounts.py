"""Energy accounts of components: what they hold, lose and take in, against closed forms and the balance of a run."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components import Backlash, GroundContact, JointStop
from articulus.simulation.loop.events import Crossing
from articulus.simulation.results.diagnostics import energy_error

from .support import Loop, slider

MASS, K, C = 2.0, 800.0, 8.0


@dataclass(frozen=True)
class Spring(Disturbance):
    """k x and c v on the slider; `held` scales the stored energy, `push` is a force from outside."""

    held: float = 1.0
    push: float = 0.0
    name: str = "spring"
    period: float | None = None

    type_name = "test_spring"

    def work(self, s: Scope) -> None:
        x, v = s.joint_q("lift"), s.joint_v("lift")
        s.force("lift", -K * x - C * v + self.push)
        s.stores(self.held * K * x**2 / 2)
        s.dissipates(C * v**2)
        if self.push:
            s.supplies(self.push * v)


def damped(t: np.ndarray, x0: float) -> np.ndarray:
    """Return the position of the damped oscillator let go at x0."""
    decay, w0 = C / (2 * MASS), np.sqrt(K / MASS)
    w = np.sqrt(w0**2 - decay**2)
    return x0 * np.exp(-decay * t) * (np.cos(w * t) + decay / w * np.sin(w * t))


@pytest.mark.parametrize("method", ["rk4", "dormand_prince", "rosenbrock"])
def test_a_spring_and_damper_hold_and_lose_energy(method: str) -> None:
    run = art.simulate(slider(MASS), 1.0, q0=[0.1], components=[Spring()], method=method, step=1e-3)
    x = damped(run.t, 0.1)
    # rk4 errs by (w h)^4 / 120 per radian: 7e-9 of 20 radians
    np.testing.assert_allclose(run.q[:, 0], x, atol=2e-7)
    np.testing.assert_allclose(run["energy.potential"], K * x**2 / 2, atol=1e-5)
    assert not run["energy.input"].any()
    assert np.diff(run["energy.dissipated"]).min() >= -1e-12  # rounding
    assert energy_error(run)[0] < 1e-5 < 3.9 < run["energy.dissipated"][-1] < 4.0  # of 4 J, exp(-4) is left


def test_power_from_outside_is_input() -> None:
    """A force f lets the spring settle at f/k: f^2/k goes in, half of it is held."""
    run = art.simulate(slider(MASS), 5.0, components=[Spring(push=40.0)], step=1e-3)
    assert run["energy.input"][-1] == pytest.approx(2.0, rel=1e-4)  # exp(-10) of the amplitude is left
    assert run["energy.potential"][-1] == pytest.approx(1.0, rel=1e-3)
    assert run["energy.dissipated"][-1] == pytest.approx(1.0, rel=1e-3)
    assert energy_error(run)[0] < 1e-5


def test_a_wrong_account_makes_a_run_doubtful() -> None:
    with pytest.warns(art.errors.DoubtfulResult, match="energy balance"):
        run = art.simulate(slider(MASS), 1.0, q0=[0.1], components=[Spring(held=1.1)], step=1e-3)
    assert not run.ok


def test_a_batch_gives_the_single_run() -> None:
    given = {"components": [Spring()], "step": 1e-3, "outputs": ["energy"], "sample": 0.1}
    single = art.simulate(slider(MASS), 0.2, q0=[0.1], **given)
    batch = art.rollout(slider(MASS), 0.2, q0=[[0.1], [0.2]], **given)
    np.testing.assert_allclose(batch["energy"][0], single["energy"], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(batch["energy"][1], 4 * single["energy"], rtol=1e-9, atol=1e-9)  # linear


def test_an_event_that_moves_the_spring_does_its_work() -> None:
    t = ca.SX.sym("t")
    pull = Crossing(
        ca.Function("f", [t], [t - 0.555], ["t"], ["f"]), action=lambda t, q, v: (q + 0.1, v), name="pull"
    )
    run = art.simulate(slider(MASS), 1.0, components=[Spring()], step=0.01, events=[pull])
    np.testing.assert_allclose(run["energy.input"], np.where(run.t > 0.555, K * 0.1**2 / 2, 0.0), atol=1e-12)
    assert run.ok


@pytest.mark.parametrize(
    "part",
    [
        JointStop("lift", stiffness=2e4, damping=30.0, lower=0.0, upper=3.0),
        Backlash("lift", gap=3.0, stiffness=2e4, damping=30.0, center=1.5),
        GroundContact("carriage", stiffness=1e5, dissipation=0.3),
    ],
    ids=lambda c: c.type_name,
)
def test_stop_and_contact_take_no_energy_from_outside(part: Disturbance) -> None:
    """A mass that falls onto them bounces until its weight rests: m g h is lost, but for what the spring holds."""
    run = art.simulate(
        slider(MASS, gravity=-10.0), 4.0, q0=[0.5], components=[part], step=0.01, method="rosenbrock"
    )
    assert not run["energy.input"].any()
    assert np.diff(run["energy.dissipated"]).min() >= -1e-9
    assert energy_error(run)[0] < 1e-5  # of 10 J
    lost = run["energy.dissipated"][-1] + run["energy.kinetic"][-1] + run["energy.potential"][-1]
    assert lost == pytest.approx(10.0, abs=1e-5)


def test_sampled_components_keep_no_account() -> None:
    with pytest.raises(art.InputError, match=r"'spring'.*s\.stores.*sampled component"):
        Loop(slider(), Spring(period=0.01))


def test_an_account_is_of_single_numbers() -> None:
    class Wide(Spring):
        def work(self, s: Scope) -> None:
            s.stores(ca.SX.zeros(2))

    with pytest.raises(art.InputError, match=r"'spring'.*`s\.stores`: found 2 elements; expected one number"):
        Loop(slider(), Wide())
