"""Seven revolute joints, rolls and pitches in turn: the printed linear model, and laws of arms whose links lie in one plane."""

import numpy as np

import articulus as art
from articulus.linear import SecondOrder

PRINTED = np.array([
    [15.737, 0, -1.607, 0, -0.1451, 0, -0.18e-8],
    [0, 15.228, 0, 2.8549, 0, -0.3485, 0],
    [0.41697, 0, 9.2375, 0, -0.4480, 0, -0.13e-7],
    [0, -11.44, 0, -6.361, 0, 0.5637, 0],
    [-29.11, 0, 3.711, 0, 21.533, 0, 0.93e-7],
    [0, -5.0345, 0, -13.19, 0, -15.76, 0],
    [14.914, 0, 5.9428, 0, -25.38, 0, -0.58e-7],
])  # fmt: skip
"""M^-1 P2 of eq. 39 [1/s^2]."""
ROLLS, PITCHES = slice(0, None, 2), slice(1, None, 2)


def compute() -> dict:
    zero, one = np.zeros((7, 7)), np.eye(7)
    poles = SecondOrder(one, zero, -PRINTED, one).first_order().poles
    squares = np.sort((poles**2).real)[::2]
    arm = planar_arm()
    A = np.asarray(arm.linearize().A)[7:]
    P2 = A[:, :7] / np.abs(A[:, :7]).max()
    mixed = max(np.abs(P2[ROLLS, PITCHES]).max(), np.abs(P2[PITCHES, ROLLS]).max())
    return {
        "printed matrix: squares of the poles of its linear model, rolls and pitches [1/s^2]": squares[::-1],
        "printed matrix: imaginary parts of these squares over the largest of them": np.abs((poles**2).imag).max()
        / np.abs(squares).max(),
        "planar arm: entries of M^-1 P2 between rolls and pitches over the largest": mixed,
        "planar arm: M^-1 P1 [1/s]": np.abs(A[:, 7:]).max(),
        "planar arm: column of the last roll, through the mass center, over the largest entry": np.abs(P2[:, 6]).max(),
        "planar arm: imaginary parts of the eigenvalues of M^-1 P2 over the largest": np.abs(np.linalg.eigvals(P2).imag).max(),
        "planar arm, perturbed by 1e-6: linear beside nonlinear accelerations, 1e-7 to 1e-5 (1 = yes)": 1e-7
        < remainder(arm, A)
        < 1e-5,
    }  # fmt: skip


def planar_arm() -> art.Mechanism:
    """Return an arm in the plane of x and z with random links: rolls about axes in the plane, pitches about y.

    The plane is one of symmetry of every link, and gravity lies in it; the center of mass of the last link is on the axis of its roll.
    """
    rng = np.random.default_rng(7)
    arm = art.Mechanism("planar arm", gravity=(0.0, 0.0, -9.81))
    parent, end = "ground", (0.0, 0.0, 0.0)
    for i in range(1, 8):
        x, z = rng.uniform(0.1, 0.4, 2)
        com = (0.0, 0.0, 0.2) if i == 7 else (0.5 * x, 0.0, 0.6 * z)
        arm.body(f"link{i}", mass=10.0 - i, com=com, inertia=tuple(rng.uniform(0.5, 0.6, 3)))
        axis = (0.0, 0.0, 1.0) if i == 7 else (0.6, 0.0, 0.8) if i % 2 else (0.0, 1.0, 0.0)
        arm.joint(f"joint{i}", art.Revolute(axis), parent, f"link{i}", at=end)
        parent, end = f"link{i}", (float(x), 0.0, float(z))
    return arm


def remainder(arm: art.Mechanism, A: np.ndarray) -> float:
    """Return eq. 40: what the linear model misses of the change of the accelerations, relative, for a change of all states by 1e-6."""
    x = np.full(14, 1e-6)
    rest = arm.gravity(np.zeros(7))
    true = arm.forward_dynamics(x[:7], x[7:], rest) - arm.forward_dynamics(0 * x[:7], 0 * x[7:], rest)
    return float(np.linalg.norm(A @ x - true) / np.linalg.norm(true))
