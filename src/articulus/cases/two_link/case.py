"""Two-link arm hanging at rest: the linear model, and the decoupling regulator built on it."""

import casadi as ca
import numpy as np

import articulus as art

ORDER = [1, 0]  # the paper lists theta 2 first
DAMPING, FREQUENCY = 0.7, 2.0


def compute() -> dict:
    arm = art.load("two_link")
    model = arm.linearize()
    A21 = np.asarray(model.A)[2:, :2][np.ix_(ORDER, ORDER)]
    B2 = -np.asarray(model.B)[2:][np.ix_(ORDER, ORDER)]  # the paper counts torques the other way round
    return {
        "A21: d theta2'' / d theta2 [1/s^2]": A21[0, 0],
        "A21: the other three entries [1/s^2]": [A21[0, 1], A21[1, 0], A21[1, 1]],
        "A22 [1/s]": np.asarray(model.A)[2:, 2:],
        "B2 [rad/s^2 per N m]": B2,
        "natural frequencies [rad/s]": np.sqrt(np.sort(-np.linalg.eigvals(A21).real)[::-1]),
        **regulator(arm, A21),
        "seven joints: recursive less perturbed linear model, relative": derivative_error(art.load("rrc7")),
    }


def regulator(arm: art.Mechanism, A21: np.ndarray) -> dict:
    """Return the gains that give every joint x'' + 2 xi w x' + w^2 x = 0: K_P = M w^2 + P2, K_V = M 2 xi w + P1."""
    M = arm.mass_matrix(np.zeros(2))[np.ix_(ORDER, ORDER)]
    position = M * FREQUENCY**2 + M @ A21
    velocity = M * 2 * DAMPING * FREQUENCY
    poles = closed_loop(arm, position, velocity)
    return {
        "regulator, K_P (xi = 0.7, w = 2 rad/s) [N m/rad]": position,
        "regulator, K_V (xi = 0.7, w = 2 rad/s) [N m s/rad]": velocity,
        "regulator, real parts of the poles [1/s]": np.sort(poles.real),
        "regulator, imaginary parts of the poles [1/s]": np.sort(poles.imag),
    }


def closed_loop(arm: art.Mechanism, position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Return the poles of the arm itself under u = -K_P q - K_V v, from a run at rest."""
    q, v = ca.SX.sym("q", 2), ca.SX.sym("v", 2)
    K_P, K_V = (ca.DM(K[np.ix_(ORDER, ORDER)]) for K in (position, velocity))
    law = ca.Function("law", [q, v], [-ca.mtimes(K_P, q) - ca.mtimes(K_V, v)], ["q", "v"], ["u"])
    return np.linalg.eigvals(art.simulate(arm, 1e-3, controller=law, step=1e-3).linearize().A)


def derivative_error(arm: art.Mechanism) -> float:
    """Return the largest difference of analytic and central-difference derivatives, relative to the largest entry."""
    q = np.linspace(0.3, -0.6, arm.nq)
    v, tau, step = 0.5 * q[::-1], arm.gravity(q), 1e-5
    analytic = np.hstack(arm.derivatives(q, v, tau)[:2])
    shifts = step * np.eye(2 * arm.nv)
    x = np.concatenate([q, v])

    def rate(x: np.ndarray) -> np.ndarray:
        return arm.forward_dynamics(x[:, : arm.nq], x[:, arm.nq :], tau)

    difference = (rate(x + shifts) - rate(x - shifts)).T / (2 * step)
    return float(np.abs(difference - analytic).max() / np.abs(analytic).max())
