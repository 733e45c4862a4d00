"""Two carts joined by a spring: a force on the first, the place of the second measured, masses and stiffness uncertain."""

from typing import Any

import numpy as np
from scipy.optimize import brentq

import articulus as art
from articulus import control
from articulus.control.plant import of_matrices
from articulus.linear import LinearModel

GAIN, FAST = 100.0, 1000.0
"""Of the controller C(s) = GAIN ((s + 1) / (s / FAST + 1))^3 [-, rad/s]."""


def carts() -> art.Loop:
    """Return the carts on a level track, with a force on the first and a sensor on the second."""
    m = art.Mechanism("carts", gravity=(0, 0, 0))
    for i in (1, 2):
        m.body(f"cart{i}", art.Parameter(f"m{i}", 1.0), (0, 0, 0), (1, 1, 1))
    m.joint("slide1", art.Prismatic((1, 0, 0)), "ground", "cart1")
    m.joint("slide2", art.Prismatic((1, 0, 0)), "cart1", "cart2", stiffness=art.Parameter("k", 1.0))
    parts = [
        art.components.Torque("slide1", name="push"),
        art.components.FramePose("cart1", name="first"),
        art.components.FramePose("cart2", name="second"),
    ]
    return art.Loop(m, components=parts)


def controller() -> LinearModel:
    """Return -C(s), from the place of the second cart to the force."""
    A, B = -FAST * np.eye(3), np.full((3, 1), FAST)
    # (s + 1) / (s / FAST + 1) = FAST - (FAST - 1) FAST / (s + FAST), three in a row
    for i in (1, 2):
        A[i, i - 1] = FAST * -(FAST - 1.0)
        B[i] = FAST * FAST
    A[2, 0] = FAST * FAST * -(FAST - 1.0)
    B[2] = FAST * FAST**2
    c = -(FAST - 1.0)
    C = np.array([[FAST**2 * c, FAST * c, c]])
    return of_matrices(A, B, -GAIN * C, [[-GAIN * FAST**3]], inputs=["second.position.0"], outputs=["u.push"])


def compute() -> dict:
    loop, law = carts(), controller()
    ports: dict[str, Any] = {"inputs": ("u",), "outputs": ("first.position", "second.position")}
    plant = loop.linearize(**ports)
    near, far = (plant.between("u.push", f"{name}.position.0") for name in ("first", "second"))
    all_three = dict.fromkeys(("k", "m1", "m2"), (0.8, 1.2))
    robust = control.robstab(control.uncertain(loop, all_three, **ports).close(law))
    closed = control.uncertain(loop, {"k": (0.5, 2.0)}, **ports).close(law)
    return {
        "characteristic polynomial of the carts": np.poly(plant.A),
        "s^4 times the response at 1000 rad/s to the force: second cart": (
            1e3**4 * far.response([1e3])[0, 0, 0].real
        ),
        "zeros from the force to the first cart, size [rad/s]": np.abs(control.tzero(near).transmission),
        "relative degree from the force to the second cart": control.analysis.zero_dynamics(
            far
        ).relative_degree,
        "vibration for k = 0.5 and 2 [rad/s]": [
            abs(loop.linearize(params={"k": k}, **ports).poles[-1]) for k in (0.5, 2.0)
        ],
        "least change that destabilizes, in parts of 20 %": 1.0 / robust.lower,
        "change that is borne for certain, in parts of 20 %": robust.margin,
        "frequency there [rad/s]": robust.frequency,
        "stiffness there": robust.worst["k"],
        "m1 and m2 there": [robust.worst["m1"], robust.worst["m2"]],
        "least stiffness that is borne with m1 = m2 = 1": brentq(
            lambda k: closed.at(k=k).poles.real.max(), 0.005, 0.5
        ),
        "largest stiffness that is borne with m1 = m2 = 1": brentq(
            lambda k: closed.at(k=k).poles.real.max(), 2.0, 12.0
        ),
    }
