"""A hub with three wheels under sampled feedback of modified Rodrigues parameters, written out by hand, from instant to instant."""

import math

import numpy as np

MU = 3.986004415e14
J = np.array([900.0, 800.0, 600.0])
WHEEL = 50.0 / (6000 * math.pi / 30)
"""Inertia of each wheel about its axis."""
SPEEDS = np.array([100.0, 200.0, 300.0]) * math.pi / 30
K, P, PERIOD, END = 3.5, 30.0, 0.1, 600.0
LIMIT = 0.2


def cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def orbit():
    """Return position and velocity at the start: a = 10,000 km, e = 0.01, i = 33.3, node 48.2, periapsis 347.8, anomaly 85.3 degrees."""
    a, e, i, node, periapsis, f = 1.0e7, 0.01, *np.radians([33.3, 48.2, 347.8, 85.3])
    p = a * (1 - e**2)
    c, s = math.cos, math.sin
    x = np.array(
        [
            c(node) * c(periapsis) - s(node) * s(periapsis) * c(i),
            s(node) * c(periapsis) + c(node) * s(periapsis) * c(i),
            s(periapsis) * s(i),
        ]
    )
    y = np.array(
        [
            -c(node) * s(periapsis) - s(node) * c(periapsis) * c(i),
            -s(node) * s(periapsis) + c(node) * c(periapsis) * c(i),
            c(periapsis) * s(i),
        ]
    )
    r = p / (1 + e * c(f))
    return r * (c(f) * x + s(f) * y), math.sqrt(MU / p) * (-s(f) * x + (e + c(f)) * y)


def to_ground(sigma):
    """Return the rotation from the craft to the ground frame."""
    s2 = sigma @ sigma
    X = np.array([[0, -sigma[2], sigma[1]], [sigma[2], 0, -sigma[0]], [-sigma[1], sigma[0], 0]])
    return np.eye(3) + (8 * X @ X + 4 * (1 - s2) * X) / (1 + s2) ** 2


def rate(t, x, u):
    """Return the rate of (sigma, w, wheel speeds, position, velocity); u are the motors' torques on the rotors."""
    sigma, w, W, r, v = x[:3], x[3:6], x[6:9], x[9:12], x[12:]
    s2 = sigma @ sigma
    dsigma = ((1 - s2) * w + 2 * cross(sigma, w) + 2 * sigma * (sigma @ w)) / 4
    h = WHEEL * (W + w)
    e = to_ground(sigma).T @ r / np.linalg.norm(r)
    gradient = 3 * MU / np.linalg.norm(r) ** 3 * cross(e, J * e)
    dw = (gradient - u - cross(w, J * w + h)) / J
    dW = u / WHEEL - dw
    return np.concatenate([dsigma, dw, dW, v, -MU * r / np.linalg.norm(r) ** 3])


def step(x, u, h=PERIOD / 2):
    """Return x after half a period by the classical method of order 4; DOP853 at 1e-12 gives the same to 1e-13."""
    a = rate(0, x, u)
    b = rate(0, x + h / 2 * a, u)
    c = rate(0, x + h / 2 * b, u)
    return x + h / 6 * (a + 2 * b + 2 * c + rate(0, x + h * c, u))


def expected():
    r, v = orbit()
    x = np.concatenate([[0.1, 0.2, -0.3], [0.001, -0.01, 0.03], SPEEDS, r, v])
    for _ in range(round(END / PERIOD)):
        if x[:3] @ x[:3] > 1:
            x[:3] = -x[:3] / (x[:3] @ x[:3])
        u = np.clip(K * x[:3] + P * x[3:6], -LIMIT, LIMIT)
        x = step(step(x, u), u)
    return {
        "modified Rodrigues parameters after 600 s": x[:3],
        "rates after 600 s [rad/s]": x[3:6],
        "speeds of the wheels after 600 s [rad/s]": x[6:9],
    }
