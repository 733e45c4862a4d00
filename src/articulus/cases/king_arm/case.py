"""Locked-joint frequencies by nodal functions and by one mode, torques and inertia matrix at one state, a free swing."""

import functools

import casadi as ca
import numpy as np

import articulus as art
from articulus.cases.checks import relative
from articulus.cases.flexible import locked_frequencies, modes
from articulus.cases.king_arm.lagrange import equations
from articulus.model.library.king_arm import MASS, SQUARE, link

PAYLOADS = (0.0, 0.2, 0.4, 0.6, 0.8)
ANGLES = (0.0, 90.0, 180.0)
STATE = np.array([[0.3, 0.02, -0.7, 0.015], [1.0, 0.3, -0.5, 0.2], [0.5, -1.0, 2.0, 0.7]])
SCALE = np.array([1.0, np.sqrt(MASS), 1.0, np.sqrt(MASS)])
"""From deltas of shapes that are 2 at the tip to coordinates of unit modal mass."""


def compute() -> dict:
    FE = [first(None, 8, payload=m) for m in PAYLOADS] + [first(None, 8, angle=a) for a in ANGLES]
    one = [first(1, 16, payload=m) for m in PAYLOADS] + [first(1, 16, angle=a) for a in ANGLES]
    held = link(1)
    out = {
        "table 3.2, FE: link 1 with joints locked, payload 0, 0.2, 0.4, 0.6, 0.8 kg [Hz]": FE[:5],
        "table 3.2, assumed modes: the same [Hz]": one[:5],
        "table 3.3, FE: link 1 with joints locked, q2 = 0, 90, 180 deg [Hz]": FE[5:],
        "table 3.3, assumed modes: the same [Hz]": one[5:],
        "FE, payload 0 to 0.8 kg, then q2 = 90, 180 deg [Hz]": FE[:5] + FE[6:],
        "mass of a link [kg]": held.rr0[3, 3],
        "modal stiffness for a tip deflection of 2 [N/m], slope at the tip [1/m]": [
            held.stiffness[0, 0] * MASS,
            held.station("tip").rotation[2, 0] * np.sqrt(MASS),
        ],
    }
    return out | regression() | swing()


def first(count: int | None, elements: int, payload: float = 0.0, angle: float = 0.0) -> float:
    """Return the first frequency of link 1, both joints locked, link 2 rigid [Hz]."""
    arm = straight(count, elements, payload)
    q = np.zeros(arm.nq)
    q[0], q[arm.v_names.index("joint2")] = -np.pi / 2, np.radians(angle)
    return float(locked_frequencies(arm, q, "link1")[0] / (2 * np.pi))


@functools.cache
def straight(count: int | None, elements: int, payload: float) -> art.Mechanism:
    """Return the arm for its mass matrix at zero deflection, which is the same at all levels."""
    return art.load("king_arm", modes=count, elements=elements, payload=payload, EI=SQUARE, level="ruthless")


def regression() -> dict:
    arm = art.load("king_arm", payload=0.2, level="inconsistent")
    q, v, vdot = STATE * SCALE
    forces, H = arm.inverse_dynamics(q, v, vdot) * SCALE, arm.mass_matrix(q) * np.outer(SCALE, SCALE)
    thesis, same = (equations(0.2, cayley) for cayley in (False, True))
    bias = arm.bias(q, v) * SCALE
    return {
        "inverse dynamics, one mode a link, payload 0.2 kg [N m, N]": forces,
        "bias, the same [N m, N]": bias,
        "H, the same": H,
        "Lagrange's equations of the case, tip rotation as in the thesis: torques [N m, N]": column(thesis(*STATE)[0]),
        "Lagrange's equations of the case, tip rotation as in the thesis: bias [N m, N]": column(thesis(*STATE[:2], 0)[0]),
        "Lagrange's equations of the case, tip rotation as in the thesis: H": np.array(thesis(*STATE)[1]),
        "inverse dynamics less Lagrange's equations with the tip rotation of articulus, relative": relative(forces, column(same(*STATE)[0])),
        "mass matrix less that of Lagrange's equations, relative": relative(H, np.array(same(*STATE)[1])),
    }  # fmt: skip


def column(values: ca.DM) -> np.ndarray:
    return np.array(values).ravel()


def swing() -> dict:
    arm = art.load("king_arm", level="inconsistent")
    run = art.simulate(arm, 5.0, q0=[-np.pi / 2, 0.0, np.radians(10), 0.0], step=5e-4, outputs=[])
    energy = np.sum(arm.energy(run.q, run.v), axis=0)
    tip = modes(arm, "link1").station("tip").translation[1, 0]
    bend = 1e3 * np.abs(tip * run.q[:, 1])
    return {
        "free swing from (-90, 10) deg for 5 s: largest deflection of link 1, one mode [mm]": bend.max(),
        "the same, looked at every 50 ms only [mm]": bend[::100].max(),
        "free swing: change of the energy [J]": np.abs(energy - energy[0]).max(),
    }
