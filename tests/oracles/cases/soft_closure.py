"""Two links (mass matrix, Coriolis terms, Jacobian by hand) whose tip arrives at a pin at 1 s; data chosen for the case."""

import numpy as np

PIN, START, U = np.array([1.0, 0.8]), np.array([1.6, 0.3]), np.array([-0.6, 0.5])
M1, M2, C1, C2, I1, I2 = 4.0, 3.0, 0.5, 0.4, 0.4, 0.3


def angles(tip):
    bend = np.arccos((tip @ tip - 2) / 2)
    return np.array([np.arctan2(tip[1], tip[0]) - bend / 2, bend])


def mass(q):
    c = M2 * C2 * np.cos(q[1])
    b = I2 + M2 * C2**2 + c
    return np.array([[I1 + M1 * C1**2 + I2 + M2 * (1 + C2**2) + 2 * c, b], [b, I2 + M2 * C2**2]])


def jacobian(q):
    s, c, s12, c12 = np.sin(q[0]), np.cos(q[0]), np.sin(q.sum()), np.cos(q.sum())
    return np.array([[-s - s12, -s12], [c + c12, c12]])


def expected():
    q = angles(PIN)
    v = np.linalg.solve(jacobian(q), U)
    lost = v @ mass(q) @ v / 2
    # g = a s^3 + b s^4 with s = 1 - t: g(0) = a + b, g'(0) = -(3 a + 4 b), g''(0) = 6 a + 12 b
    g, dg = START - PIN, U
    a, b = 4 * g + dg, -3 * g - dg
    q0 = angles(START)
    J = jacobian(q0)
    v0 = np.linalg.solve(J, U)
    both = v0.sum()
    drift = np.array(
        [
            -np.cos(q0[0]) * v0[0] ** 2 - np.cos(q0.sum()) * both**2,
            -np.sin(q0[0]) * v0[0] ** 2 - np.sin(q0.sum()) * both**2,
        ]
    )
    k = M2 * C2 * np.sin(q0[1])
    h = np.array([-k * (2 * v0[0] * v0[1] + v0[1] ** 2), k * v0[0] ** 2])
    tau = mass(q0) @ np.linalg.solve(J, 6 * a + 12 * b - drift) + h
    return {
        "at a constant velocity: energy lost when the pin catches [J]": lost,
        "tip half a second before [m]": PIN + a / 8 + b / 16,
        "moments of the motors at the start [N m]": tau,
    }
