"""A modal beam bent by dead forces beside a geometrically exact one: definite mass matrix, frequencies about the bent state."""

import functools

import numpy as np
from scipy.linalg import eigh

import articulus as art
from articulus.model.mechanism.modes import Modes
from articulus.simulation.exact_beams import Beam, Section, modes, static
from articulus.structure import beam_body

EXACT = 64
"""Elements of the exact beam."""
STIFF = Section(1.0, 1e7, 1.0, 1.0, 1e4, rotary=(2e-08, 1e-8, 1e-8))
Forces = dict[str, float]
CLAMPED: Forces = {"tip": 0.3}
"""Station and force along y [N]: the tip deflects by 0.099 m of 1 m."""
HINGED: Forces = {"tip": 0.84, "middle": -1.68}
"""Without a moment at the root; 0.102 m."""


def compute() -> dict:
    small = {"tip": 0.1}
    error = {name: ratios(forces, False)[0] - 1 for name, forces in (("large", CLAMPED), ("small", small))}
    return {
        "mass matrix positive definite, first mode up to 0.3 of the length, 2, 3, 6, 12 modes (1 = yes)": [
            definite(n) for n in (2, 3, 6, 12)
        ],
        "clamped, tip at 0.099 of the length: frequencies over the exact ones, 1 to 5": ratios(
            CLAMPED, False
        ),
        "clamped, tip at 0.033 of the length: the same": ratios(small, False),
        "hinged, tip at 0.102 of the length: the same, 1 to 5": ratios(HINGED, True),
        "clamped: order of the error of the first frequency in the deflection": np.log(
            error["large"] / error["small"]
        )
        / np.log(3.0),
        "clamped: frequencies with 12 modes and 48 elements over those with 6 and 24, 1 to 5": ratios(
            CLAMPED, False, 12
        )
        / ratios(CLAMPED, False),
    }


@functools.cache
def body(count: int) -> Modes:
    return beam_body(1.0, EI=1.0, mass_per_length=1.0, modes=count, elements=4 * count, damping=None)


def on_ground(held: Modes, joint: art.mechanism.Joint) -> art.Mechanism:
    return (
        art.Mechanism("beam", gravity=(0, 0, 0)).flexible("beam", held).joint("root", joint, "ground", "beam")
    )


def definite(count: int) -> bool:
    """Whether the mass matrix on a hinge without a hub is positive definite."""
    held, mechanism = body(count), on_ground(body(count), art.Revolute((0, 0, 1)))
    q = np.zeros((31, count + 1))
    q[:, 1] = np.linspace(0.0, 0.3, 31) / held.station("tip").translation[1, 0]
    return bool((np.linalg.eigvalsh(mechanism.mass_matrix(q)) > 0).all())


def ratios(forces: Forces, hinged: bool, count: int = 6) -> np.ndarray:
    """Return frequencies about the bent state over those of the exact beam."""
    found = bent_frequencies(body(count), forces, hinged)
    return found[:5] / exact_frequencies(tuple(forces.items()), hinged)[:5]


def bent_frequencies(held: Modes, forces: Forces, hinged: bool) -> np.ndarray:
    """Return the frequencies of the modal beam about its rest under dead forces along y."""
    stations = {name: held.station(name) for name in forces}
    across = sum(f * stations[name].translation[1] for name, f in forces.items())
    eta = np.linalg.solve(held.stiffness, across)
    if not hinged:
        return np.sqrt(eigh(held.stiffness, mass(held, art.Fixed(), eta), eigvals_only=True))
    K = np.zeros((held.count + 1, held.count + 1))
    K[1:, 1:], K[0, 0] = held.stiffness, across @ eta
    K[0, 1:] = K[1:, 0] = -sum(f * stations[name].shortening[0] @ eta for name, f in forces.items())
    return np.sqrt(eigh(K, mass(held, art.Revolute((0, 0, 1)), eta), eigvals_only=True))


def mass(held: Modes, joint: art.mechanism.Joint, eta: np.ndarray) -> np.ndarray:
    mechanism = on_ground(held, joint)
    return np.asarray(mechanism.mass_matrix(np.r_[np.zeros(mechanism.nq - eta.size), eta]))


@functools.cache
def exact_frequencies(forces: tuple[tuple[str, float], ...], hinged: bool) -> np.ndarray:
    """Return the frequencies in the plane of the exact beam about its rest under the same forces."""
    beam = Beam.straight(1.0, EXACT, STIFF)
    for name, force in forces:
        beam = beam.load(EXACT if name == "tip" else EXACT // 2, force=(0.0, force, 0.0))
    at = static(beam.support(0), steps=8)
    omega, shapes = modes(beam.support(0, "hinge z" if hinged else "clamped"), 14, at=at)
    size = np.abs(shapes).max(axis=1)
    return omega[size[:, 4] > size[:, 5]]
