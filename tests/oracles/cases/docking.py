"""Two free bodies that turn steadily about principal axes until probe and port are 0.12 m apart, then one rigid body."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

M1, M2 = 100.0, 300.0
J1, J2 = np.diag([20.0, 25.0, 30.0]), np.diag([80.0, 70.0, 90.0])
C2 = np.array([0.1, 0.0, 0.05])
PROBE, PORT = np.array([1.0, 0.0, 0.4]), np.array([-1.5, 0.0, 0.4])
W1, V1 = np.array([0.3, 0, 0]), np.array([0.4, 0.08, 0])
W2, V2 = np.array([0, 0, 0.2]), np.array([0, 0.01, 0.02])


def turn(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    return (
        np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
        if axis == 0
        else np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    )


def state(t):
    R1, R2 = turn(0, 0.3 * t), turn(2, 0.2 * t)
    return R1, V1 * t, R2, np.array([2.75, 0.15, -0.03]) + C2 + V2 * t


def apart(t):
    R1, x1, R2, x2 = state(t)
    return np.linalg.norm(x1 + R1 @ PROBE - x2 - R2 @ (PORT - C2))


def expected():
    t = brentq(lambda t: apart(t) - 0.12, 0.0, 0.5, xtol=1e-15)
    R1, x1, R2, x2 = state(t)
    I1, I2 = R1 @ J1 @ R1.T, R2 @ J2 @ R2.T
    mass, momentum = M1 + M2, M1 * V1 + M2 * V2
    center, V = (M1 * x1 + M2 * x2) / mass, momentum / mass
    L = I1 @ W1 + I2 @ W2 + M1 * np.cross(x1 - center, V1) + M2 * np.cross(x2 - center, V2)

    def about(m, r):
        return m * (r @ r * np.eye(3) - np.outer(r, r))

    J = I1 + I2 + about(M1, x1 - center) + about(M2, x2 - center)
    w = np.linalg.solve(J, L)
    before = (W1 @ I1 @ W1 + W2 @ I2 @ W2 + M1 * V1 @ V1 + M2 * V2 @ V2) / 2
    lost = before - (mass * V @ V + L @ w) / 2
    velocities = [V + np.cross(w, x1 - center), V + np.cross(w, x2 - center)]
    return {
        "time of capture [s]": t,
        "rates of chaser and target after it [rad/s]": [w, w],
        "velocities of their mass centres after it [m/s]": velocities,
        "energy lost: of the record, and by kinetic energy [J]": [lost, lost],
        "rate of the target at 3 s [rad/s]": later(J, L, 3.0 - t),
    }


def later(J, L, time):
    """Return the rate of a free body after a time: R' = w x R with w = R J^-1 R' L."""
    inverse = np.linalg.inv(J)

    def rate(_, x):
        R = x.reshape(3, 3)
        w = R @ inverse @ R.T @ L
        return np.cross(w, R.T).T.ravel()

    R = solve_ivp(rate, (0, time), np.eye(3).ravel(), "DOP853", rtol=1e-13, atol=1e-13).y[:, -1].reshape(3, 3)
    return R @ inverse @ R.T @ L
