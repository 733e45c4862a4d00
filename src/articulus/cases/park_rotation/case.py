"""A body that turns freely, and a point mass on a rod: order, conserved quantities, violation of the constraint."""

import numpy as np

import articulus as art
from articulus.model.mechanism import Distance
from articulus.simulation.integrate.central_difference import CentralDifference

INERTIA = np.array([1.0, 2.0, 3.0])
SPIN = np.array([1.0, 0.01, 2.0])
EXACT = np.array([0.73644655, 0.67656964, 1.96149208])
"""Angular velocity after 10 s, Runge-Kutta with a tolerance of 1e-11 [rad/s]."""
STEPS = (0.04, 0.02, 0.01, 0.005)
SOFTNESS = (1e-2, 1e-4, 1e-6, 1e-8)
G = 9.81


def compute() -> dict:
    runs = [turning(h, 10.0) for h in STEPS]
    errors = np.array([np.linalg.norm(w[-1] - EXACT) for w, _ in runs])
    out = {f"error of w after 10 s, h = {h} s [rad/s]": error for h, error in zip(STEPS, errors)}
    out |= {
        "order": np.polyfit(np.log(STEPS), np.log(errors), 1)[0],
        "largest change of the angular momentum, all steps [kg m^2/s]": max(
            np.abs(L - L[0]).max() for _, L in runs
        ),
        "energy error, h = 0.04 s, relative": energy_error(runs[0][0]),
        "energy error, h = 0.005 s, relative": energy_error(runs[3][0]),
        "energy error over 200 s, h = 0.02 s, relative": energy_error(turning(0.02, 200.0)[0]),
    }
    swings = [swing(eps) for eps in SOFTNESS]
    for eps, (violation, _) in zip(SOFTNESS, swings):
        out[f"change of length for eps = {eps:g} [m]"] = violation
    out["energy error for eps = 1e-8 [J]"] = swings[-1][1]
    return out


def turning(h: float, end: float) -> tuple[np.ndarray, np.ndarray]:
    """Return angular velocities in body axes and angular momenta in ground axes of the free body."""
    body = free_body(INERTIA, (0, 0, 0)).description
    run = CentralDifference(body, h, 1.0).run(body.neutral, [*SPIN, 0, 0, 0], round(end / h))
    w = run.v[:, :3]
    return w, np.array([rotate(q, INERTIA * wn) for q, wn in zip(run.q[:, :4], w)])


def energy_error(w: np.ndarray) -> float:
    energy = (w**2 @ INERTIA) / 2
    return float(np.abs(energy / energy[0] - 1).max())


def rotate(q: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return a vector of the body in ground axes."""
    return x + 2 * np.cross(q[1:], np.cross(q[1:], x) + q[0] * x)


def free_body(inertia: np.ndarray, gravity: tuple[float, float, float]) -> art.Mechanism:
    mechanism = art.Mechanism("body", gravity=gravity).body("body", mass=1.0, inertia=tuple(inertia))
    return mechanism.joint("flight", art.Free(), "ground", "body")


def swing(eps: float, h: float = 1e-3, end: float = 5.0) -> tuple[float, float]:
    """Return the largest violation of the length and the spread of the energy at half steps."""
    mass = free_body(np.ones(3), (0, 0, -G)).constrain(Distance("rod", "ground", "body", length=1.0))
    run = CentralDifference(mass.description, h, eps).run([1, 0, 0, 0, 1, 0, 0], np.zeros(6), round(end / h))
    p = run.q[:, 4:]
    speed, middle = np.diff(p, axis=0) / h, (p[1:] + p[:-1]) / 2
    energy = (speed**2).sum(axis=1) / 2 + G * middle[:, 2]
    return float(np.abs(np.linalg.norm(p, axis=1) - 1).max()), float(np.abs(energy - energy[0]).max())
