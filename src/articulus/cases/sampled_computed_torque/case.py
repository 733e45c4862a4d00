"""Computed torque with kp = 100, kd = 20 on a rigid link, held between instants: 10 Hz is the boundary of stability."""

import dataclasses

import numpy as np

import articulus as art
from articulus.simulation.loop.components import ComputedTorque
from articulus.simulation.running import simulate

KP, KV = 100.0, 20.0  # 1/s^2, 1/s


def compute() -> dict:
    link, arm = single_link(), art.load("two_link")
    return {
        "one link: eigenvalues of a period of 0.1 s [-]": np.sort(np.linalg.eigvals(map_of(link, 0.1)).real),
        "one link: spectral radius at 10.5 Hz below 1, at 9.5 Hz above (1 = yes)": float(
            radius(link, 1 / 10.5) < 1 < radius(link, 1 / 9.5)
        ),
        "one link: spectral radius at 20, 50, 100 Hz [-]": [radius(link, 1 / f) for f in (20.0, 50.0, 100.0)],
        "two links without gravity: growth of a small error a period at 10 Hz [-]": growth(arm, 0.1),
        "two links: a small error falls at 20 Hz, grows at 8 Hz (1 = yes)": float(
            after(arm, 1 / 20) < 0.1 and after(arm, 1 / 8) > 2
        ),
    }


def single_link() -> art.Mechanism:
    """Return a link of 1 m and 1 kg with a payload of 2 kg at its end, as one rigid body, in the horizontal plane."""
    link = art.Mechanism("link", gravity=(0, 0, 0))
    link.body("link", mass=3.0, com=(5 / 6, 0, 0), inertia=(0.01, 0.25, 0.25))
    link.joint("shoulder", art.Revolute(axis=(0, 0, 1)), parent="ground", child="link")
    return link


def map_of(arm: art.Mechanism, period: float, size: float = 1e-6) -> np.ndarray:
    """Return the linear map of (q, v) over one period, from small deviations about rest at zero."""
    n = arm.nv
    columns = []
    for e in size * np.eye(2 * n):
        run = simulate(arm, period, q0=e[:n], v0=e[n:], controller=law(period), step=period / 4)
        columns.append(np.concatenate([run.q[-1], run.v[-1]]) / size)
    return np.column_stack(columns)


def law(period: float) -> ComputedTorque:
    return ComputedTorque(KP, KV, period=period)


def radius(arm: art.Mechanism, period: float) -> float:
    return float(np.abs(np.linalg.eigvals(map_of(arm, period))).max())


def growth(arm: art.Mechanism, period: float) -> float:
    """Return the spectral radius of an arm, its gravity taken away."""
    weightless = dataclasses.replace(arm.description, gravity=(0.0, 0.0, 0.0))
    return radius(art.Mechanism.from_description(weightless), period)


def after(arm: art.Mechanism, period: float) -> float:
    """Return the error after 10 periods over that at the start, 0.001 rad in both joints."""
    run = simulate(arm, 10 * period, q0=np.full(arm.nv, 1e-3), controller=law(period), step=period / 20)
    return float(np.abs(run.q[-1]).max() / 1e-3)
