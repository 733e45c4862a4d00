"""Two bodies with a hinge and three wheels, reduced to hub, hinge and wheels by momenta that are zero; a rim with one radius and its stays."""

import math

import numpy as np
from scipy.integrate import solve_ivp

M1, J1, ROOT = 400.0, np.diag([150.0, 120.0, 100.0]), np.array([0.8, 0.3, 0.2])
M2, CENTER, J2 = 30.0, np.array([2.0, 0.0, 0.0]), np.diag([2.0, 40.0, 42.0])
N, ANGLE, TIME, END = np.array([0.6, 0.0, 0.8]), math.pi / 2, 40.0, 120.0
KP, KD, JP, JD = np.array([20.0, 20.0, 30.0]), np.array([90.0, 90.0, 100.0]), 60.0, 160.0

LINK, BLOCK, ROD, START, SPRING = 5.0, 2.0, 3.0, 1.0, 6.0
EA, LOSS, SPEED, LAST, DURATION = 4e3, 1.0, 0.25, 9.0, 40.0


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def matrices(phi):
    """Return the inertia of hub's rate and hinge's rate (4, 4) about the common center, and its derivative by the angle."""
    reduced = M1 * M2 / (M1 + M2)
    S = skew(N)
    R = np.eye(3) + math.sin(phi) * S + (1 - math.cos(phi)) * S @ S
    dR = S @ R
    r, dr = ROOT + R @ CENTER, dR @ CENTER
    lever = np.column_stack([-skew(r), np.cross(N, R @ CENTER)])
    d_lever = np.column_stack([-skew(dr), np.cross(N, dr)])
    turn = np.column_stack([np.eye(3), N])
    J = R @ J2 @ R.T
    dJ = dR @ J2 @ R.T + R @ J2 @ dR.T
    T = reduced * lever.T @ lever + turn.T @ J @ turn
    T[:3, :3] += J1
    dT = reduced * (lever.T @ d_lever + d_lever.T @ lever) + turn.T @ dJ @ turn
    return T, dT


def slew(_t, x):
    q, phi, p, h = x[:4], x[4], x[5], x[6:]
    T, dT = matrices(phi)
    v = np.linalg.solve(T, np.append(-h, p))  # hub and hinge from momenta: none in all
    w, rate = v[:3], v[3]
    part = min(_t / TIME, 1.0)
    goal = ANGLE * (10 * part**3 - 15 * part**4 + 6 * part**5)
    speed = ANGLE / TIME * 30 * part**2 * (1 - part) ** 2
    torque = -KP * 2 * q[1:] * q[0] - KD * w
    drive = JP * (goal - phi) + JD * (speed - rate)
    turn = 0.5 * np.append(-q[1:] @ w, q[0] * w + np.cross(q[1:], w))
    return np.concatenate([turn, [rate, drive + 0.5 * v @ dT @ v], -torque])


def rim(t, x):
    r, rate = x
    length = min(START + SPEED * t, LAST)
    paid = SPEED if START + SPEED * t < LAST else 0.0
    rod = 12 * ROD / 3
    high = LINK**2 - r**2 / 4
    mass = 6 * BLOCK + rod * (2.5 + r**2 / (16 * high))
    slope = rod * (r / (8 * high) + r**3 / (32 * high**2))
    up = math.acos(r / (2 * LINK))
    push = 12 * SPRING * up / math.sqrt(4 * LINK**2 - r**2)
    return [rate, (push - 6 * tension(r, rate, length, paid) - 0.5 * slope * rate**2) / mass]


def tension(r, rate, length, paid):
    return max(EA * (r - length) / length + LOSS * (rate - paid), 0.0) if r > length else 0.0


def expected():
    start = np.zeros(9)
    start[0] = 1.0
    first = solve_ivp(slew, (0, TIME), start, method="DOP853", rtol=1e-12, atol=1e-13, t_eval=[20.0, TIME])
    last = solve_ivp(slew, (TIME, END), first.y[:, -1], method="DOP853", rtol=1e-12, atol=1e-13)
    half, end = first.y[:, 0], last.y[:, -1]
    n = 160000
    x, t, h = np.array([START, 0.0]), 0.0, DURATION / n
    pulls = [0.0]
    for k in range(n):  # so short a step that the corners of the tension do not matter
        t = k * h
        k1 = np.array(rim(t, x))
        k2 = np.array(rim(t + h / 2, x + h / 2 * k1))
        k3 = np.array(rim(t + h / 2, x + h / 2 * k2))
        k4 = np.array(rim(t + h, x + h * k3))
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        length = min(START + SPEED * (t + h), LAST)
        pulls.append(tension(*x, length, SPEED if length < LAST else 0.0))
    pulls = np.array(pulls)
    return {
        "appendage: attitude of the hub half way, vector part of its quaternion": half[1:4],
        "appendage: momenta of the wheels half way [N m s]": half[6:],
        "appendage: angle in the end [rad]": end[4],
        "rim: radius in the end [m]": x[0],
        "rim: pulses of tension in a stay": float(np.sum((pulls[1:] > 0) & (pulls[:-1] == 0))),
        "rim: largest tension [N]": pulls.max(),
        "rim: time of the largest tension [s]": pulls.argmax() * h,
    }
