"""A uniform beam on a hub that spins, pushes, or spins up: what each of the three linearizations makes of it."""

import functools
import warnings

import casadi as ca
import numpy as np
from scipy.linalg import eigh, eigvals

import articulus as art
from articulus.errors import DoubtfulResult, NumericalError
from articulus.model.mechanism import Joint, Prescribed
from articulus.model.mechanism.constraint.time_function import TimeFunction
from articulus.model.mechanism.modes import LEVELS, Level, Modes
from articulus.structure import beam_body

OMEGA1 = 3.5160153
SPINS = np.array([0.1, 0.3, 0.5, 0.9, 1.0, 2.0])
SPIN_UP, END = 20.0, 30.0  # s


def compute() -> dict:
    squares = {level: spin_squares(level) for level in LEVELS}
    fast = {level: largest_deflection(level, 2 * OMEGA1) for level in LEVELS}
    slow = [largest_deflection(level, 0.05 * OMEGA1) for level in LEVELS]
    b = body("consistent", 1)
    unit = np.sign(b.rf0[4, 0])
    return {
        "consistent: first frequency over that at rest, spin 0.1, 0.3, 0.5, 0.9, 1, 2 of it": np.sqrt(
            squares["consistent"]
        ),
        "inconsistent: the same, spin 0.1, 0.3, 0.5, 0.9": np.sqrt(squares["inconsistent"][:4]),
        "inconsistent: square of the frequency at spin 1": squares["inconsistent"][4],
        "inconsistent: square of the frequency is negative at spin 2 (1 = yes)": squares["inconsistent"][5]
        < 0,
        "ruthless: the same, spin 0.1, 0.3, 0.5, 0.9, 1, 2": np.sqrt(squares["ruthless"]),
        "mu11, eta11, E1, F1": [
            -b.rf1_shortening[0, 3, 0],
            -b.rr2_shortening[0, 0, 2, 2] / 2,
            unit * b.rf0[4, 0],
            unit * b.rf0[2, 0],
        ],
        "buckling acceleration rho L^3 / EI, 1, 2, 3, 4, 6 modes": [buckling(n) for n in (1, 2, 3, 4, 6)],
        "buckling acceleration rho L^3 / EI, 20 modes": buckling(20),
        "inconsistent and ruthless: stiffness changed by an acceleration along the beam": max(
            np.abs(push_stiffness(level, 4)).max() for level in ("inconsistent", "ruthless")
        ),
        "spin-up to twice omega1 in 20 s: largest tip deflection over L, consistent": fast["consistent"],
        "spin-up to twice omega1 in 20 s: largest tip deflection over L, consistent, beside a geometrically exact beam": fast[
            "consistent"
        ],
        "spin-up to twice omega1 in 20 s: largest tip deflection over L, ruthless": fast["ruthless"],
        "the same, inconsistent: larger than the beam (1 = yes)": fast["inconsistent"] > 1,
        "spin-up to 0.05 omega1: largest tip deflection over L, consistent, inconsistent, ruthless": slow,
    }


def body(level: Level, modes: int) -> Modes:
    return uniform(modes).at_level(level)


@functools.cache
def uniform(modes: int) -> Modes:
    return beam_body(1.0, EI=1.0, mass_per_length=1.0, modes=modes, elements=32, damping=None)


def on_base(joint: Joint, held: Modes) -> art.Mechanism:
    return (
        art.Mechanism("beam", gravity=(0, 0, 0)).flexible("beam", held).joint("base", joint, "ground", "beam")
    )


def modal_stiffness(mechanism: art.Mechanism, v: float, vdot: float) -> np.ndarray:
    """Return the change of the modal forces by the modal coordinates, at a speed and an acceleration of the base."""
    q, rates, accelerations = np.zeros((3, mechanism.nv))
    rates[0], accelerations[0] = v, vdot
    return mechanism.inverse_dynamics_derivatives(q, rates, accelerations)[0][1:, 1:]


def spin_squares(level: Level) -> np.ndarray:
    """Return squares of the first frequency of a spinning beam of four modes, over that at rest."""
    held = body(level, 4)
    mechanism = on_base(art.Revolute((0, 0, 1)), held)
    stiffness = [modal_stiffness(mechanism, spin * OMEGA1, 0.0) for spin in SPINS]
    return np.array([eigh(K, held.ff, eigvals_only=True)[0] for K in stiffness]) / OMEGA1**2


def push_stiffness(level: Level, modes: int) -> np.ndarray:
    """Return what a unit acceleration along the beam adds to its stiffness."""
    mechanism = on_base(art.Prismatic((1, 0, 0)), body(level, modes))
    return modal_stiffness(mechanism, 0.0, 1.0) - modal_stiffness(mechanism, 0.0, 0.0)


def buckling(modes: int) -> float:
    """Return the smallest acceleration at which the consistent stiffness is singular."""
    found = eigvals(body("consistent", modes).stiffness, -push_stiffness("consistent", modes)).real
    return float(found[found > 0].min())


def largest_deflection(level: Level, spin: float) -> float:
    """Return the largest deflection of the tip during and after spin-up; infinity where the run breaks off.

    The poorer linearizations may blow up, which is what the case shows: that such a run is doubtful is no news.
    """
    held = body(level, 2)
    t = ca.SX.sym("t")
    begin = spin * (t**2 / (2 * SPIN_UP) + SPIN_UP / (4 * np.pi**2) * (ca.cos(2 * np.pi * t / SPIN_UP) - 1))
    angle = ca.if_else(t < SPIN_UP, begin, spin * (t - SPIN_UP / 2))
    drive = Prescribed("drive", "base", TimeFunction.of(ca.Function("angle", [t], [angle], ["t"], ["q"])))
    mechanism = on_base(art.Revolute((0, 0, 1)), held).constrain(drive)
    try:
        with warnings.catch_warnings():
            if level != "consistent":
                warnings.simplefilter("ignore", DoubtfulResult)
            run = art.simulate(mechanism, END, step=5e-3, outputs=[])
    except NumericalError:
        return np.inf
    return float(np.abs(run.q[:, 1:] @ held.station("tip").translation[1]).max())
