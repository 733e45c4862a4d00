"""Regulators from the linear model of a two-link arm, on the nonlinear arm."""

import numpy as np

import articulus as art
from articulus.control import place
from articulus.control.synthesis import decoupling_pd

GRAVITY = (0.0, 0.0, -9.80665)
LARGE = 1.0
"""Large deviation of both angles [rad]; the small one is 0.05 rad."""


def arm() -> art.Mechanism:
    """Return two links of 2 m that hang along -z and turn about y; 10 kg and 20 kg m^2 about the middle each."""
    m = art.Mechanism("two_links", gravity=GRAVITY)
    for name, parent, at in (("upper", "ground", (0, 0, 0)), ("lower", "upper", (0, 0, -2.0))):
        m.body(name, mass=10.0, com=(0, 0, -1.0), inertia=(20.0, 20.0, 20.0))
        m.joint(f"{name}_joint", art.Revolute(axis=(0, 1, 0)), parent=parent, child=name, at=at)
    return m


def compute() -> dict:
    m = arm()
    model = m.linearize()
    order = [1, 0]  # the source counts from the outer joint
    A21, B2 = model.A[2:, :2][np.ix_(order, order)], model.B[2:][np.ix_(order, order)]
    pd = decoupling_pd(model, 2.0, 0.7)
    placed = place(model, [-2 + 1j, -2 - 1j, -3 + 1j, -3 - 1j])
    out = {
        "A21, first row (outer joint) [1/s^2]": A21[0],
        "A21, second row [1/s^2]": A21[1],
        "B2, torque of the opposite sign, first row [1/(kg m^2)]": -B2[0],
        "B2, torque of the opposite sign, second row [1/(kg m^2)]": -B2[1],
        "frequencies [rad/s]": np.sort(np.sqrt(-np.linalg.eigvals(A21).real)),
        "decoupling PD: K_P, outer joint first [N m/rad]": pd.kp[np.ix_(order, order)].ravel(),
        "decoupling PD: K_V, outer joint first [N m s/rad]": pd.kd[np.ix_(order, order)].ravel(),
        "decoupling PD: real part of all poles [1/s]": pd.poles.real,
        "decoupling PD: size of the imaginary part [rad/s]": np.abs(pd.poles.imag),
    }
    for name, design in (("decoupling PD", pd), ("placed poles", placed)):
        for size in (0.05, LARGE):
            run = art.simulate(m, 10.0, q0=[size, size], components=[design.component()], step=5e-3)
            out[
                f"{name}: nonlinear arm from {size:g} rad, largest angle after 10 s is below 1e-5 rad (1 = yes)"
            ] = bool(np.abs(run.q[-1]).max() < 1e-5)
    return out
