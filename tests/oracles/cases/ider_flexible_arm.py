"""Rigid arm of Ider 1989 b: two links whose point A, 1.8 m along link 2, goes 1.5 m along x in 1 s; mass centers mid-link."""

import numpy as np

L1, L2, M1, M2, A = 1.0, 2.7, 30.0, 15.0, 1.8


def angles(x, y):
    """Return both angles, elbow as at the start (80, -160 deg)."""
    bend = -np.arccos((x * x + y * y - L1**2 - A**2) / (2 * L1 * A))
    return np.array([np.arctan2(y, x) - np.arctan2(A * np.sin(bend), L1 + A * np.cos(bend)), bend])


def moments(t, about_joint):
    """Return angles and moments; inertia of link 1 of 10 kg m^2 is about its joint or its mass center."""
    w = 2 * np.pi
    x, dx, ddx = 0.4862 + 1.5 * (t - np.sin(w * t) / w), 1.5 * (1 - np.cos(w * t)), 1.5 * w * np.sin(w * t)
    q = angles(x, -0.7878)
    s, c, s12, c12 = np.sin(q[0]), np.cos(q[0]), np.sin(q.sum()), np.cos(q.sum())
    J = np.array([[-L1 * s - A * s12, -A * s12], [L1 * c + A * c12, A * c12]])
    v = np.linalg.solve(J, [dx, 0])
    both = v.sum()
    drift = -np.array([L1 * c * v[0] ** 2 + A * c12 * both**2, L1 * s * v[0] ** 2 + A * s12 * both**2])
    a = np.linalg.solve(J, np.array([ddx, 0]) - drift)
    own = 10.0 if about_joint else 10.0 + M1 * L1**2 / 4
    turn, k = M2 * L2**2 / 3, M2 * L1 * L2 / 2
    cross = turn + k * np.cos(q[1])
    M = np.array([[own + M2 * L1**2 + turn + 2 * k * np.cos(q[1]), cross], [cross, turn]])
    h = k * np.sin(q[1]) * np.array([-2 * v[0] * v[1] - v[1] ** 2, v[0] ** 2])
    return np.degrees(q), M @ a + h


def expected():
    times = (0.25, 0.5, 0.75)
    return {
        "point A at the start [m]": [
            np.cos(np.radians(80)) + A * np.cos(np.radians(-80)),
            np.sin(np.radians(80)) + A * np.sin(np.radians(-80)),
        ],
        "rigid, inertia of link 1 about its joint: moments at 0.25, 0.5, 0.75 s [N m]": [
            moments(t, True)[1] for t in times
        ],
        "rigid, inertia of link 1 about its mass centre: the same [N m]": [
            moments(t, False)[1] for t in times
        ],
        "rigid: angles at 0.25 and 1 s [deg]": [moments(t, True)[0] for t in (0.25, 1.0)],
    }
