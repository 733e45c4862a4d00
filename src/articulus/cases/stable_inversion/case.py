"""A plant of four states that is not minimum-phase: its inverse, previews cut short, and the regulator beside it."""

import casadi as ca
import numpy as np
from casadi import SX
from scipy.integrate import solve_ivp

from articulus.motion.inversion import Inversion, NonlinearSystem, stable_inversion
from articulus.motion.inversion.stable import Regulator, forward_run, normal_form, regulator

END = 2 * np.pi
PREVIEWS = (2.0, 3.0, 5.0, 8.0)
PRINTED, SMALL = 2.0, 0.2
"""Amplitudes: printed, and one at which the open loop is bounded."""


def plant() -> NonlinearSystem:
    """Return the printed plant."""
    x = SX.sym("x", 4)
    f = ca.vertcat(-x[0] + x[1], -3 * x[1] + x[0] ** 3, x[0] - 2 * x[2], -x[3] + x[2] ** 2)
    g = ca.vertcat(0, 2 + ca.sin(x[3]) ** 2, 0, 0)
    return NonlinearSystem(x, f, g, x[0] - 3 * x[2], name="Chen and Paden's plant")


def inverse(amplitude: float, method: str = "collocation", tolerance: float = 1e-10) -> Inversion:
    """Return the inverse for amplitude (1 - cos t), from 0 to 2 pi; x3 and x4 are the internal coordinates."""
    system, t = plant(), SX.sym("t")
    goal = (t, amplitude * (1 - ca.cos(t)))
    return stable_inversion(system, goal, method, t0=0.0, t_end=END, eta=system.x[2:], tolerance=tolerance)


def compute() -> dict:
    system = plant()
    form = normal_form(system, np.zeros(4))
    found, swept, small = inverse(PRINTED), inverse(PRINTED, "picard"), inverse(SMALL)
    at = {name: _at(found, t) for name, t in (("0", 0.0), ("pi", np.pi), ("pi/2", np.pi / 2))}
    early = found.figures["eta"][found.t < 0]
    open_loop = [forward_run(system, small, t0=-p, t_end=8.0, rtol=1e-7).error for p in PREVIEWS]
    diverged = [forward_run(system, found, t0=-p, t_end=6.0, rtol=1e-7).diverged or np.inf for p in PREVIEWS]
    tracked = forward_run(system, found, "lqr", t0=-14.0, t_end=7.0, rtol=1e-7)
    manifold = output_regulator(system)
    off, after = transients(system, manifold, SMALL)
    return {
        "relative degree": form.relative_degree,
        "zeros [1/s]": found.figures["zeros"].real,
        "eta1 and eta2 at t = 0": at["0"][0][2:],
        "states at t = pi": at["pi"][0],
        "u_d at t = pi": at["pi"][1],
        "states at t = pi/2": at["pi/2"][0],
        "u_d at t = pi/2": at["pi/2"][1],
        "states at t = -1": _at(found, -1.0)[0],
        "u_d at t = -1": _at(found, -1.0)[1],
        "largest |u_d|": np.abs(found.inputs).max(),
        "eta1 is its closed form to 1e-9 (1 = yes)": np.abs(_eta1(found.t) - found.state("x.2")).max() < 1e-9,
        "eta2 over eta1^2 before the motion": early[-1, 1] / early[-1, 0] ** 2,
        "Picard's iteration gives the same input to 1e-9 of the largest (1 = yes)": np.abs(
            swept.inputs - found.inputs
        ).max()
        < 1e-9 * np.abs(found.inputs).max(),
        "amplitude 0.2, open loop, preview of 2, 3, 5, 8 s: largest error, over 2.4e-2, 8.8e-3, 1.2e-3, 6.0e-5": open_loop
        / np.array([2.4e-2, 8.8e-3, 1.2e-3, 6.0e-5]),
        "amplitude 2, open loop, preview of 2, 3, 5, 8 s: diverges at [s]": diverged,
        "amplitude 2 with feedback along the motion: error below 1e-5 (1 = yes)": tracked.error < 1e-5,
        "regulator: residual of its equations below 1e-12 for |w_i| up to 1 (1 = yes)": manifold.residual()
        < 1e-12,
        "regulator: coefficients of x1, x2, x3 by w1, w2, w3": _linear(manifold),
        "regulator: coefficients of x4 by w1^2, w2^2, w1 w2, w1 w3, w3^2": _quadratic(manifold),
        "regulator, amplitude 0.2, open loop: largest error up to 2 pi, and after": [off, after],
        "regulator, amplitude 2, open loop: diverges at [s]": transients(system, manifold, PRINTED)[1],
    }


