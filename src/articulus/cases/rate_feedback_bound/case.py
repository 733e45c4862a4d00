"""The bound by formula, by the Riccati equation of the filter, by static feedback and by nearly free control."""

import dataclasses

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from articulus.control import lqr
from articulus.control.riccati import riccati
from articulus.control.synthesis import rate_feedback
from articulus.linear import LinearModel
from articulus.numerics.gramians import gramian_root
from articulus.structure import Structure, beam

SENSOR, ACTUATOR, ELEMENTS = 0.002, 0.03, 6
OFFSET = np.array([0.0, 0.4, 0.3])
"""Center of the body from the tip, across the beam [m]."""


def cantilever() -> Structure:
    """Return the beam with a force and the rate at its tip; it does not stretch."""
    s = beam(
        3.0, EI=2.0, mass_per_length=0.5, elements=ELEMENTS, planes="y", tip_mass=4.0, tip_inertia=(0, 0, 0.7)
    )
    s = s.fix({f"node{k}": "x" for k in range(1, ELEMENTS + 1)})
    tip = f"node{ELEMENTS}"
    for name, component in (("force", "y"), ("moment", "rz")):
        s = s.with_input(name, tip, {component: 1.0}).with_output(
            f"{name} rate", tip, {component: 1.0}, rate=True
        )
    return s


def offset_body() -> Structure:
    """Return a beam that bends in two planes and twists, with the body of mass 4 kg beside its tip, and the five forces and rates there."""
    s = beam(3.0, EI=(3.0, 2.0), GJ=1.5, mass_per_length=0.5, rotary_inertia=0.01, elements=ELEMENTS)
    s = s.fix({f"node{k}": "x" for k in range(1, ELEMENTS + 1)})
    tip = f"node{ELEMENTS}"
    for component in ("y", "z", "rx", "ry", "rz"):
        s = s.with_input(f"force {component}", tip, {component: 1.0})
        s = s.with_output(f"rate {component}", tip, {component: 1.0}, rate=True)
    motion = s.B.T  # of the tip
    turns = motion[2:]
    away = np.cross(np.eye(3), OFFSET).T  # velocity of the body's center by turning
    speed = np.vstack([np.zeros_like(motion[:1]), motion[:2]]) + away @ turns
    mass = 4.0 * speed.T @ speed + turns.T @ np.diag([0.9, 0.7, 0.6]) @ turns
    return dataclasses.replace(s, M=sp.csr_array(s.M + mass))


def compute() -> dict:
    return tip_in_a_plane() | beside_the_tip()


def beside_the_tip() -> dict:
    """Return the least sum of u_y^2 + u_z^2 + |r|^2 turn^2."""
    s = offset_body()
    rows = s.B.T[:3] * np.array([1.0, 1.0, np.linalg.norm(OFFSET)])[:, None]
    design = rate_feedback(s, sensor_noise=SENSOR, actuator_noise=ACTUATOR, outputs=rows)
    m = design.plant
    seen = np.hstack([rows, np.zeros_like(rows)])
    P = riccati(m.A.T, m.C.T, ACTUATOR * m.B @ m.B.T, SENSOR * np.eye(5), period=None, method="filter").X
    closed = m.A - design.gain * m.B @ m.C
    noise = (ACTUATOR + design.gain**2 * SENSOR) * m.B @ m.B.T
    static = scipy.linalg.solve_continuous_lyapunov(closed, -noise)
    return {
        "body beside the tip, two planes and torsion: formula [m^2]": design.bound.sum(),
        "body beside the tip: least mean square by the filter's Riccati equation [m^2]": np.trace(
            seen @ P @ seen.T
        ),
        "body beside the tip: static rate feedback [m^2]": np.trace(seen @ static @ seen.T),
    }


def tip_in_a_plane() -> dict:
    s = cantilever()
    design = rate_feedback(s, sensor_noise=SENSOR, actuator_noise=ACTUATOR)
    m, n = design.plant, s.count
    tip = np.concatenate([s.B[:, 0], np.zeros(n)])
    P = riccati(m.A.T, m.C.T, ACTUATOR * m.B @ m.B.T, SENSOR * np.eye(2), period=None, method="filter").X
    closed = m.A - design.gain * m.B @ m.C
    static = scipy.linalg.solve_continuous_lyapunov(
        closed, -(ACTUATOR + design.gain**2 * SENSOR) * m.B @ m.B.T
    )
    return {
        "least mean square of the tip by the filter's Riccati equation [m^2]": tip @ P @ tip,
        "static rate feedback: its mean square [m^2]": tip @ static @ tip,
        "formula: its value [m^2]": design.bound[0],
        "cheap LQG with weights 1e-1, 1e-3, 1e-5, 1e-7 [m^2]": [
            cheap(m, P, tip, r) for r in (1e-1, 1e-3, 1e-5, 1e-7)
        ],
        "least mean square of the rate [m^2/s^2]": design.rate_bound[0],
    }


def cheap(m: LinearModel, P: np.ndarray, tip: np.ndarray, weight: float) -> float:
    """Return the mean square under the filter and a regulator whose commands cost little: that of the filter and of the estimate."""
    K = lqr(m, np.outer(tip, tip), weight).gain
    L = P @ m.C.T / SENSOR
    root = gramian_root(
        m.A - m.B @ K, np.sqrt(SENSOR) * L
    )  # modes that the tip hardly shows are hardly damped
    return float(tip @ P @ tip + np.sum((tip @ root) ** 2))
