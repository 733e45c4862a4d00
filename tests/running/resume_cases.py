"""Runs that remember something between steps: slopes, held values, noise, steps of adaptive methods, rows that failed."""

from __future__ import annotations

import numpy as np

import articulus as art
from articulus.simulation.loop.components import PD, FirstOrderActuator, JointSensor, Measured, WhiteNoise
from articulus.simulation.loop.events import Bounce


def pendulum() -> art.Mechanism:
    m = art.Mechanism("pendulum")
    m.body("bob", 1.0, (0, 0, -1), (0.1, 0.1, 0.1))
    m.joint("hinge", art.Revolute((0, 1, 0)), "ground", "bob", damping=0.1)
    return m


def slopes(**keep) -> art.Run:
    """Adams-Bashforth with noise on a sampled measurement; noise on a force is in `batch`."""
    return art.simulate(
        pendulum(), 8.0, q0=[1.0], method="ab4", step=0.01, seed=3,
        controller=PD(5.0, 0.5, period=0.04, measured=("joints.q", "joints.v")),
        components=[Measured(JointSensor(), period=0.02, delay=2, noise=0.1)], **keep,
    )  # fmt: skip


def adaptive(**keep) -> art.Run:
    """Dormand-Prince, which remembers its step, with impacts and a Python controller."""
    return art.simulate(
        pendulum(), 6.0, q0=[1.0], method="dormand_prince", step=0.02, sample=0.06, events=[Bounce("hinge", -0.5, -1, 0.9)],
        controller=art.PythonController(lambda t, q, v: np.sin(3 * t) - 0.2 * v, 0.1), **keep,
    )  # fmt: skip


def implicit(**keep) -> art.Run:
    """Generalized-alpha, which remembers accelerations."""
    return art.simulate(pendulum(), 6.0, q0=[1.0], method="generalized_alpha", step=0.02, **keep)


def batch(**keep) -> art.Run:
    """A rollout with an actuator's state, few samples, and one row whose gain is too large for the step."""
    gain = art.Parameter("gain", 1.0)
    return art.rollout(
        pendulum(), 8.0, q0=np.linspace(-1, 1, 4)[:, None], method="rk4", step=0.01, sample=2.0, seed=5, outputs=("u", "energy"),
        controller=PD(gain, 0.5), components=[FirstOrderActuator("hinge", 50.0, name="drive"), WhiteNoise(0.01, joint="hinge")],
        params={"gain": [1.0, 5.0, 1e12, 20.0]}, **keep,
    )  # fmt: skip


CASES = {f.__name__: f for f in (slopes, adaptive, implicit, batch)}
