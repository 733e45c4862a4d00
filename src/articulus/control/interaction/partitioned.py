"""Control-structure interaction in parts: structure, filter and controller are separate second-order solutions.

Structure M q'' + D q' + K q = f + B u, sensors z = H q + H_rate q' + v, Kalman filter with gains L1 (displacements) and L2
(velocities), command u = -F1 qh - F2 qh'. With the momenta p = M q' + D q both structure and filter need nothing but the solution
with the one matrix M + d D + d^2 K, d = h/2, of the mid-point rule; command and innovation at the middle of the step follow from
a small system in which the momenta are eliminated (the stabilized form). Park, Alvin and Belvin, in the final report of NASA
grant NAG 9-574 (1993), eqs. 17, 25-27, 35-40; Park, there, eqs. 9.35-9.59.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse.linalg import splu

from articulus.errors import InputError, NumericalError, doubtful
from articulus.linear import SecondOrder
from articulus.simulation.results.signal import Signal

Load = Callable[[float], Any] | None
GROWN = 10.0
"""Measurements at the end over those of the first half, from which a run with a step beyond the limit is doubted."""
LARGEST = 1600
"""Size of the map of a step up to which its eigenvalues are computed."""


@dataclass(frozen=True, eq=False)
class PartitionedRun:
    """Motion of a structure under partitioned control.

    Parameters
    ----------
    t : array, (k,) [s]
    u, z, innovation : array, (k, m), (k, p), (k, p)
        Commands and innovations at the middle of the step that ends at t (zero at the start), measurements at t.
    q, v : array, (n,)
        At the end; of all degrees of freedom.
    estimate : two arrays, (n,), or None
        Displacements and velocities of the filter at the end; None without a filter.
    outputs, inputs : tuple of str
        Names of the columns of z and u.
    """

    t: np.ndarray
    u: np.ndarray
    z: np.ndarray
    innovation: np.ndarray
    q: np.ndarray
    v: np.ndarray
    estimate: tuple[np.ndarray, np.ndarray] | None
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def signals(self) -> dict[str, Signal]:
        """Return commands and measurements as signals with names."""
        held = {
            "u": (self.u, self.inputs),
            "z": (self.z, self.outputs),
            "innovation": (self.innovation, self.outputs),
        }
        return {name: Signal(name, values, labels, "-") for name, (values, labels) in held.items()}


@dataclass(frozen=True, eq=False)
class Partitioned:
    """A structure with its controller and filter as separate second-order solutions, advanced by a fixed step.

    Parameters
    ----------
    structure : Structure, Reduction or articulus.linear.SecondOrder
        With inputs (actuators) and, for a filter, outputs (sensors).
    step : float [s]
    F1, F2 : array, (m, n)
        Gains of displacements and velocities: u = -F1 q - F2 q'; `lqr` on the first-order form gives (F1, F2), `modal_gains` those
        of a few modes of a large structure.
    L1, L2 : array, (n, p)
        Gains of the filter on displacements and velocities; L1 = 0 is the second-order observer. Not given: the state itself is fed
        back.
    sampled : bool
        Command and innovation are those of the start of the step, held through it: a digital controller with this period. False:
        they are those of the middle of the step, as of a continuous controller.
    predictor : str
        "linear": displacements at the middle of the step for the small system are q + d q', with the correction L1 of the filter
        in q'; second order. "last": they are q (eq. 35).
    """

    structure: Any
    step: float
    F1: Any
    F2: Any
    L1: Any = None
    L2: Any = None
    sampled: bool = False
    predictor: str = "linear"

    def __post_init__(self) -> None:
        held = SecondOrder.of(self.structure)
        object.__setattr__(self, "structure", held)
        (n, m), p = held.B.shape, len(held.H)
        if not 0.0 < self.step < np.inf:
            raise InputError(f"partitioned: found step {self.step}; expected a number above 0")
        if self.predictor not in ("linear", "last"):
            raise InputError(f"partitioned: found predictor '{self.predictor}'; expected 'linear' or 'last'")
        if (self.L1 is None) and (self.L2 is not None):
            object.__setattr__(self, "L1", np.zeros((n, p)))
        if (self.L1 is None) != (self.L2 is None):
            raise InputError(
                "partitioned: found L1 without L2; expected both gains of the filter, or L2 alone"
            )
        shapes = {"F1": (m, n), "F2": (m, n)} | ({} if self.L2 is None else {"L1": (n, p), "L2": (n, p)})
        for name, shape in shapes.items():
            value = np.asarray(getattr(self, name), dtype=float)
            if value.shape != shape or not np.isfinite(value).all():
                raise InputError(
                    f"partitioned, {name}: found shape {value.shape}; expected finite numbers of shape {shape}"
                )
            object.__setattr__(self, name, value)

    # gains on displacements and momenta: x2 = M q' + D q, so that F2 q' = F2 M^-1 (x2 - D q)

    @cached_property
    def _mass(self) -> Any:
        try:
            return splu(self.structure.M)
        except RuntimeError as error:
            raise InputError(
                "partitioned: found a singular mass matrix: some degrees of freedom carry no mass; condense them (guyan) first"
            ) from error

    @cached_property
    def _matrix(self) -> Any:
        s, d = self.structure, 0.5 * self.step
        whole = (s.M + d * s.D + d * d * s.K).tocsc()
        return splu(whole, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def _on_momenta(self, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        solved = self._mass.solve(second.T, "T").T
        return first - (self.structure.D.T @ solved.T).T, solved

    @cached_property
    def _feedback(self) -> tuple[np.ndarray, np.ndarray]:
        return self._on_momenta(self.F1, self.F2)

    @cached_property
    def _sensors(self) -> tuple[np.ndarray, np.ndarray]:
        return self._on_momenta(self.structure.H, self.structure.H_rate)

    @cached_property
    def _gains(self) -> tuple[np.ndarray, np.ndarray]:
        """Gains of the filter on displacements and momenta (M L1 + d Lb2 is what eq. 25 needs besides)."""
        s = self.structure
        return s.M @ self.L1, s.M @ self.L2 + s.D @ self.L1

    @cached_property
    def _small(self) -> tuple[np.ndarray, ...]:
        """Return what the small system needs: rows on predicted displacements, and the inverses of its two blocks.

        The innovation comes first: command and load move structure and filter alike and cancel in it.
        """
        s, d = self.structure, 0.5 * self.step
        Z1, Z2 = self._feedback
        on_q = Z1 - d * (s.K.T @ Z2.T).T
        command = np.linalg.inv(np.eye(len(Z1)) + d * Z2 @ s.B)
        if self.L2 is None:
            return on_q, command
        H1, H2 = self._sensors
        sensed = H1 - d * (s.K.T @ H2.T).T
        on_rates, on_momenta = self._ahead * self.L1, d * self._gains[1]
        inverse = np.linalg.inv(np.eye(len(H1)) + H2 @ on_momenta + sensed @ on_rates)
        return on_q, command, sensed, inverse, Z2 @ on_momenta + on_q @ on_rates

    @property
    def _ahead(self) -> float:
        """Time by which displacements are predicted [s]."""
        return 0.5 * self.step if self.predictor == "linear" else 0.0

    def _between(self, h: _Half, f: Any, w: Any, v: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return command and innovation of the step; f is known to the filter, w is not, v is the error of the sensors."""
        d = 0.5 * self.step
        Z1, Z2 = self._feedback
        p = len(self.structure.H)
        q, rate, momentum = h.q[:, -1], h.v[:, -1], h.p[:, -1]  # what the controller knows
        if self.sampled:
            u = -Z1 @ q - Z2 @ momentum
            if self.L2 is None:
                return u, np.zeros(p)
            H1, H2 = self._sensors
            return u, H1 @ (h.q[:, 0] - q) + H2 @ (h.p[:, 0] - momentum) + v
        ahead = self._ahead
        on_q, command, *filtered = self._small
        predicted = q + ahead * rate
        right = -on_q @ predicted - Z2 @ (momentum + d * f)
        if self.L2 is None:
            return command @ (right - d * Z2 @ w), np.zeros(p)
        sensed, inverse, crossed = filtered
        ahead_of = h.q[:, 0] + ahead * h.v[:, 0] - predicted
        innovation = inverse @ (sensed @ ahead_of + self._sensors[1] @ (h.p[:, 0] - momentum + d * w) + v)
        return command @ (right - crossed @ innovation), innovation

    def _advance(self, h: _Half, force: np.ndarray, innovation: np.ndarray) -> _Half:
        """Return displacements, velocities and momenta a step later (eqs. 25, 26, 40); structure and filter are solved at once."""
        s, d = self.structure, 0.5 * self.step
        if self.L2 is not None:
            force[:, 1] += self._gains[1] @ innovation
        right = s.M @ h.q + d * h.p + d * d * force
        if self.L2 is not None:
            right[:, 1] += d * (self._gains[0] @ innovation)
        middle = self._matrix.solve(right)
        momentum = h.p + d * (force - s.K @ middle)
        rate = (middle - h.q) / d
        if self.L2 is not None:
            rate[:, 1] -= self.L1 @ innovation
        return _Half(2 * middle - h.q, 2 * rate - h.v, 2 * momentum - h.p)

    def _start(self, *states: tuple[Any, Any]) -> _Half:
        """Return the start from displacements and velocities of the structure, and of the filter if there is one."""
        s = self.structure
        columns = []
        for q, v in states:
            q0, v0 = (np.zeros(s.count) if x is None else np.asarray(x, dtype=float) for x in (q, v))
            if q0.shape != (s.count,) or v0.shape != (s.count,):
                raise InputError(
                    f"partitioned: found q0, v0 of shapes {q0.shape}, {v0.shape}; expected ({s.count},)"
                )
            columns.append((q0, v0))
        q0, v0 = (np.column_stack(x) for x in zip(*columns))
        return _Half(q0, v0, s.M @ v0 + s.D @ q0)

    def run(
        self,
        t_end: float,
        q0: Any = None,
        v0: Any = None,
        *,
        load: Load = None,
        disturbance: Load = None,
        noise: Any = None,
        estimate: tuple[Any, Any] | None = None,
    ) -> PartitionedRun:
        """Return the motion from displacements q0 and velocities v0, zero if not given.

        Parameters
        ----------
        t_end : float [s]
            A whole number of steps.
        q0, v0 : array, (n,)
        load, disturbance : function of t [s] to (n,)
            Forces on the degrees of freedom at the middle of a step; the filter knows the load, not the disturbance.
        noise : array, (steps, p)
            Errors of the sensors.
        estimate : two arrays, (n,)
            Displacements and velocities that the filter starts from; zero if not given.
        """
        steps = round(t_end / self.step)
        if steps < 1 or abs(steps * self.step - t_end) > 1e-9 * t_end:
            raise InputError(
                f"partitioned: found t_end {t_end:g} s; expected a whole number of steps of {self.step:g} s"
            )
        s, p = self.structure, len(self.structure.H)
        errors = np.zeros((steps, p)) if noise is None else np.asarray(noise, dtype=float)
        if errors.shape != (steps, p):
            raise InputError(f"partitioned, noise: found shape {errors.shape}; expected ({steps}, {p})")
        h = self._start((q0, v0), *([] if self.L2 is None else [estimate or (None, None)]))
        u, z, gamma = np.zeros((steps + 1, s.B.shape[1])), np.zeros((steps + 1, p)), np.zeros((steps + 1, p))
        z[0] = s.H @ h.q[:, 0] + s.H_rate @ h.v[:, 0]
        blank = np.zeros(s.count)
        for k in range(steps):
            middle = (k + 0.5) * self.step
            f = blank if load is None else np.asarray(load(middle), dtype=float)
            w = blank if disturbance is None else np.asarray(disturbance(middle), dtype=float)
            u[k + 1], gamma[k + 1] = self._between(h, f, w, errors[k])
            push = f + s.B @ u[k + 1]
            h = self._advance(h, np.column_stack([push + w, push][: h.q.shape[1]]), gamma[k + 1])
            z[k + 1] = s.H @ h.q[:, 0] + s.H_rate @ h.v[:, 0]
        t = self.step * np.arange(steps + 1)
        last = None if self.L2 is None else (h.q[:, 1], h.v[:, 1])
        result = PartitionedRun(t, u, z, gamma, h.q[:, 0], h.v[:, 0], last, s.inputs, s.outputs)
        self._judge(result)
        return result

    def _judge(self, run: PartitionedRun) -> None:
        if not all(np.isfinite(x).all() for x in (run.u, run.z, run.q, run.v)):
            raise NumericalError(
                f"partitioned: the motion grew beyond all numbers; {self._why()}", result=run
            )
        k = len(run.t)
        early, late = (
            np.abs(run.z[: k // 2 + 1]).max(initial=0.0),
            np.abs(run.z[-(k // 10) - 1 :]).max(initial=0.0),
        )
        if self.step > self.step_limit and late > GROWN * early > 0.0:
            doubtful(f"partitioned: the motion grows {late / early:.3g} times; {self._why()}")

    def _why(self) -> str:
        return f"step {self.step:g} s, source's limit {self.step_limit:.4g} s; likely a step too long for the frequency of the controller"

    @cached_property
    def step_limit(self) -> float:
        """Step below which the continuous partition is stable, by the frequencies of the feedback alone [s].

        h < 2 / |s|, with the largest s of det(s^2 I + s F2 M^-1 B + F1 M^-1 B) = 0 (eqs. 41, 42, in the reading that has the right
        dimension); 2 / (sqrt(eta) w_c) for displacement feedback (eq. 9.58). With velocity feedback it is on the safe side.
        """
        s = self.structure
        solved = self._mass.solve(s.B)
        m = s.B.shape[1]
        block = np.block([[np.zeros((m, m)), np.eye(m)], [-self.F1 @ solved, -self.F2 @ solved]])
        largest = max(np.abs(np.linalg.eigvals(block)), default=0.0)
        return np.inf if largest == 0.0 else 2.0 / float(largest)

    def spectral_radius(self) -> float:
        """Return the spectral radius of the map of a step: the partition is stable if it is at most 1.

        Of full matrices: for structures of up to some hundred degrees of freedom; a reduction of a larger one tells as much.
        """
        size = (2 if self.L2 is None else 4) * self.structure.count
        if size > LARGEST:
            raise InputError(
                f"spectral_radius: found a map of size {size}; expected at most {LARGEST}: take a reduction of the structure, or `step_limit`"
            )
        return float(np.abs(np.linalg.eigvals(np.array([self._apply_step(e) for e in np.eye(size)]))).max())

    def _apply_step(self, x: np.ndarray) -> np.ndarray:
        """Return displacements and velocities after a step from those before it, of structure and filter."""
        s, n = self.structure, self.structure.count
        x = np.asarray(x, dtype=float).ravel()
        h = self._start(
            *[
                (x[2 * k * n : (2 * k + 1) * n], x[(2 * k + 1) * n : (2 * k + 2) * n])
                for k in range(len(x) // (2 * n))
            ]
        )
        blank = np.zeros(n)
        u, gamma = self._between(h, blank, blank, np.zeros(len(s.H)))
        after = self._advance(h, np.column_stack([s.B @ u] * h.q.shape[1]), gamma)
        return np.concatenate([part[:, k] for k in range(h.q.shape[1]) for part in (after.q, after.v)])


@dataclass(frozen=True, eq=False)
class _Half:
    """Displacements, velocities M^-1 (p - D q) and momenta p, (n, 1 or 2): of the structure, and of the filter."""

    q: np.ndarray
    v: np.ndarray
    p: np.ndarray


def modal_gains(structure: Any, shapes: Any, gain: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return (F1, F2) of a structure from a gain on the coordinates and rates of some modes, u = -gain (eta, eta').

    Parameters
    ----------
    structure : Structure, Reduction or articulus.linear.SecondOrder
    shapes : array, (n, k)
        Modes with unit modal mass: eta = shapes' M q.
    gain : array, (m, 2 k)
    """
    pick = np.asarray(shapes).T @ SecondOrder.of(structure).M
    first, second = np.hsplit(np.asarray(gain, dtype=float), 2)
    return first @ pick, second @ pick


def modal_filter(shapes: Any, gain: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return (L1, L2) of a structure from the filter gain (2 k, p) on the coordinates and rates of some modes."""
    first, second = np.vsplit(np.asarray(gain, dtype=float), 2)
    return np.asarray(shapes) @ first, np.asarray(shapes) @ second
