"""Frequencies and zeros of one flexible link on a hinge, and what the torque of a rigid link does to it."""

import casadi as ca
import numpy as np
from scipy.linalg import eig, eigh

import articulus as art
from articulus.cases.flexible import beyond_modes
from articulus.cases.flexible import modes as held
from articulus.model.library.bayo_link import EI, LENGTH, MASS_PER_LENGTH
from articulus.structure import beam, normal_modes

TURN, PERIOD = 0.7, 0.5  # rad, s


def compute() -> dict:
    pinned = beam(LENGTH, EI=EI, mass_per_length=MASS_PER_LENGTH, planes="y", elements=6, root="pinned")
    exact = pinned_frequency()
    above = np.array([hinged_frequency(modes) / exact - 1 for modes in (2, 4, 8)])
    peak, error = rigid_torque()
    return {
        "pinned-free beam of six elements: frequencies [Hz]": normal_modes(pinned, 4).hertz,
        "link on a hinge, functions of the nodes as modes: first frequency [Hz]": hinged_frequency(None),
        "the same with 2, 4, 8 clamped modes: first frequency over the exact one, less 1, is positive and falls (1 = yes)": bool(
            above[-1] > 0 and (np.diff(above) < 0).all()
        ),
        "zeros from torque to tip: s^2 [1/s^2]": zeros(),
        "rigid torque: peak [N m]": peak,
        "rigid torque on the flexible link: largest error of the tip [m]": error,
    }


def pinned_frequency() -> float:
    """Return the first frequency of a pinned-free beam, tan x = tanh x [Hz]."""
    return 3.9266023120479**2 * np.sqrt(EI / MASS_PER_LENGTH) / LENGTH**2 / (2 * np.pi)


def matrices(modes: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mass and stiffness of (hinge, modes), and the deflection of the tip for unit coordinates."""
    arm = art.load("bayo_link", modes=modes, elements=6 if modes is None else 32)
    K = np.zeros((arm.nv, arm.nv))
    K[1:, 1:] = held(arm, "link").stiffness
    return arm.mass_matrix(arm.neutral), K, arm.jacobian("tip", arm.neutral)[4]


def hinged_frequency(modes: int | None) -> float:
    M, K, _ = matrices(modes)
    return float(np.sqrt(eigh(K, M, eigvals_only=True)[1]) / (2 * np.pi))


def zeros() -> np.ndarray:
    """Return the three smallest s^2 at which a torque on the hinge does not move the tip."""
    M, K, tip = matrices(None)
    n = len(M)
    left, right = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    left[:n, :n], right[:n, :n] = -K, M
    left[0, n], left[n, :n] = 1.0, tip
    found = eig(left, right, right=False)
    found = found[np.isfinite(found) & (np.abs(found) < 1e9)].real
    return np.sort(found[found > 0])[:3]


@beyond_modes()  # the torque of a rigid link bends this one by half of its length: that is what the source shows
def rigid_torque() -> tuple[float, float]:
    """Return the peak of the torque that turns a rigid link, and the error of the tip of the flexible one under it."""
    inertia = MASS_PER_LENGTH * LENGTH**3 / 3
    t = ca.SX.sym("t")
    turned = 2 * np.pi * t / PERIOD
    size = TURN * 2 * np.pi / (0.75 * PERIOD**2)
    acceleration = ca.if_else(t < PERIOD, size * ca.sin(turned) * (1 - ca.cos(turned)), 0)
    torque = ca.Function("torque", [t], [ca.vertcat(inertia * acceleration, ca.SX.zeros(4))], ["t"], ["tau"])
    arm = art.load("bayo_link", modes=4)
    run = art.simulate(arm, 1.0, controller=torque, step=2e-4, outputs=[])
    tip = run.q @ arm.jacobian("tip", arm.neutral)[4]
    turn = 2 * np.pi * np.minimum(run.t / PERIOD, 1.0)
    wanted = TURN / 0.75 * (0.75 * turn - np.sin(turn) + np.sin(2 * turn) / 8) / (2 * np.pi)
    s = 2 * np.pi * np.linspace(0, 1, 1001)
    fastest = np.abs(size * np.sin(s) * (1 - np.cos(s))).max()
    peak = arm.inverse_dynamics(arm.neutral, np.zeros(arm.nv), fastest * np.eye(arm.nv)[0])[0]
    return float(peak), float(np.abs(tip - LENGTH * wanted).max())
