"""The H2-optimal controller of a plant from its sampled frequency responses.

W. H. Bennett 1989, eqs. 2.6-2.17. Over all stable K the controller C = (X - K N_l)^-1 (Y + K D_l) stabilizes, and R = C (I + G_yu C)^-1
= D (Y + K D_l). With T = G_ze + G_zu D Y G_ye, Lam* Lam = D* G_zu* Q G_zu D and Om Om* = D_l Phi_yy D_l* the least mean square is at

    K = -Lam^-1 {Lam*^-1 D* G_zu* Q (Phi_zy + G_zu D Y Phi_yy) D_l* Om*^-1}_+ Om^-1,

which is eq. 2.15 with both projections in one: what is projected is the response of the loop with K = 0, stable also where the plant
has poles on the imaginary axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.control.design import Check
from articulus.control.figure import over_frequency
from articulus.control.plant import as_plant, of_matrices
from articulus.control.sampled_response.grid import FrequencyGrid
from articulus.control.sampled_response.realize import fit_response
from articulus.control.sampled_response.sampled_plant import STABLE, SampledPlant, Samples, samples_of
from articulus.control.sampled_response.spectral import spectral_factor
from articulus.errors import Finding, InputError, NumericalError, doubtful
from articulus.linear import LinearModel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FALLS_OFF = 1e-2
"""Spectrum of the errors at the highest frequency of the grid, over its largest value, beyond which their mean square is not finite."""
VANISHES = 0.05
"""Spectrum in the coordinates of the factors beside a pole on the axis, over that some samples away, below which it vanishes at the pole."""
AWAY = 8
"""How many samples away."""
REFUSED = 10.0
"""Times the share of anticausal terms that is doubted, from which on a closed loop is refused."""
TURN = 2.5
"""Largest change of phase between neighboring frequencies [rad] at which turns can still be counted."""


@dataclass(frozen=True, eq=False)
class Spectra:
    """Spectra of a problem on the grid: P_e of the exogenous inputs, Q the weight of the errors, P of deviations of [y; z] or None."""

    inputs: np.ndarray
    weight: np.ndarray
    deviations: np.ndarray | None


@dataclass(frozen=True, eq=False)
class WienerHopf:
    """A controller as a sampled frequency response.

    Parameters
    ----------
    problem : SampledPlant
    spectra : Spectra
    controller, closed : arrays, (frequencies, m, p)
        C and R = C (I + G C)^-1; the loop is u = C y, y = G_ye e - G u.
    parameter : array, (frequencies, m, p)
        K of eq. 2.6, stable.
    cost : float
        Mean square of the errors with the weight Q.
    open_cost : float
        The same without control; infinite of an unstable plant.
    checks : tuple of Check
        That the closed loop is causal, between every two of its signals.
    """

    problem: SampledPlant
    spectra: Spectra
    controller: np.ndarray
    closed: np.ndarray
    parameter: np.ndarray
    cost: float
    open_cost: float
    checks: tuple[Check, ...]

    @property
    def grid(self) -> FrequencyGrid:
        return self.problem.grid

    @property
    def plant(self) -> np.ndarray:
        """G_yu, (frequencies, p, m)."""
        return self.problem.yu

    def response(self, omega: Any) -> np.ndarray:
        """Return the controller at frequencies (n,) [rad/s] between those of the grid, through causal functions."""
        w = np.atleast_1d(np.asarray(omega, dtype=float))
        f = self.problem.factors
        at = [self.grid.at(x, w) for x in (f.X, f.Y, f.Nl, f.Dl, self.parameter)]
        X, Y, Nl, Dl, K = at
        return np.linalg.solve(X - K @ Nl, Y + K @ Dl)

    def sensitivity(self) -> np.ndarray:
        """Return (I + G C)^-1 = I - G R at the frequencies of the grid."""
        return np.eye(self.plant.shape[1]) - self.plant @ self.closed

    def cost_of(self, controller: Any) -> float:
        """Return the cost with another controller u = C y, a model (see `as_plant`); infinite if the loop is not stable."""
        model = as_plant(controller, "cost_of")
        p, m = self.plant.shape[1:]
        if model.B.shape[1] != p or len(model.C) != m or model.period is not None:
            raise InputError(
                Finding(
                    "cost_of",
                    f"{model.B.shape[1]} inputs, {len(model.C)} outputs",
                    f"a continuous model, {p} and {m}",
                )
            )
        C = model.response(self.grid.omega)
        if self._unstable_poles(C, int(np.count_nonzero(model.poles.real > 0))):
            return np.inf
        return _cost(self.problem, self.spectra, C @ np.linalg.inv(np.eye(p) + self.plant @ C))

    def fit(self, order: int, unstable: int | None = None) -> LinearModel:
        """Return the controller as a continuous model of given order, u = C y; see `cost_of`.

        Parameters
        ----------
        order : int
            Number of its stable poles.
        unstable : int
            Number of its unstable poles; that of the optimal controller if not given.
        """
        turns = self._unstable_poles(self.controller, 0) if unstable is None else -unstable
        found = fit_response(self.controller, self.grid, order, max(-turns, 0))
        best, cost = self.cost, self.cost_of(found)
        if not np.isfinite(cost):
            doubtful(
                f"wiener_hopf: the model of order {len(found.A)} does not stabilize the plant; expected a higher order than {order}"
            )
        elif cost > 2 * best:
            doubtful(
                f"wiener_hopf: with the model of order {len(found.A)} the cost is {cost:.4g}, with the optimal controller {best:.4g}; "
                "expected a higher order"
            )
        return found

    def _unstable_poles(self, C: np.ndarray, of_controller: int) -> int:
        """Return how many poles of the closed loop are unstable: the turns of det(D_l + N_l C) around zero (Nyquist)."""
        f = self.problem.factors
        values = np.linalg.det(f.Dl + f.Nl @ C)
        around = np.r_[
            values, values[:1]
        ]  # infinite frequency lies between the halves, minus and plus zero between the ends
        steps = np.angle(around[1:] / around[:-1])
        if np.abs(steps).max() > TURN:
            w = abs(float(self.grid.omega[int(np.abs(steps).argmax())]))
            doubtful(
                f"wiener_hopf: the loop turns by {np.abs(steps).max():.3g} rad between two frequencies near {w:.4g} rad/s; expected a finer "
                "grid, or a loop that is not so close to instability"
            )
        return of_controller - round(float(steps.sum()) / (2 * np.pi))

    def fir(self, period: float, taps: int) -> LinearModel:
        """Return the controller as a filter of finite impulse response, by frequency sampling (eqs. 5.1, 5.2); sign included, u = C y.

        Parameters
        ----------
        period : float [s]
        taps : int
            Length of the impulse response; frequencies up to pi / period are sampled at multiples of 2 pi / (taps period).
        """
        if not 0 < period < np.inf or taps < 2:
            raise InputError(
                f"fir: found period {period}, {taps} taps; expected a period above 0 and two taps or more"
            )
        if unstable := -self._unstable_poles(self.controller, 0):
            raise InputError(
                f"fir: found a controller with {unstable} unstable poles; expected a stable one, or `fit(order)`"
            )
        half = taps // 2 + 1
        omega = 2 * np.pi * np.arange(half) / (taps * period)
        values = self.response(np.maximum(omega, 1e-9 / period))
        values[0] = values[0].real
        h = np.fft.irfft(values, n=taps, axis=0)
        return _filter(h, period)

    def plot(self) -> Figure:
        """Return a figure of the gains of plant, controller and sensitivity."""
        from matplotlib.figure import Figure

        keep = self.grid.omega > 0
        w = self.grid.omega[keep]
        figure = Figure(figsize=(7, 4), layout="constrained")
        axes = figure.subplots()
        for name, values in (
            ("plant", self.plant),
            ("controller", self.controller),
            ("sensitivity", self.sensitivity()),
        ):
            axes.loglog(w, np.linalg.norm(values[keep], 2, axis=(1, 2)), label=name)
        axes.set_ylabel("largest singular value [-]")
        over_frequency((axes,))
        return figure


def wiener_hopf(
    plant: Samples,
    disturbance: Samples,
    noise: Samples,
    weight: float,
    grid: FrequencyGrid,
    *,
    unstable: LinearModel | int | None = None,
    anticausal: float = STABLE,
) -> WienerHopf:
    """Return the controller with the least mean square of d - G u and sqrt(weight) u, of y = d + n - G u.

    Parameters
    ----------
    plant : function of omega (n,) [rad/s] to (n, p, m) or (n,), or samples on the grid
        Response G(j omega): exact, of a model, or measured.
    disturbance, noise : function of omega, samples, or number
        Spectra Phi_d and Phi_n: (n, p, p), (n,) or a number for all outputs. Phi_d falls off.
    weight : float
        mu, of the commands.
    grid : FrequencyGrid
    unstable, anticausal
        Of a plant that is not stable, and of noisy measurements: see `SampledPlant`.
    """
    G = samples_of(plant, grid, "plant")
    p, m = G.shape[1:]
    if not 0 < weight < np.inf:
        raise InputError(f"wiener_hopf: found weight {weight}; expected a finite number above 0")
    Pd, Pn = (samples_of(x, grid, n, (p, p)) for x, n in ((disturbance, "disturbance"), (noise, "noise")))
    one, none = np.eye(p), np.zeros((p, p))

    def constant(matrix: np.ndarray) -> np.ndarray:
        return np.broadcast_to(matrix, (grid.count, *matrix.shape))

    command = constant(np.sqrt(weight) * np.eye(m))
    problem = SampledPlant(
        grid,
        G,
        constant(np.hstack([one, one])),
        np.concatenate([-G, command], axis=1),
        constant(np.vstack([np.hstack([one, none]), np.zeros((m, 2 * p))])),
        unstable,
        anticausal,
    )
    both = np.zeros((grid.count, 2 * p, 2 * p), dtype=complex)
    both[:, :p, :p], both[:, p:, p:] = Pd, Pn
    return general_wiener_hopf(problem, spectrum=both)


def general_wiener_hopf(
    plant: SampledPlant, *, spectrum: Samples = 1.0, weight: Samples = 1.0, deviations: Samples | None = None
) -> WienerHopf:
    """Return the controller u = C y with the least mean square of the errors z, trace of Q P_z over all frequencies (eq. 2.8).

    Parameters
    ----------
    plant : SampledPlant
        Errors weigh every command at every frequency, and every measured output has noise.
    spectrum : function of omega, samples (n, k, k), a matrix or a number
        P_e of the exogenous inputs: of stationary noise and of transients, eq. 2.10.
    weight : function of omega, samples (n, l, l), a matrix or a number
        Q of the errors.
    deviations : samples, (n, p + l, p + l)
        mu P of eq. 2.11: what deviations of the plant add to the spectrum of [y; z], see `uncertainty_spectrum`.
    """
    grid, f = plant.grid, plant.factors
    p, l, k = plant.yu.shape[1], plant.ze.shape[1], plant.ze.shape[2]
    Pe, Q = samples_of(spectrum, grid, "spectrum", (k, k)), samples_of(weight, grid, "weight", (l, l))
    more = None if deviations is None else samples_of(deviations, grid, "deviations", (p + l, p + l))
    for name, values in (("spectrum", Pe), ("weight", Q), ("deviations", more)):
        _require_semidefinite(values, name)
    spectra = Spectra(Pe, Q, more)
    T12, T21 = plant.zu @ f.D, f.Dl @ plant.ye
    yy, zy = T21 @ Pe @ _h(T21), plant.central @ Pe @ _h(T21)
    if more is not None:
        yy = yy + f.Dl @ more[:, :p, :p] @ _h(f.Dl)
        zy = zy + (more[:, p:, :p] + T12 @ f.Y @ more[:, :p, :p]) @ _h(f.Dl)
    uu = _h(T12) @ Q @ T12
    _require_seen(plant, uu, "no error weighs the commands there")
    _require_seen(plant, yy, "nothing disturbs it and no noise covers it there")
    Lam = _factor(uu, grid, "commands: D* G_zu* Q G_zu D")
    # Om Om* = H is the factor F* F of the conjugate spectrum, read the other way round
    Om = _factor(yy.swapaxes(1, 2), grid, "measured outputs: D_l Phi_yy D_l*").swapaxes(1, 2)
    Lam_i, Om_i = np.linalg.inv(Lam), np.linalg.inv(Om)
    inner = _h(Lam_i) @ _h(T12) @ Q @ zy @ _h(Om_i)
    K = -Lam_i @ grid.strictly_causal(inner) @ Om_i
    R = f.D @ (f.Y + K @ f.Dl)
    C = np.linalg.solve(f.X - K @ f.Nl, f.Y + K @ f.Dl)
    cost = _cost(plant, spectra, R)
    checks = _check_causality(plant, R, K)
    open_cost = np.inf if len(plant.unstable_model.A) else _cost(plant, spectra, np.zeros_like(R))
    return WienerHopf(plant, spectra, C, R, K, cost, open_cost, checks)


def _cost(plant: SampledPlant, spectra: Spectra, R: np.ndarray) -> float:
    """Return the mean square of the errors for a closed-loop R (eq. 2.9)."""
    T = plant.ze + plant.zu @ R @ plant.ye
    Pz = T @ spectra.inputs @ _h(T)
    if spectra.deviations is not None:
        l = plant.ze.shape[1]
        out = np.concatenate([plant.zu @ R, np.broadcast_to(np.eye(l), (plant.grid.count, l, l))], axis=2)
        Pz = Pz + out @ spectra.deviations @ _h(out)
    density = np.trace(spectra.weight @ Pz, axis1=1, axis2=2).real
    top = float(density[np.abs(plant.grid.omega).argmax()])
    if top > FALLS_OFF * density.max():
        raise InputError(
            "wiener_hopf: found errors whose spectrum does not fall off, so that no mean square is finite; expected spectra of disturbances "
            "that fall off, or a larger scale of the grid"
        )
    return float(plant.grid.integral(density).real)


def _factor(H: np.ndarray, grid: FrequencyGrid, what: str) -> np.ndarray:
    try:
        if H.shape[1] == 1:
            return spectral_factor(H[:, 0, 0].real, grid)[0][:, None, None]
        return spectral_factor(0.5 * (H + _h(H)), grid)[0]
    except InputError as error:
        raise error.within(f"wiener_hopf, {what}") from None


def _check_causality(plant: SampledPlant, R: np.ndarray, K: np.ndarray) -> tuple[Check, ...]:
    """Return the checks that the closed loop is stable: from disturbances at command and output to both, all are causal."""
    f, one = plant.factors, np.eye(plant.yu.shape[1])
    ends = {
        "from output to command": R,
        "from output to output": one - f.N @ (f.Y + K @ f.Dl),
        "from command to output": f.N @ (f.X - K @ f.Nl),
        "from command to command": f.D @ (f.X - K @ f.Nl),
    }
    checks = []
    least = np.full_like(R, 1e-9 / np.abs(f.N).max())  # of a command that does nothing only rounding is left
    for name, values in ends.items():
        share = plant.grid.anticausal_share(values, least if values is R else None)
        checks.append(
            Check(
                f"share of the closed loop {name} that is not causal",
                share,
                plant.anticausal,
                share <= plant.anticausal,
            )
        )
    if failing := [check for check in checks if not check.passed]:
        text = f"wiener_hopf: {'; '.join(map(str, failing))}; expected a finer grid, or another scale"
        if max(check.found for check in failing) > REFUSED * plant.anticausal:
            raise NumericalError(text)
        doubtful(text)
    return tuple(checks)


def _require_seen(plant: SampledPlant, spectrum: np.ndarray, why: str) -> None:
    """Raise InputError if a spectrum vanishes beside a pole of the plant on the imaginary axis: no optimal loop is stable then."""
    poles = plant.unstable_model.poles
    least = np.linalg.eigvalsh(0.5 * (spectrum + _h(spectrum)))[:, 0]
    for pole in poles[np.abs(poles.real) <= 1e-6 * plant.grid.scale]:
        beside = int(np.abs(plant.grid.omega - pole.imag).argmin())
        if least[beside] < VANISHES * least[[(beside + AWAY) % len(least), beside - AWAY]].max():
            raise InputError(
                Finding(
                    "wiener_hopf",
                    f"a pole on the imaginary axis at {pole.imag:.4g} rad/s, where the spectrum vanishes: {why}",
                    "exogenous inputs and errors that reach it",
                    "Give the disturbance at the plant's input (`general_wiener_hopf`).",
                )
            )


def _require_semidefinite(values: np.ndarray | None, name: str) -> None:
    if values is None:
        return
    size = np.abs(values).max()
    if np.abs(values - _h(values)).max() > 1e-9 * size or np.linalg.eigvalsh(values).min() < -1e-9 * size:
        raise InputError(
            f"wiener_hopf, {name}: found matrices that are not Hermitian and positive semidefinite at every frequency; expected a spectrum"
        )


def _h(x: np.ndarray) -> np.ndarray:
    """Return conjugate transposes."""
    return x.conj().swapaxes(1, 2)


def _filter(h: np.ndarray, period: float) -> LinearModel:
    """Return the impulse response h (taps, m, p) as a state-space model: the states are the last inputs."""
    taps, _, p = h.shape
    n = (taps - 1) * p
    A = np.eye(n, k=-p)
    B = np.eye(n, p)
    C = np.concatenate(h[1:], axis=1)
    return of_matrices(A, B, C, h[0], period, name="fir")
