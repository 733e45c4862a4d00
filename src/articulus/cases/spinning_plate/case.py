"""A square plate on a hub that spins about an axis along its root or pushes along the plate: the same numbers as a beam.

Poisson's ratio is zero, so that modes that do not depend on y are those of a beam, under the same force along x.
"""

import functools

import numpy as np
from scipy.linalg import eigh, eigvals

import articulus as art
from articulus.model.mechanism import Joint
from articulus.model.mechanism.modes import LEVELS, Level, Modes
from articulus.structure import Plate, modes_of, normal_modes, panel

OMEGA1 = 3.5160153
SPINS = np.array([0.1, 0.3, 0.5, 0.9, 1.0, 2.0])
SIDE = 1.0
THICKNESS, E, DENSITY = 1e-3, 12e9, 1e3
"""D = E h^3 / 12 = 1 N m, m = 1 kg/m^2."""
ELEMENTS = (48, 2)


def compute() -> dict:
    squares = {level: spin_squares(level, (0, -1, 0)) for level in LEVELS}
    flapping = spin_squares("consistent", (0, 0, 1))
    return {
        "consistent: first frequency over that at rest, spin 0.1, 0.3, 0.5, 0.9, 1, 2 of it": np.sqrt(
            squares["consistent"]
        ),
        "inconsistent: the same, spin 0.1, 0.3, 0.5, 0.9": np.sqrt(squares["inconsistent"][:4]),
        "inconsistent: square of the frequency is negative at spin 2 (1 = yes)": squares["inconsistent"][5]
        < 0,
        "ruthless: the same, spin 0.1, 0.3, 0.5, 0.9, 1, 2": np.sqrt(squares["ruthless"]),
        "spin about the normal: squares less those about the edge, over spin^2": (
            flapping - squares["consistent"]
        )
        / SPINS**2,
        "buckling acceleration along the plate, m L^3 / D, 4 modes": buckling(),
    }


@functools.cache
def square() -> Modes:
    """Return the plate on the four lowest modes that do not depend on y: rotations about x are held."""
    plate = Plate.isotropic(THICKNESS, E, 0.0, DENSITY)
    whole = panel(SIDE, SIDE, plate, elements=ELEMENTS, supports={"root": "all"})
    whole = whole.fix(dict.fromkeys(whole.names, ("rx",)))
    shapes = normal_modes(whole, 12).shapes
    right, middle, left = (whole.rows(f"node{ELEMENTS[0]}_{j}")[2] @ shapes for j in range(3))
    straight = np.abs(right - middle) + np.abs(left - middle) < 1e-6 * np.abs(middle)
    return modes_of(whole, shapes[:, straight][:, :4], origin=(0.0, 0.0, 0.0), stations={})


def on_base(joint: Joint, level: Level) -> art.Mechanism:
    made = art.Mechanism("plate", gravity=(0, 0, 0)).flexible("plate", square().at_level(level))
    return made.joint("base", joint, "ground", "plate")


def modal_stiffness(mechanism: art.Mechanism, v: float, vdot: float) -> np.ndarray:
    """Return the change of the modal forces by the modal coordinates, at a speed and an acceleration of the base."""
    q, rates, accelerations = np.zeros((3, mechanism.nv))
    rates[0], accelerations[0] = v, vdot
    return mechanism.inverse_dynamics_derivatives(q, rates, accelerations)[0][1:, 1:]


def spin_squares(level: Level, axis: tuple[float, float, float]) -> np.ndarray:
    """Return squares of the first frequency of the spinning plate, over that of a beam at rest."""
    mechanism = on_base(art.Revolute(axis), level)
    stiffness = [modal_stiffness(mechanism, spin * OMEGA1, 0.0) for spin in SPINS]
    return np.array([eigh(K, square().ff, eigvals_only=True)[0] for K in stiffness]) / OMEGA1**2


def buckling() -> float:
    """Return the smallest acceleration along the plate at which its stiffness is singular."""
    mechanism = on_base(art.Prismatic((1, 0, 0)), "consistent")
    pushed = modal_stiffness(mechanism, 0.0, 1.0) - modal_stiffness(mechanism, 0.0, 0.0)
    found = eigvals(square().stiffness, -pushed).real
    return float(found[found > 0].min())
