"""Slow adaptation of two parameters whose error signal lags behind the regressor: what averaging says, and what a run does."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from articulus.control.robust.averaging import attraction_region, average_stability

TRUE = np.array([0.7, -0.4])
SAMPLES = 12


def law(lag: float) -> Callable[[Any, Any], np.ndarray]:
    """Return the adaptation law -phi phi_lag' (x - x*) with phi = (sin t, cos t)."""

    def f(t: Any, x: Any) -> np.ndarray:
        phi, late = np.array([np.sin(t), np.cos(t)]), np.array([np.sin(t - lag), np.cos(t - lag)])
        return -phi * (late @ (np.asarray(x) - TRUE))

    return f


def compute() -> dict:
    lag = np.radians(50.0)
    found = average_stability(law(lag), 2 * np.pi, [0.0, 0.0])
    sampled = average_stability(
        lambda k, x: law(lag)(2 * np.pi * k / SAMPLES, x), SAMPLES, [0.0, 0.0], discrete=True
    )
    late = average_stability(law(np.radians(100.0)), 2 * np.pi, [0.0, 0.0])
    gain = 0.02
    run = solve_ivp(
        lambda t, x: gain * law(lag)(t, x), (0, 100 * 2 * np.pi), np.zeros(2), rtol=1e-9, atol=1e-12
    )
    decay = np.log(np.linalg.norm(run.y[:, -1] - TRUE) / np.linalg.norm(TRUE)) / (run.t[-1] * gain)
    return {
        "averaged equilibrium": found.equilibrium,
        "averaged rates, error signal 50 deg late: real part and size of the imaginary part": [found.rates.real[0], np.abs(found.rates.imag).max()],
        "largest gain of the sampled law by averaging": sampled.largest_gain,
        "error signal 100 deg late: stable (0 = no)": float(late.stable),
        "all of four starts lead to the equilibrium (1 = yes)": bool(attraction_region(law(lag), 2 * np.pi, found, [[3, 0], [0, 3], [-3, 1], [1, -3]]).all()),
        "run with gain 0.02: decay over the gain": decay,
    }  # fmt: skip
