"""Control design on the exact frequency response of a beam: response, spectral factors, optimal controller."""

import numpy as np

from articulus.control import h2syn
from articulus.control.plant import of_matrices
from articulus.control.sampled_response.beam import pinned_beam
from articulus.control.sampled_response.grid import FrequencyGrid
from articulus.control.sampled_response.sampled_plant import SampledPlant
from articulus.control.sampled_response.spectral import spectral_factor
from articulus.control.sampled_response.wiener_hopf import general_wiener_hopf, wiener_hopf

LENGTH, DAMPING, PLACE, WEIGHT = 10.0, 0.01, 7.0, 0.1


def beam(omega: np.ndarray) -> np.ndarray:
    return pinned_beam(1j * np.asarray(omega), PLACE, LENGTH, DAMPING)


def compute() -> dict:
    return {**responses(), **factors(), **optimal(), **unstable()}


def responses() -> dict:
    omega = np.array([0.05, 0.0987, 1.0, 5.0, 20.0, 77.0])
    n = np.arange(1, 200001)
    k = n * np.pi / LENGTH
    modal = [
        np.sum(2 / LENGTH * k * (-1.0) ** n * np.sin(k * PLACE) / (-(w**2) + 2j * DAMPING * k**2 * w + k**4))
        for w in omega
    ]
    return {
        "response at 0.05, 0.0987, 1, 5, 20, 77 rad/s [-]": np.abs(beam(omega)),
        "response beside the sum of 200,000 modes, relative": np.abs(beam(omega) / modal - 1).max(),
        "static response [-]": float(pinned_beam(0.0, PLACE, LENGTH, DAMPING).real),
    }


def factors() -> dict:
    grid = FrequencyGrid(1.0, 2**14)
    factor = spectral_factor(np.abs(beam(grid.omega)) ** 2 + WEIGHT, grid)[0]
    at = grid.at(factor, np.array([0.02, 0.05, 0.2, 0.3948, 1.0, 2.0, 5.0, 10.0, 20.0]))
    small = FrequencyGrid(1.0, 256)
    s = 1j * small.omega
    rational = spectral_factor(np.abs(1 / (s + 1)) ** 2 + WEIGHT, small)[0]
    exact = np.sqrt(WEIGHT) * (s + np.sqrt(1 + 1 / WEIGHT)) / (s + 1)
    fine = FrequencyGrid(2.0, 512)
    s = 1j * fine.omega
    F = np.moveaxis(np.array([[(s + 2) / (s + 1), 1 / (s + 3)], [0.5 / (s + 1), (s + 4) / (s + 2)]]), 2, 0)
    found, residuals = spectral_factor(np.conj(np.swapaxes(F, 1, 2)) @ F, fine)
    constant = found @ np.linalg.inv(F)
    return {
        "spectral factor at 0.02, 0.05, 0.2, 0.3948, 1, 2, 5, 10, 20 rad/s: size": np.abs(at),
        "spectral factor: phase there [deg]": np.degrees(np.angle(at)),
        "rational spectrum: largest error of the factor": np.abs(rational - exact).max(),
        "matrix spectrum: residuals of the first three iterations": residuals[:3],
        "matrix spectrum: iterations to 1e-12": next(i for i, r in enumerate(residuals) if r < 1e-12),
        "matrix spectrum: factor over the known one is constant, largest deviation": np.abs(
            constant - constant[0]
        ).max(),
    }


def optimal() -> dict:
    """Return the controller on samples beside that of Riccati equations, for a rational plant; and for the beam."""
    grid = FrequencyGrid(1.0, 2048)
    optimum = wiener_hopf(
        lambda w: 1 / (1j * w + 1) / (1j * w + 2),
        lambda w: np.abs(1 / (1j * w + 0.5)) ** 2,
        0.01,
        WEIGHT,
        grid,
    )
    A = [[0, 1, 0], [-2, -3, 0], [0, 0, -0.5]]
    B = [[0, 0, 0], [0, 0, 1.0], [1, 0, 0]]
    C = [[-1, 0, 1.0], [0, 0, 0], [-1, 0, 1]]
    D = [[0, 0, 0], [0, 0, np.sqrt(WEIGHT)], [0, 0.1, 0]]
    by_states = h2syn(of_matrices(A, B, C, D), commands=1, measured=1)
    omega = np.array([0.1, 1.0, 5.0])
    gap = np.abs(optimum.response(omega) / by_states.controller.response(omega) - 1).max()
    flexible = wiener_hopf(
        beam, lambda w: np.abs(1 / (1j * w + 0.05)) ** 2, 0.01, WEIGHT, FrequencyGrid(1.0, 2**14)
    )
    return {
        "rational plant: cost over the square of the H2 norm by Riccati equations": optimum.cost
        / by_states.norm**2,
        "rational plant: controller beside that of Riccati equations, relative": gap,
        "beam: control lowers the cost (1 = yes)": flexible.cost < flexible.open_cost,
        "beam: closed loop is causal, share of anticausal terms": flexible.grid.anticausal_share(
            flexible.closed
        ),
    }


def unstable() -> dict:
    """Return least mean squares of plants with unstable poles, found in the samples, and of a rigid motion, whose poles are on the axis."""
    fine, grid = FrequencyGrid(1.0, 2048), FrequencyGrid(1.0, 2**14)
    scalar = wiener_hopf(lambda w: 1 / (1j * w - 1), 1 / (1 + fine.omega**2), 0.1, WEIGHT, fine, unstable=1)
    diverging = wiener_hopf(
        lambda w: beam(w) + 0.5 / (1j * w - 0.2),
        1 / (0.05**2 + grid.omega**2),
        0.01,
        WEIGHT,
        grid,
        unstable=1,
    )
    rigid = of_matrices(
        [[0, 1], [0, 0]],
        [[0, 0, 0], [1, 0, 1]],
        [[1, 0], [0, 0], [1, 0]],
        [[0, 0, 0], [0, 0, 1], [0, 1, 0]],
    )
    sampled = SampledPlant.of(rigid, FrequencyGrid(1.0, 1024), commands=1, measured=1)
    return {
        "unstable plant 1 / (s - 1): least mean square": scalar.cost,
        "beam beside a divergence at 0.2 rad/s: least mean square": diverging.cost,
        "rigid motion with force noise, general configuration: least mean square": general_wiener_hopf(
            sampled
        ).cost,
    }