def _at(found: Inversion, t: float) -> tuple[np.ndarray, float]:
    """Return states and input at a time, by cubics between samples 13 ms apart."""
    i = int(np.argmin(np.abs(found.t - t)))
    near = slice(i - 3, i + 4) if abs(found.t[i] - t) > 1e-9 else slice(i, i + 1)
    assert found.states is not None
    rows = np.hstack([found.states, found.inputs])[near]
    weights = [
        np.prod([(t - b) / (a - b) for b in found.t[near] if b != a], initial=1.0) for a in found.t[near]
    ]
    value = np.array(weights) @ rows
    return value[:4], float(value[4])


def _eta1(t: np.ndarray) -> np.ndarray:
    """Return the bounded solution of eta1' = eta1 + y_d for the printed amplitude."""
    before = (np.exp(-END) - 1) * np.exp(np.minimum(t, 0.0))
    inside = -2 + np.cos(t) - np.sin(t) + np.exp(np.minimum(t, END) - END)
    return np.where(t < 0, before, np.where(t < END, inside, 0.0))


def output_regulator(system: NonlinearSystem) -> Regulator:
    """Return the regulator for w1' = w2, w2' = -w1, w3' = 0, y_d = w3 - w1."""
    w = SX.sym("w", 3)
    return regulator(system, w, ca.vertcat(w[1], -w[0], 0), w[2] - w[0], order=2)


def _linear(found: Regulator) -> np.ndarray:
    return np.array(ca.Function("J", [found.w], [ca.jacobian(found.pi[:3], found.w)])(np.zeros(3)))


def _quadratic(found: Regulator) -> np.ndarray:
    H = np.array(ca.Function("H", [found.w], [ca.hessian(found.pi[3], found.w)[0]])(np.zeros(3)))
    return np.array([H[0, 0] / 2, H[1, 1] / 2, H[0, 1], H[0, 2], H[2, 2] / 2])


def transients(system: NonlinearSystem, found: Regulator, amplitude: float) -> tuple[float, float]:
    """Return the largest errors up to 2 pi and after; where the run diverges, infinity and the time.

    The exosystem is set to (a, 0, a) at 0 and to zero at 2 pi; the plant starts at rest.
    """
    law = ca.Function("u", [found.w], [found.c])
    rest = float(np.array(law(np.zeros(3))).item())

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        w = amplitude * np.array([np.cos(t), -np.sin(t), 1.0])
        return np.array(system.rate(x, law(w) if t < END else rest)).ravel()

    def far(_: float, x: np.ndarray) -> float:
        return 1e4 - np.abs(x).max()

    far.terminal = True  # type: ignore[attr-defined]
    given = {"method": "DOP853", "rtol": 1e-7, "atol": 1e-10, "max_step": 0.05, "events": far}
    first = solve_ivp(rate, (0.0, END), np.zeros(4), **given)
    if first.status == 1:
        return np.inf, float(first.t[-1])
    last = solve_ivp(rate, (END, 14.0), first.y[:, -1], **given)
    y, late = first.y[0] - 3 * first.y[2], last.y[0] - 3 * last.y[2]
    return float(np.abs(y - amplitude * (1 - np.cos(first.t))).max()), float(np.abs(late).max())
