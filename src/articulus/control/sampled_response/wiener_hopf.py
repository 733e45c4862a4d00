"""The H2-optimal controller of a stable plant from its sampled frequency response.

W. H. Bennett 1989, eqs. 2.15-2.17 for a stable plant (D = 1, Y = 0): y = d + n - G u, u = C y, errors d - G u and sqrt(mu) u. With
Lam* Lam = G* G + mu and Om Om* = Phi_d + Phi_n,  R = Lam^-1 {Lam*^-1 G* Phi_d Om*^-1}_+ Om^-1  and  C = R (I - G R)^-1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.control.figure import over_frequency
from articulus.control.plant import of_matrices
from articulus.control.sampled_response.grid import FrequencyGrid
from articulus.control.sampled_response.spectral import spectral_factor
from articulus.errors import InputError, doubtful
from articulus.linear import LinearModel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STABLE = 1e-3
"""Share of anticausal terms in the response of a plant beyond which it is doubted to be stable."""


@dataclass(frozen=True, eq=False)
class WienerHopf:
    """A controller as a sampled frequency response.

    Parameters
    ----------
    grid : FrequencyGrid
    plant, controller, closed : arrays, (frequencies, p, m), (frequencies, m, p), (frequencies, m, p)
        G, C and R = C (I + G C)^-1; the loop is u = C y, y = d + n - G u.
    cost : float
        Mean square of the errors, trace of Phi_z + mu Phi_u.
    open_cost : float
        The same without control.
    """

    grid: FrequencyGrid
    plant: np.ndarray
    controller: np.ndarray
    closed: np.ndarray
    cost: float
    open_cost: float

    def response(self, omega: Any) -> np.ndarray:
        """Return the controller at frequencies (n,) [rad/s] between those of the grid, through the causal function R."""
        w = np.atleast_1d(np.asarray(omega, dtype=float))
        R = self.grid.at(self.closed, w)
        G = self.grid.at(self.plant, w)
        return R @ np.linalg.inv(np.eye(G.shape[1]) - G @ R)

    def sensitivity(self) -> np.ndarray:
        """Return (I + G C)^-1 = I - G R at the frequencies of the grid."""
        return np.eye(self.plant.shape[1]) - self.plant @ self.closed

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
    plant: Callable | np.ndarray, disturbance: Any, noise: Any, weight: float, grid: FrequencyGrid
) -> WienerHopf:
    """Return the controller with the least mean square of d - G u and sqrt(weight) u, of y = d + n - G u.

    Parameters
    ----------
    plant : function of omega (n,) [rad/s] to (n, p, m) or (n,), or samples on the grid
        Response G(j omega) of a stable plant: exact, of a model, or measured.
    disturbance, noise : function of omega, samples, or number
        Spectra Phi_d and Phi_n: (n, p, p), (n,) or a number for all outputs.
    weight : float
        mu, of the commands.
    grid : FrequencyGrid
    """
    G = _samples(plant, grid, None, "plant")
    p, m = G.shape[1:]
    if not 0 < weight < np.inf:
        raise InputError(f"wiener_hopf: found weight {weight}; expected a finite number above 0")
    share = grid.anticausal_share(G)
    if share > STABLE:
        doubtful(
            f"wiener_hopf: {100 * share:.2g} % of the plant's response is not causal; expected a stable plant, and a grid fine enough for it"
        )
    Pd, Pn = _samples(disturbance, grid, p, "disturbance"), _samples(noise, grid, p, "noise")
    Gh = np.conj(np.swapaxes(G, 1, 2))
    Lam = spectral_factor(Gh @ G + weight * np.eye(m), grid)[0]
    # Om Om* = H is the factor F* F of the conjugate spectrum, read the other way round
    Om = np.swapaxes(spectral_factor(np.swapaxes(Pd + Pn, 1, 2), grid)[0], 1, 2)
    Lam_i, Om_i = np.linalg.inv(Lam), np.linalg.inv(Om)
    inner = np.conj(np.swapaxes(Lam_i, 1, 2)) @ Gh @ Pd @ np.conj(np.swapaxes(Om_i, 1, 2))
    R = Lam_i @ grid.strictly_causal(inner) @ Om_i
    C = R @ np.linalg.inv(np.eye(p) - G @ R)
    S = np.eye(p) - G @ R
    Sh, GR = np.conj(np.swapaxes(S, 1, 2)), G @ R
    u = R @ (Pd + Pn) @ np.conj(np.swapaxes(R, 1, 2))
    z = S @ Pd @ Sh + GR @ Pn @ np.conj(np.swapaxes(GR, 1, 2))
    cost = grid.integral(np.trace(z, axis1=1, axis2=2) + weight * np.trace(u, axis1=1, axis2=2)).real
    return WienerHopf(grid, G, C, R, float(cost), float(grid.integral(np.trace(Pd, axis1=1, axis2=2)).real))


def _samples(given: Any, grid: FrequencyGrid, size: int | None, name: str) -> np.ndarray:
    values = np.asarray(given(grid.omega) if callable(given) else given, dtype=complex)
    if values.ndim == 0:
        values = np.broadcast_to(values, grid.count)
    if values.ndim == 1:
        values = values[:, None, None] * np.eye(size or 1)
    if (
        len(values) != grid.count
        or values.ndim != 3
        or (size is not None and values.shape[1:] != (size, size))
    ):
        raise InputError(
            f"wiener_hopf, {name}: found samples of shape {values.shape}; expected {grid.count} of them"
        )
    if not np.isfinite(values).all():
        raise InputError(
            f"wiener_hopf, {name}: found values that are not finite on the grid; expected a response without poles on the axis"
        )
    return values


def _filter(h: np.ndarray, period: float) -> LinearModel:
    """Return the impulse response h (taps, m, p) as a state-space model: the states are the last inputs."""
    taps, _, p = h.shape
    n = (taps - 1) * p
    A = np.eye(n, k=-p)
    B = np.eye(n, p)
    C = np.concatenate(h[1:], axis=1)
    return of_matrices(A, B, C, h[0], period, name="fir")
