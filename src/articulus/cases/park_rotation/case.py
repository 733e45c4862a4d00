"""A body that turns freely, and a point mass on a rod: order, conserved quantities, violation of the constraint."""

import warnings

import numpy as np

import articulus as art
from articulus.model.mechanism import Distance
from articulus.simulation.integrate.free_bodies import FreeBodies

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
    return out | in_runs()


def in_runs() -> dict:
    """Return the same body by `simulate`, and the step beyond which a mass on a spring grows."""
    free = free_body(INERTIA, (0, 0, 0))
    v0 = [*SPIN, 0, 0, 0]
    runs = [
        art.simulate(free, 10.0, v0=v0, step=h, method="central_difference", outputs=("momentum",))
        for h in STEPS
    ]
    errors = [np.linalg.norm(run.v[-1, :3] - EXACT) for run in runs]
    long = art.simulate(free, 200.0, v0=v0, step=0.02, method="central_difference", outputs=())
    return {
        "in runs: order": np.polyfit(np.log(STEPS), np.log(errors), 1)[0],
        "in runs: largest change of the momentum, all steps [kg m^2/s]": max(
            np.abs(run["momentum"] - run["momentum"][0]).max() for run in runs
        ),
        "in runs: energy error over 200 s, h = 0.02 s, relative": energy_error(long.v[:, :3]),
        "in runs: step over 1/w beyond which a mass on a spring grows": spring_limit(),
    }


def spring_limit() -> float:
    """Return w h at which the motion of a mass of 1 kg on a spring of 1 N/m begins to grow over 2000 steps."""
    m = art.Mechanism("spring", gravity=(0, 0, 0)).body("b", mass=1.0, inertia=(1, 1, 1))
    m.joint("x", art.Prismatic((1, 0, 0)), "ground", "b", stiffness=1.0)
    low, high = 1.5, 2.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that such steps are too long is told
        while high - low > 1e-3:
            h = (low + high) / 2
            run = art.rollout(m, 2000 * h, q0=[[1.0]], step=h, method="central_difference")
            grown = not np.abs(run.q[0, -1]).max() < 1e3
            low, high = (low, h) if grown else (h, high)
    return low


def turning(h: float, end: float) -> tuple[np.ndarray, np.ndarray]:
    """Return angular velocities in body axes and angular momenta in ground axes of the free body."""
    body = free_body(INERTIA, (0, 0, 0)).description
    run = FreeBodies(body, h, 1.0).run(body.neutral, [*SPIN, 0, 0, 0], round(end / h))
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
    run = FreeBodies(mass.description, h, eps).run([1, 0, 0, 0, 1, 0, 0], np.zeros(6), round(end / h))
    p = run.q[:, 4:]
    speed, middle = np.diff(p, axis=0) / h, (p[1:] + p[:-1]) / 2
    energy = (speed**2).sum(axis=1) / 2 + G * middle[:, 2]
    return float(np.abs(np.linalg.norm(p, axis=1) - 1).max()), float(np.abs(energy - energy[0]).max())
