"""The bound by formula, by the Riccati equation of the filter, by static feedback and by nearly free control."""

import numpy as np
import scipy.linalg

from articulus.control import lqr
from articulus.control.riccati import riccati
from articulus.control.synthesis import rate_feedback
from articulus.linear import LinearModel
from articulus.numerics.gramians import gramian_root
from articulus.structure import Structure, beam

SENSOR, ACTUATOR, ELEMENTS = 0.002, 0.03, 6


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


def compute() -> dict:
    s = cantilever()
    design = rate_feedback(s, SENSOR, ACTUATOR)
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
