"""Parameters and gains of a loop chosen by runs: against what can be computed by hand, and against a search without derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import articulus as art
from articulus.design import AtMost, CoDesign, optimize
from articulus.errors import DoubtfulResult, InputError
from articulus.simulation.gradients import Largest, Rms
from articulus.simulation.loop.components import PD

RUN = {"step": 0.002, "sample": 0.01}


@pytest.fixture(scope="module")
def loop():
    m = art.Mechanism("crane arm")
    m.body("boom", mass=art.Parameter("boom", 40.0), com=(1.0, 0, 0), inertia=(2.0, 15.0, 15.0))
    m.joint("lift", art.Revolute(axis=(0, -1, 0)), "ground", "boom", damping=5.0)
    m.body("load", mass=art.Parameter("payload", 10.0), com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    m.joint("hook", art.Revolute(axis=(0, -1, 0)), "boom", "load", at=(2.0, 0, 0), damping=0.5)
    pd = PD(
        kp=art.Parameter("kp", 4000.0),
        kd=art.Parameter("kd", 900.0),
        target=0.3,
        joints=("lift",),
        period=0.01,
    )
    return art.Loop(m, pd)


def test_best_gain_is_that_of_a_search_without_derivatives(loop):
    figure = Rms("q.hook")
    best = optimize(loop, {"kd": (200.0, 5000.0)}, figure, t_end=1.0, **RUN)
    assert best.ok

    def value(kd):
        return loop.gradient(figure, 1.0, by=["kd"], params={"kd": kd}, **RUN).value

    alone = minimize_scalar(value, bounds=(200.0, 5000.0), method="bounded", options={"xatol": 1e-3})
    assert best.objective <= alone.fun * (1 + 1e-6)


def test_lighter_arm_under_a_limit_that_holds_it(loop):
    sag = AtMost("peak", Largest("tau.lift"), 900.0)
    best = optimize(
        loop,
        {"boom": (5.0, 60.0), "kp": (1e3, 1e4)},
        lambda s: s.p["boom"] + 1e-3 * s.p["kp"],
        [sag],
        t_end=0.5,
        **RUN,
    )
    assert best.point.excess < 1e-5
    assert best.objective < 40.0 + 4.0


def test_limits_hold_in_every_sample(loop):
    samples = [{"payload": 5.0}, {"payload": 20.0}]
    far = loop.gradient(Rms("q.hook"), 0.5, by=["kp"], params={"payload": 20.0}, **RUN).value
    problem = CoDesign(
        loop, {"kp": (500.0, 2e4)}, lambda s: -1e-3 * s.p["kp"], (AtMost("sway", Rms("q.hook"), float(far)),), 0.5,
        samples=tuple(samples), settings=RUN,
    )  # fmt: skip
    best = problem.minimize()
    assert best.point.excess < 1e-5
    assert len(best.program.limits) == 2
    front = problem.sweep("sway", [far, 1.05 * far])
    assert front[1].objective <= front[0].objective + 1e-9


def test_limits_that_cannot_be_kept_are_named(loop):
    with pytest.warns(DoubtfulResult, match="nearest breaks 'sway'"):
        optimize(
            loop, {"kp": (3000.0, 5000.0)}, "q.hook", [AtMost("sway", Rms("q.hook"), 1e-6)], t_end=0.2, **RUN
        )


def test_bad_input_is_named(loop):
    with pytest.raises(InputError, match="did you mean 'kp'"):
        optimize(loop, {"kpp": (1.0, 2.0)}, "q.hook", t_end=1.0)
    with pytest.raises(InputError, match="no end of the runs"):
        optimize(loop, {"kp": (1.0, 2.0)}, "q.hook")
    with pytest.raises(InputError, match="expected the lower one first"):
        optimize(loop, {"kp": (2.0, 1.0)}, "q.hook", t_end=1.0)
    with pytest.raises(InputError, match="a variable and in a sample"):
        optimize(loop, {"kp": (1.0, 2.0)}, "q.hook", t_end=1.0, samples=[{"kp": 1.0}])
    with pytest.raises(InputError, match="not zero"):
        AtMost("sway", "q.hook", 0.0)
    with pytest.raises(InputError, match="expected a Loop or a Study"):
        optimize(np.zeros(3), {"kp": (1.0, 2.0)}, "q.hook", t_end=1.0)


def test_a_study_brings_its_run_and_its_values():
    from articulus.study.reader import parse_study

    text = """
schema = 1
[study]
name = "arm"
model = "two_link"
[parameters]
stiffness = 900.0
[initial.q]
joint1 = "10 deg"
[[component]]
type = "pd"
name = "servo"
kp = {parameter = "stiffness"}
kd = "100 N m s/rad"
target = [0.2, 0.1]
[run]
t_end = "0.5 s"
step = "5 ms"
sample = "10 ms"
"""
    best = optimize(parse_study(text), {"stiffness": (200.0, 3000.0)}, Rms(lambda s: s["q"][0] - 0.2))
    assert best.start == pytest.approx([900.0])
    assert best.x[0] != pytest.approx(900.0, rel=1e-3)


def test_sweep_of_a_parameter_is_a_design_for_each_value(loop):
    problem = CoDesign(loop, {"kd": (200.0, 5000.0)}, Rms("q.hook"), (), 0.5, settings=RUN)
    swept = problem.sweep("payload", [5.0, 20.0])
    alone = optimize(
        loop, {"kd": (200.0, 5000.0)}, Rms("q.hook"), t_end=0.5, samples=[{"payload": 20.0}], **RUN
    )
    assert swept[1].objective == pytest.approx(alone.objective, rel=1e-5)
    with pytest.raises(InputError, match="did you mean 'payload'"):
        problem.sweep("paylod", [1.0])
