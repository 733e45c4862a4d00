"""Cost of a structure with its best controller, LQR or LQG, with exact derivatives by the sizes.

J = lim E[x' D0 x + u' R u] of x' = A x + B u + E w + v, y = C1 x + n: with state feedback tr P (E E' + V), with an estimator
tr P (E E' + V) + tr Pf P B R^-1 B' P. D0 = outputs' W outputs + D1, to which energies q'K q + r'M r may be added. Its derivatives come
from adjoint Lyapunov equations of the two Riccati equations. Source: Salama et al. 1989, sections 2, 3 (R^-1 of the compensator, V in
eq. 3.10b and eq. 3.10c, which are missing there, are added).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from articulus.design.sized_structure import SizedPlant, SizedStructure
from articulus.errors import InputError
from articulus.numerics.lyapunov import Lyapunov, one_thread
from articulus.numerics.riccati import care


@dataclass(frozen=True, eq=False)
class RegulatorCost:
    """What a controller costs.

    Parameters
    ----------
    effort : array, (controls, controls)
        R, positive definite.
    outputs : array, (outputs, outputs)
        W on the outputs of the structure; none if not given.
    energy : float
        Weight of twice the total energy, r'K r + r'' M r'.
    state : array, (2n, 2n)
        D1, on the state.
    noise : array, (2n, 2n)
        V: intensity of white noise on the state, beside the disturbances of the structure.
    sensors : array, (sensors, 2n)
        C1: what an estimator reads. Without it the state is known (LQR).
    sensor_noise : array, (sensors, sensors)
        Intensity of the white noise of the sensors.
    """

    effort: np.ndarray
    outputs: np.ndarray | None = None
    energy: float = 0.0
    state: np.ndarray | None = None
    noise: np.ndarray | None = None
    sensors: np.ndarray | None = None
    sensor_noise: np.ndarray | None = field(default=None)

    def __post_init__(self) -> None:
        if (self.sensors is None) != (self.sensor_noise is None):
            raise InputError("regulator cost: sensors and sensor_noise belong together; found one of them")

    def at(self, structure: SizedStructure, sizes: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the cost and its derivatives by the sizes, (sizes,)."""
        plant = structure.plant(sizes)
        with one_thread():
            return self._state_feedback(plant) if self.sensors is None else self._with_estimator(plant)

    def weight(self, plant: SizedPlant) -> np.ndarray:
        """Return D0, (2n, 2n)."""
        n = plant.structure.count
        out = np.zeros((2 * n, 2 * n)) if self.state is None else np.array(self.state, dtype=float)
        if self.outputs is not None:
            out += plant.C.T @ self.outputs @ plant.C
        out[:n, :n] += self.energy * plant.K
        out[n:, n:] += self.energy * plant.M
        return out

    def _intensity(self, plant: SizedPlant) -> np.ndarray:
        return plant.E @ plant.E.T + (0.0 if self.noise is None else self.noise)

    def _state_feedback(self, plant: SizedPlant) -> tuple[float, np.ndarray]:
        control = care(plant.A, plant.B, self.weight(plant), self.effort)
        P, gain, W = control.X, control.gain, self._intensity(plant)
        Z = Lyapunov(control.closed).solve(W)
        return float(np.vdot(P, W)), self._slopes(plant, Z, P, gain, 0.0, 2 * P @ plant.E)

    def _with_estimator(self, plant: SizedPlant) -> tuple[float, np.ndarray]:
        """tr P W + tr Pf S with S = K'R K; K = R^-1 B'P, Kf = Pf C1' Qw^-1."""
        control = care(plant.A, plant.B, self.weight(plant), self.effort)
        W = self._intensity(plant)
        sensors = np.asarray(self.sensors, dtype=float)
        estimate = care(plant.A.T, sensors.T, W, np.asarray(self.sensor_noise, dtype=float))
        P, gain, Pf = control.X, control.gain, estimate.X
        S = gain.T @ self.effort @ gain
        Z2 = Lyapunov(estimate.closed).solve(S)  # (A - Kf C1)' Z2 + Z2 (A - Kf C1) + S = 0
        through = plant.B @ gain @ Pf  # d tr Pf P B R^-1 B' P by P
        Z1 = Lyapunov(control.closed).solve(W + through + through.T)
        by_B = 2 * P @ Pf @ gain.T  # of tr Pf S with P held
        slopes = self._slopes(plant, Z1, P, gain, by_B, 2 * (P + Z2) @ plant.E, 2 * Z2 @ Pf)
        return float(np.vdot(P, W) + np.vdot(Pf, S)), slopes

    def _slopes(
        self,
        plant: SizedPlant,
        Z: np.ndarray,
        P: np.ndarray,
        gain: np.ndarray,
        by_B: np.ndarray | float,
        by_E: np.ndarray,
        by_A: np.ndarray | float = 0.0,
    ) -> np.ndarray:
        """Return what Z, the adjoint of the Riccati equation of the control, gives, and what is added to it."""
        n, PZ = plant.structure.count, P @ Z
        M, K = self.energy * Z[n:, n:], self.energy * Z[:n, :n]
        return plant.slopes(2 * PZ + by_A, by_B - 2 * PZ @ gain.T, by_E, M, K)
