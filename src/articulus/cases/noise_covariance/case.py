"""Covariance of three carts on springs and dampers that a white force shakes, from many runs, against the Lyapunov equation."""

import numpy as np
from scipy.linalg import solve_continuous_lyapunov

import articulus as art
from articulus.simulation.loop.components import WhiteNoise

RUNS = 8000
MASSES, STIFFNESS, DAMPING = (1.0, 0.8, 0.5), (60.0, 40.0, 30.0), (4.0, 2.5, 2.0)
DENSITY = 2.0  # N^2 s, between the last two carts


def compute() -> dict:
    found, wanted = np.cov(states().T), lyapunov()
    size = np.sqrt(np.diag(wanted))
    return {
        "variances of positions and velocities over those of the Lyapunov equation": np.diag(found) / size**2,
        "largest error of a correlation coefficient is below 4 standard errors (1 = yes)": bool(
            np.abs((found - wanted) / np.outer(size, size))[np.triu_indices(6, 1)].max()
            < 4 * np.sqrt(2 / RUNS)
        ),
        "standard deviation of the last cart [m]": float(np.sqrt(found[:3, :3].sum())),
    }


def states() -> np.ndarray:
    """Return positions and velocities of all runs after ten seconds, when nothing is left of the start, each joint relative to the one before."""
    m = art.Mechanism("carts", gravity=(0, 0, 0))
    before = "ground"
    for k, (mass, stiffness, damping) in enumerate(zip(MASSES, STIFFNESS, DAMPING), start=1):
        m.body(f"cart{k}", mass, (0, 0, 0), (0.01, 0.01, 0.01))
        m.joint(f"x{k}", art.Prismatic((1, 0, 0)), before, f"cart{k}", stiffness=stiffness, damping=damping)
        before = f"cart{k}"
    noise = WhiteNoise(density=DENSITY, joint="x3")
    run = art.rollout(m, 10.0, q0=np.zeros((RUNS, 3)), components=[noise], step=0.01, seed=3)
    return np.concatenate([run.q[:, -1], run.v[:, -1]], axis=-1)


def lyapunov() -> np.ndarray:
    """Return the covariance of the relative coordinates, from matrices written by hand."""
    to_place = np.tril(np.ones((3, 3)))  # places of the carts, from relative coordinates
    M = to_place.T @ np.diag(MASSES) @ to_place
    A = np.zeros((6, 6))
    A[:3, 3:] = np.eye(3)
    A[3:] = -np.linalg.solve(M, np.hstack([np.diag(STIFFNESS), np.diag(DAMPING)]))
    B = np.concatenate([np.zeros(3), np.linalg.solve(M, [0.0, 0.0, 1.0])])
    return solve_continuous_lyapunov(A, -DENSITY * np.outer(B, B))
