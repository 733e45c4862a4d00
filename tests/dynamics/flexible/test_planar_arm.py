"""A planar arm of two flexible links against Lagrange's equations of its particles, written out independently.

Each particle of a link at x on its axis is at root + R(angle) (r + u1 + u2) with u1 linear and u2 quadratic in the modal
coordinates; u2 is missing at the "inconsistent" level. At the "consistent" one the kinetic energy takes u2 as the straight
line in x that fits it best over the mass of the link. CasADi differentiates; no code of the package is used.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.model.mechanism.modes import Station
from flexible_zoo import Cloud

G = 9.81
LENGTH = (1.0, 0.8)
MASS = (np.full(15, 0.1), np.full(12, 0.05))
K = (np.diag([40.0, 900.0]), np.diag([20.0, 500.0]))
D = (np.diag([0.1, 0.2]), np.diag([0.05, 0.1]))
TIP = 0.4
"""Mass of a particle at the tip [kg]."""


def shapes(s: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return deflection, slope and integral of slope_k slope_l over a unit length of two polynomial shapes."""
    deflection = np.array([s**2, s**3])
    slope = np.array([2 * s, 3 * s**2])
    integral = np.array([[4 * s**3 / 3, 6 * s**4 / 4], [6 * s**4 / 4, 9 * s**5 / 5]])
    return deflection, slope, integral


def places(link: int) -> list[float]:
    n = len(MASS[link])
    return [(k + 0.5) / n for k in range(n)]


def modes(link: int, level: str):
    """Return the link for the package: deflection along y, shortening along x, rotation about z."""
    L, at = LENGTH[link], places(link)
    P = len(at)
    phi, h = np.zeros((P, 3, 2)), np.zeros((P, 3, 2, 2))
    for p, s in enumerate(at):
        deflection, _, integral = shapes(s)
        phi[p, 1], h[p, 0] = deflection, -integral / L
    r = np.array([[s * L, 0.0, 0.0] for s in at])
    deflection, slope, integral = shapes(1.0)
    translation, rotation, shortening = np.zeros((3, 2)), np.zeros((3, 2)), np.zeros((3, 2, 2))
    translation[1], rotation[2], shortening[0] = deflection, slope / L, -integral / L
    stations = {"tip": Station(np.array([L, 0.0, 0.0]), translation, rotation, shortening)}
    return Cloud(MASS[link], r, phi, h).modes(K[link], D[link], stations).at_level(level)


def arm(level: str) -> art.Mechanism:
    m = art.Mechanism("arm", gravity=(0, -G, 0))
    m.flexible("upper", modes(0, level)).flexible("fore", modes(1, level))
    m.body("load", mass=TIP, inertia=(1e-9, 1e-9, 1e-9))
    m.joint("shoulder", art.Revolute(axis=(0, 0, 1)), parent="ground", child="upper")
    m.joint("elbow", art.Revolute(axis=(0, 0, 1)), parent="upper", child="fore", node="tip")
    m.joint("grip", art.Fixed(), parent="fore", child="load", node="tip")
    return m


def fitted(link: int) -> np.ndarray:
    """Return the integrals of slope_k slope_l up to each particle, as the straight lines that fit them best, (P, 2, 2)."""
    at, weight = np.array(places(link)), np.sqrt(MASS[link])
    line = np.stack([np.ones_like(at), at], axis=1)
    values = np.array([shapes(s)[2] for s in at]).reshape(len(at), 4)
    return (line @ np.linalg.lstsq(weight[:, None] * line, weight[:, None] * values)[0]).reshape(-1, 2, 2)


def lagrange(level: str) -> ca.Function:
    """Return (q, v, tau) -> vdot of the same arm; q = shoulder, two modes, elbow, two modes."""
    q, v, tau = (ca.SX.sym(name, 6) for name in ("q", "v", "tau"))
    T, U, root, angle = ca.SX(0), ca.SX(0), ca.SX.zeros(2), ca.SX(0)
    rate = lambda x: ca.jtimes(x, q, v)  # noqa: E731
    squared = lambda x: ca.dot(x, x)  # noqa: E731
    for link, first in enumerate((0, 3)):
        angle, eta, L = angle + q[first], q[first + 1 : first + 3], LENGTH[link]
        R = ca.blockcat([[ca.cos(angle), -ca.sin(angle)], [ca.sin(angle), ca.cos(angle)]])

        def place(s: float, integral: np.ndarray, root=root, R=R, eta=eta, L=L):
            deflection = shapes(s)[0]
            shortening = -0.5 / L * ca.dot(eta, ca.mtimes(ca.DM(integral), eta))
            across, along = ca.dot(ca.DM(deflection), eta), shortening if level == "consistent" else 0
            return root + ca.mtimes(R, ca.vertcat(s * L + along, across))

        for s, mass, line in zip(places(link), MASS[link], fitted(link)):
            T += 0.5 * mass * squared(rate(place(s, line)))
            U += mass * G * place(s, shapes(s)[2])[1]
        U += 0.5 * ca.dot(eta, ca.mtimes(ca.DM(K[link]), eta))
        root = place(1.0, shapes(1.0)[2])
        angle = angle + 2 * ca.atan(ca.dot(ca.DM(shapes(1.0)[1] / L), eta) / 2)
    T += 0.5 * TIP * squared(rate(root)) + 0.5 * 1e-9 * rate(angle) ** 2
    U += TIP * G * root[1]
    damping = ca.diagcat(0, ca.DM(D[0]), 0, ca.DM(D[1]))
    momentum = ca.gradient(T, v)
    force = tau - ca.mtimes(damping, v) + ca.gradient(T - U, q) - ca.jtimes(momentum, q, v)
    return ca.Function("vdot", [q, v, tau], [ca.solve(ca.jacobian(momentum, v), force), T, U])


@pytest.mark.parametrize("level", ["consistent", "inconsistent"])
def test_two_links_agree_with_lagrange(level: str) -> None:
    """Two exact derivations of the same Lagrangian; M has a condition number of 1e3, hence 1e-10 of the largest entry."""
    m, oracle, rng = arm(level), lagrange(level), np.random.default_rng(4)
    f, energy = m.function("forward_dynamics"), m.function("energy")
    for _ in range(5):
        q, v, tau = rng.normal(size=6), 2 * rng.normal(size=6), rng.normal(size=6)
        q[[1, 2, 4, 5]] *= 0.1
        vdot, T, U = (np.array(x).ravel() for x in oracle(q, v, tau))
        np.testing.assert_allclose(np.array(f(q, v, tau)).ravel(), vdot, atol=1e-10 * np.abs(vdot).max())
        kinetic, potential = energy(q, v)
        np.testing.assert_allclose([float(kinetic), float(potential)], [T[0], U[0]], rtol=1e-12)


def test_levels_differ() -> None:
    """Motion stiffens: without shortening the fast arm accelerates otherwise."""
    q, v, tau = np.full(6, 0.1), np.array([6.0, 0, 0, 2.0, 0, 0]), np.zeros(6)
    found = [
        np.array(arm(level).function("forward_dynamics")(q, v, tau)).ravel()
        for level in ("consistent", "inconsistent")
    ]
    assert np.abs(found[0] - found[1]).max() > 1e-2 * np.abs(found[0]).max()
