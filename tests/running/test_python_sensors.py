"""Python controllers that read sensors and have a state of their own: the same runs as compiled controllers."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError
from articulus.simulation.loop import PythonController
from articulus.simulation.loop.components import PD, Expression, JointSensor, Measured

SENSOR = Measured(JointSensor(name="encoder"), period=0.02, delay=1, noise=0.01)
INPUTS = ("encoder.q", "encoder.v")


def slider() -> art.Mechanism:
    m = art.Mechanism("slider", gravity=(0, 0, 0))
    m.body("block", 1.0, (0, 0, 0), (1, 1, 1))
    m.joint("x", art.Prismatic((1, 0, 0)), "ground", "block")
    return m


def compiled() -> Expression:
    q, v = ca.SX.sym("q"), ca.SX.sym("v")
    return Expression(ca.Function("law", [q, v], [-4 * q - 2 * v]), inputs=INPUTS, period=0.04)


def test_sampled_delayed_and_noisy_signals_are_those_of_compiled_controllers() -> None:
    """Bit by bit, single and in a batch: each run has its own noise."""
    python = PythonController(lambda q, v: -4 * q - 2 * v, 0.04, inputs=INPUTS)
    given = {"step": 0.01, "sample": 0.01, "components": [SENSOR], "seed": 3}
    one, two = (art.simulate(slider(), 1.0, q0=[1.0], controller=c, **given) for c in (compiled(), python))
    assert np.array_equal(one.q, two.q)
    assert np.array_equal(one["u"], two["u"])
    start = np.array([[1.0], [0.5]])
    one, two = (art.rollout(slider(), 1.0, q0=start, controller=c, **given) for c in (compiled(), python))
    assert np.array_equal(one.q, two.q)


class Integrating:
    """u = -(q + integral of q), with what it was told at the start of the run."""

    def __init__(self) -> None:
        self.total, self.seeds, self.resets = 0.0, [], 0

    def reset(self) -> None:
        self.total, self.resets = 0.0, self.resets + 1

    def seed(self, number: int) -> None:
        self.seeds.append(number)

    def __call__(self, t: float, q: np.ndarray) -> np.ndarray:
        self.total = self.total + 0.01 * q
        return -q - self.total


def integrating():
    _, q = yield
    total = 0.0
    while True:
        total = total + 0.01 * q
        _, q = yield -q - total


def test_objects_classes_and_generators_begin_anew_in_every_run() -> None:
    mine = Integrating()
    laws = [PythonController(f, inputs=("t", "q")) for f in (mine, Integrating, integrating)]
    given = {"q0": [1.0], "step": 0.01, "seed": 7}
    runs = [art.simulate(slider(), 0.5, controller=law, **given) for law in laws for _ in range(2)]
    assert all(np.array_equal(runs[0].q, run.q) for run in runs)
    assert np.abs(runs[0].q - 1).max() > 0.1
    assert (mine.resets, mine.seeds) == (2, [7, 7])


def test_refusals(tmp_path) -> None:
    with pytest.raises(InputError, match=r"controller 'python': no signal 'encoder\.p'"):
        art.simulate(slider(), 0.1, controller=PythonController(lambda p: p, inputs="encoder.p"))
    law = PythonController(integrating, inputs=("t", "q"))
    with pytest.raises(InputError, match=r"has an internal state, which a checkpoint cannot store"):
        art.simulate(slider(), 0.1, controller=law, checkpoint=tmp_path / "c")
    with pytest.raises(InputError, match="expected a component"):
        art.simulate(slider(), 0.1, controller=PD)

    def short():
        yield
        yield np.zeros(1)

    with pytest.raises(InputError, match=r"the generator has ended; expected a `yield` for every call"):
        art.simulate(slider(), 0.1, controller=short, step=0.01)
