"""Motions whose solution is known from elsewhere, and the slope that an order shows."""

import functools

import numpy as np
from scipy.integrate import solve_ivp

from articulus.simulation.integrate import Mechanical

ECCENTRICITY = 0.3
ORBIT = np.array([1 - ECCENTRICITY, 0.0]), np.array([0.0, np.sqrt((1 + ECCENTRICITY) / (1 - ECCENTRICITY))])


def observed_order(counts, error):
    """Return the power with which error(count) falls, a straight line through the logarithms."""
    return -np.polyfit(np.log(counts), np.log([error(int(n)) for n in counts]), 1)[0]


# Kepler's orbit about a unit mass; the axis is 1, the period 2 pi


def attraction(t, q, v=None):
    return -q / (q[0] ** 2 + q[1] ** 2) ** 1.5


def attraction_gradient(q):
    r = np.hypot(*q)
    return 3 * np.outer(q, q) / r**5 - np.eye(2) / r**3


def kepler(t, x):
    return np.concatenate([x[2:], attraction(t, x[:2])])


def kepler_jacobian(t, x):
    return np.block([[np.zeros((2, 2)), np.eye(2)], [attraction_gradient(x[:2]), np.zeros((2, 2))]])


def orbit(t):
    """Return position and velocity at a time, by Kepler's equation."""
    anomaly = t
    for _ in range(50):
        anomaly = anomaly - (anomaly - ECCENTRICITY * np.sin(anomaly) - t) / (
            1 - ECCENTRICITY * np.cos(anomaly)
        )
    minor, rate = np.sqrt(1 - ECCENTRICITY**2), 1 / (1 - ECCENTRICITY * np.cos(anomaly))
    q = np.array([np.cos(anomaly) - ECCENTRICITY, minor * np.sin(anomaly)])
    return q, rate * np.array([-np.sin(anomaly), minor * np.cos(anomaly)])


# a top: body with inertia J turning about its origin under gravity at its center of mass

INERTIA = np.array([1.2, 0.8, 0.5])
MASS, ARM, GRAVITY = 0.7, np.array([0.1, -0.2, 0.5]), np.array([0.0, 0.0, -9.81])


def quaternion_product(a, b):
    w = a[..., 0] * b[..., 0] - np.sum(a[..., 1:] * b[..., 1:], axis=-1)
    u = a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])
    return np.concatenate([w[..., None], u], axis=-1)


def turn(q, u):
    """Return a quaternion after a rotation vector in body axes."""
    half = np.linalg.norm(u) / 2
    return quaternion_product(q, np.array([np.cos(half), *(np.sinc(half / np.pi) / 2 * u)]))


def matrix(q):
    w, u = q[0], q[1:]
    cross = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return np.eye(3) + 2 * (w * cross + cross @ cross)


def top_moment(t, q, w):
    """Return moment minus gyroscopic term, body axes."""
    return MASS * np.cross(ARM, matrix(q).T @ GRAVITY) - np.cross(w, INERTIA * w)


def free_spin(t, q, w):
    return -np.cross(w, INERTIA * w) / INERTIA


TOP = Mechanical(mass=lambda t, q: np.diag(INERTIA), force=top_moment, displace=turn)


def quaternion_flow(acceleration):
    """Return x' of (quaternion, angular velocity), for a solver that knows no rotations."""

    def rate(t, x):
        spin = quaternion_product(x[:4], np.array([0.0, *x[4:]])) / 2
        return np.concatenate([spin, acceleration(t, x[:4] / np.linalg.norm(x[:4]), x[4:])])

    return rate


def independent(f, x0, end):
    """Return x(end) by scipy's method of order 8."""
    return solve_ivp(f, (0.0, end), x0, "DOP853", rtol=1e-13, atol=1e-14).y[:, -1]


# Van der Pol's oscillator, stiff: two jumps in 2000 s

MU = 1000.0


def relaxation(t, x):
    return np.array([x[1], MU * (1 - x[0] ** 2) * x[1] - x[0]])


def relaxation_jacobian(t, x):
    return np.array([[0.0, 1.0], [-2 * MU * x[0] * x[1] - 1, MU * (1 - x[0] ** 2)]])


@functools.cache
def relaxation_end():
    """Return x(2000) from (2, 0) by scipy's Radau."""
    return solve_ivp(
        relaxation, (0, 2000), [2.0, 0.0], "Radau", rtol=1e-8, atol=1e-10, jac=relaxation_jacobian
    ).y[:, -1]
