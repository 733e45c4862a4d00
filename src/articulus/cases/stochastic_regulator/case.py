"""Least expected cost with Gaussian and Poisson noise: closed form, bounds that hold, two states."""

import casadi as ca
import numpy as np

from articulus.motion.trajectory.stochastic import FeedbackLaw, Jump, feedback_law

POINTS = (9, 17, 33, 65, 129)
P, S = 0.4765964534, 0.0139430255  # of V = P x^2 / 2 + S
TILT = np.array([[np.sqrt(3), -1], [1, np.sqrt(3)]]) / 2
STATES = [[0.0, 0.0], [1.0, -0.5], [-1.5, 1.0]]


def compute() -> dict:
    out: dict = {}
    for noise, text in ((0.3, "with both noises"), (0.0, "with jumps alone")):
        laws = [one_state(n, noise) for n in POINTS]
        s = S if noise else 0.0
        errors = np.array([np.abs(law.values[0] - P * law.axes[0] ** 2 / 2 - s).max() for law in laws])
        out[f"{text}: largest error on 9, 17 points [1e-3]"] = 1e3 * errors[:2]
        out[f"{text}: largest error on 33, 65, 129 points [1e-5]"] = 1e5 * errors[2:]
        out[f"{text}: ratios of these errors"] = errors[:-1] / errors[1:]
        if noise:
            out["with both noises: mean number of corrections"] = [law.corrections for law in laws]
            middle, edge = (
                (4 * laws[-1].values[0, 64 + k] - laws[-2].values[0, 32 + k // 2]) / 3 for k in (0, 64)
            )
            out["p(0) from 65 and 129 points"] = (edge - middle) / 2
            out["s(0) from 65 and 129 points"] = middle
    bounded = one_state(129, 0.3, limit=0.3)
    out["inputs within 0.3: least cost from 0, 1, 2"] = bounded.values[0, [64, 96, 128]]
    held = bounded.axes[0][np.abs(bounded.inputs[0, :, 0]) == 0.3]
    out["inputs within 0.3: least state at which the input is at its bound, at the start"] = held[held > 0][0]
    two = two_states()
    out["two states: least cost from (0, 0), (1, -0.5), (-1.5, 1)"] = two.value(STATES)
    return out


def one_state(points: int, noise: float, limit: float = 10.0) -> FeedbackLaw:
    x, u = ca.SX.sym("x"), ca.SX.sym("u")
    return feedback_law(
        x,
        u,
        -0.5 * x + u,
        cost=x**2 / 2 + u**2 / 2,
        duration=1.0,
        grid=[(-2, 2, points)],
        u_bounds=[(-limit, limit)],
        gaussian=[[noise]] if noise else None,
        jumps=[Jump(0.5, -0.4 * x)],
        steps=4 * (points - 1),
        samples=2,
    )


def two_states() -> FeedbackLaw:
    """Return the law of two problems of one state each, in coordinates that are turned by 30 deg."""
    x, u = ca.SX.sym("x", 2), ca.SX.sym("u", 2)
    A = TILT @ np.diag([-0.5, -0.2]) @ TILT.T
    return feedback_law(
        x,
        u,
        ca.mtimes(ca.DM(A), x) + ca.mtimes(ca.DM(TILT), u),
        cost=ca.dot(x, x) / 2 + ca.dot(u, u) / 2,
        duration=1.0,
        grid=[(-2, 2, 65)] * 2,
        u_bounds=[(-0.3, 0.3), (-0.2, 0.2)],
        gaussian=TILT @ np.diag([0.3, 0.4]),
        jumps=[Jump(0.5, -0.4 * x)],
        samples=2,
    )
