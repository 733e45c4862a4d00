"""Two planar arms under a plate: one fingertip slides, the other rolls; one dense system of equations, integrated by SciPy."""

import numpy as np
from scipy.integrate import solve_ivp

LENGTH, MASS, THICK, BALL = 0.5, 0.8, 0.02, 0.03
PLATE, INERTIA, G = 2.0, 0.06, 9.81
BASES = (-0.4, 0.4)
STIFFNESS, DAMPING = 80.0, 1.5


def along(angle):
    """Return the direction of a link that leans by an angle from the vertical towards x, and what it becomes by turning on."""
    return np.array([np.sin(angle), np.cos(angle)]), np.array([np.cos(angle), -np.sin(angle)])


def jacobians(q):
    """Return derivatives of the middles of the links and of the tips by q, (2, 7) each, and the tips."""
    middles, tips, places = [], [], []
    for k, base in enumerate(BASES):
        (u, du), (w, dw) = along(q[2 * k]), along(q[2 * k] + q[2 * k + 1])
        first, second, tip = (np.zeros((2, 7), dtype=complex) for _ in range(3))
        first[:, 2 * k] = LENGTH / 2 * du
        second[:, 2 * k], second[:, 2 * k + 1] = LENGTH * du + LENGTH / 2 * dw, LENGTH / 2 * dw
        tip[:, 2 * k], tip[:, 2 * k + 1] = LENGTH * (du + dw), LENGTH * dw
        middles += [first, second]
        tips.append(tip)
        places.append(np.array([base, 0]) + LENGTH * (u + w))
    return middles, tips, places


def mass(q):
    M = np.diag([0, 0, 0, 0, PLATE, PLATE, INERTIA]).astype(complex)
    turns = [np.eye(7)[0], np.eye(7)[0] + np.eye(7)[1], np.eye(7)[2], np.eye(7)[2] + np.eye(7)[3]]
    for J, turn in zip(jacobians(q)[0], turns):
        M += MASS * J.T @ J + MASS * LENGTH**2 / 12 * np.outer(turn, turn)
    return M


def rows(q):
    """Return what the contacts forbid, (3, 7): the gaps of both tips, and slip of the second along the face."""
    _, tips, places = jacobians(q)
    t, n = along(q[6])[1], -along(q[6])[0]  # along the face, and out of it, downwards
    G_ = np.zeros((3, 7), dtype=complex)
    here = q[4:6]
    for k in range(2):
        away = places[k] - here
        # n turns with the plate: d n / d theta = -t
        G_[k] = n @ tips[k]
        G_[k, 4:6] -= n
        G_[k, 6] += -t @ away
    arm = -BALL * n
    spin = np.array([arm[1], -arm[0]])
    touch = places[1] + arm - here
    G_[2] = t @ tips[1]
    G_[2, 2:4] += t @ spin
    G_[2, 4:6] -= t
    G_[2, 6] -= t @ np.array([touch[1], -touch[0]])
    return G_


def start():
    high = 2 * LENGTH * np.cos(0.5)
    bend = np.arccos((high - BALL) / (2 * LENGTH))
    return np.array([-0.5, 1.0, bend, -2 * bend, 0.1, high + THICK, 0.0])


def solve(q, v):
    """Return accelerations and multipliers."""
    M, G_ = mass(q).real, rows(q).real
    step = 1e-20
    dM = np.array([mass(q + 1j * step * e).imag / step for e in np.eye(7)])
    coriolis = np.einsum("kij,k,j->i", dM, v, v) - 0.5 * np.einsum("kij,i,j->k", dM, v, v)
    Gv = rows(q + 1j * step * v).imag / step @ v
    weight = -G * (MASS * sum(J[1].real for J in jacobians(q)[0]) + PLATE * np.eye(7)[5])
    force = weight - coriolis
    force[:4] += STIFFNESS * (0.95 * start()[:4] - q[:4]) - DAMPING * v[:4]
    whole = np.block([[M, G_.T], [G_, np.zeros((3, 3))]])
    found = np.linalg.solve(whole, np.concatenate([force, -Gv]))
    return found[:7], found[7:]


def expected():
    def f(t, y):
        return np.concatenate([y[7:], solve(y[:7], y[7:])[0]])

    out = solve_ivp(
        f, (0, 0.5), np.concatenate([start(), np.zeros(7)]), "DOP853", [0.25, 0.5], rtol=1e-11, atol=1e-12
    )
    q = out.y[:7].T
    pressing = solve(q[-1], out.y[7:, -1])[1]
    return {
        "two arms and a plate: joints, place and angle after 0.25 and 0.5 s [rad, m]": q,
        "two arms and a plate: forces that press, and friction of the rolling tip, at 0.5 s [N]": np.abs(
            pressing
        ),
        "ball on a turning table: rate of its circle over that of the table": 2 / 7,
        "ball on a slope, slipping and rolling: way after 1 s over that of a slide without friction": [
            1 - 0.05 / np.tan(0.4),
            5 / 7,
        ],
        "slipping ball: turning rate after 1 s [rad/s]": 2.5 * 0.05 * G * np.cos(0.4) / 0.1,
    }
