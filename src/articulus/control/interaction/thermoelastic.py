"""Coupled transient motion and heat: structure and temperatures solved in turn, stable for every step.

M q'' + D q' + K q - C theta = f,  Q theta' + H theta + theta0 C' q' = r. Park, in the final report of NASA grant NAG 9-574 (1993),
eqs. 9.62-9.69: the temperature equation takes the velocity from the equation of motion instead of predicting it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from articulus.errors import InputError
from articulus.structure import Structure
from articulus.structure.heat import Heat


@dataclass(frozen=True, eq=False)
class Thermoelastic:
    """A structure whose temperatures and displacements act on each other, advanced in turn by a fixed step.

    Parameters
    ----------
    M, D, K : arrays or sparse arrays, (n, n)
        Mass, damping, stiffness.
    C : array or sparse array, (n, k)
        Forces for unit temperatures (thermal expansion).
    Q, H : arrays or sparse arrays, (k, k)
        Heat capacity, conduction.
    theta0 : float [K]
        Reference temperature.
    step : float [s]
    """

    M: Any
    D: Any
    K: Any
    C: Any
    Q: Any
    H: Any
    theta0: float
    step: float

    @staticmethod
    def of(structure: Structure, heat: Heat, theta0: float, step: float) -> Thermoelastic:
        """Return the equations of a structure and its heat."""
        assert structure.D is not None
        return Thermoelastic(structure.M, structure.D, structure.K, heat.C, heat.Q, heat.H, theta0, step)

    def __post_init__(self) -> None:
        for name in ("M", "D", "K", "C", "Q", "H"):
            value = getattr(self, name)
            object.__setattr__(
                self, name, sp.csc_array(value if sp.issparse(value) else np.asarray(value, float))
            )
        n, k = self.C.shape
        for name, shape in {"M": (n, n), "D": (n, n), "K": (n, n), "Q": (k, k), "H": (k, k)}.items():
            if getattr(self, name).shape != shape:
                raise InputError(
                    f"thermoelastic, {name}: found shape {getattr(self, name).shape}; expected {shape}, as C is {n} x {k}"
                )
        if not 0.0 < self.step < np.inf:
            raise InputError(f"thermoelastic: found step {self.step}; expected a number above 0")

    @cached_property
    def _factors(self) -> tuple[Any, Any, Any]:
        """Return the factors for the velocity, the displacements and the temperatures at the middle of a step."""
        d = 0.5 * self.step
        damped = splu((self.M + d * self.D).tocsc())
        coupling = self.C.T @ damped.solve(self.C.toarray())
        heat = splu((self.Q + d * self.H + d * d * self.theta0 * sp.csc_array(coupling)).tocsc())
        return damped, splu((self.M + d * self.D + d * d * self.K).tocsc()), heat

    def advance(
        self, q: np.ndarray, v: np.ndarray, theta: np.ndarray, f: Any = 0.0, r: Any = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (q, v, theta) a step later; f and r are load and heat source at the middle of the step (eqs. 9.67-9.69)."""
        d = 0.5 * self.step
        damped, moved, heat = self._factors
        pull = self.C.T @ damped.solve(self.M @ v + d * (f - self.K @ q))
        middle = heat.solve(d * np.broadcast_to(r, theta.shape) + self.Q @ theta - d * self.theta0 * pull)
        half = moved.solve(d * d * (f + self.C @ middle) + self.M @ (q + d * v) + d * (self.D @ q))
        return 2 * half - q, 2 * (half - q) / d - v, 2 * middle - theta

    def run(
        self,
        t_end: float,
        q0: Any,
        v0: Any,
        theta_start: Any,
        load: Callable[[float], Any] | None = None,
        heat: Callable[[float], Any] | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return times (k,), displacements and velocities (k, n), temperatures (k, m), from the given start.

        `load` and `heat` are functions of t [s], taken at the middle of each step.
        """
        steps = round(t_end / self.step)
        if steps < 1 or abs(steps * self.step - t_end) > 1e-9 * t_end:
            raise InputError(
                f"thermoelastic: found t_end {t_end:g} s; expected a whole number of steps of {self.step:g} s"
            )
        q, v, theta = (np.asarray(x, dtype=float) for x in (q0, v0, theta_start))
        rows = [(q, v, theta)]
        for k in range(steps):
            middle = (k + 0.5) * self.step
            f = 0.0 if load is None else np.asarray(load(middle), dtype=float)
            r = 0.0 if heat is None else np.asarray(heat(middle), dtype=float)
            q, v, theta = self.advance(q, v, theta, f, r)
            rows.append((q, v, theta))
        found = [np.array(x) for x in zip(*rows)]
        return self.step * np.arange(steps + 1), found[0], found[1], found[2]
