"""Torques of the rigid arm on the flexible one, at three speeds and with three linearizations."""

import functools

import casadi as ca
import numpy as np

import articulus as art
from articulus.cases.flexible import locked_frequencies, modal, modes
from articulus.model.library.padilla_arm import DENSITIES, LENGTH
from articulus.model.mechanism.modes import LEVELS, Level

START, TURN = np.radians([0.0, 135.0]), np.radians([90.0, -90.0])
NOMINAL = 4.5
"""Duration at alpha = 1 [s]."""
SPEEDS = (0.1685, 1.0, 1.2)
STEP = 2e-3  # s
HINGES = ("shoulder_hinge", "elbow_hinge")


def compute() -> dict:
    runs = {(alpha, level): slew(alpha, level) for alpha in SPEEDS for level in LEVELS}

    def departs(alpha: float, level: Level) -> tuple[np.ndarray, np.ndarray]:
        """Return the largest differences of the angles over their turns, and rms differences of the deflections."""
        (angles, bends), (angles0, bends0) = runs[alpha, level], runs[alpha, "consistent"]
        spread = np.sqrt(np.mean((bends - bends0) ** 2, axis=0) / np.mean(bends0**2, axis=0))
        return np.abs((angles - angles0) / TURN).max(axis=0), spread

    slow = [departs(SPEEDS[0], level) for level in LEVELS]
    angles, bends = departs(1.0, "ruthless")
    return {
        **frequencies(),
        "alpha = 0.1685: largest differences of shoulder and elbow angle between the models, over their turns": max(
            found.max() for found, _ in slow
        ),
        "alpha = 0.1685: rms difference of the tip deflections between the models, relative": max(
            found.max() for _, found in slow
        ),
        "alpha = 1, ruthless and consistent: largest difference of the shoulder angle over its turn": angles[
            0
        ],
        "alpha = 1, ruthless and consistent: largest difference of the elbow angle over its turn": angles[1],
        "alpha = 1, ruthless and consistent: rms difference of the tip deflections, relative": bends.max(),
        "alpha = 1.2, ruthless: largest tip deflection over the length of the link": np.abs(
            runs[1.2, "ruthless"][1]
        ).max()
        / LENGTH,
        "deflections of inconsistent depart from consistent at least twice as far as those of ruthless, all alpha and links (1 = yes)": all(
            (departs(alpha, "inconsistent")[1] > 2 * departs(alpha, "ruthless")[1]).all() for alpha in SPEEDS
        ),
        "alpha = 1: the inconsistent run diverges (1 = yes)": not np.abs(runs[1.0, "inconsistent"][1]).max()
        < LENGTH,
        "no modes: torques end at the angles wanted, largest error [deg]": np.degrees(
            np.abs(slew(1.0, "consistent", count=0)[0][-1] - START - TURN).max()
        ),
    }


def frequencies() -> dict:
    two, four = (art.load("padilla_arm", modes=count, level="ruthless") for count in (2, 4))
    bent = np.where(np.array(four.v_names) == "elbow_hinge", np.radians(135), 0.0)
    few, many = locked_frequencies(two, two.neutral), locked_frequencies(four, four.neutral)
    scale = np.ones(two.nv)
    for link, density in zip(("link1", "link2"), DENSITIES):
        scale[modal(two, link)] = np.sqrt(density * LENGTH)
    sizes = np.linalg.svd(two.mass_matrix(two.neutral) * np.outer(scale, scale), compute_uv=False)
    return {
        "first frequency, joints locked, elbow at 0 and 135 deg, 4 modes [rad/s]": [
            many[0],
            locked_frequencies(four, bent)[0],
        ],
        "2 against 4 modes, elbow at 0 deg: first two frequencies [%]": 100
        * (few / many[: len(few)] - 1)[:2],
        "mass matrix, 2 modes, elbow at 0 deg: decades between largest and smallest singular value": np.log10(
            sizes[0] / sizes[-1]
        ),
    }


def slew(alpha: float, level: Level, count: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Return joint angles (time, 2) and tip deflections (time, links) of one run with the torques of the rigid arm."""
    arm = art.load("padilla_arm", modes=count, level=level)
    hinges = [arm.v_names.index(name) for name in HINGES]
    t = ca.SX.sym("t")
    command = ca.SX.zeros(arm.nv)
    command[hinges] = torques(alpha)(t)
    q0 = np.zeros(arm.nq)
    q0[hinges] = START
    end = STEP * round(NOMINAL / alpha / STEP)
    drive = ca.Function("drive", [t], [command], ["t"], ["tau"])
    run = art.simulate(arm, end, q0=q0, controller=drive, step=STEP, outputs=[])
    bends = [
        run.q[:, modal(arm, link)] @ modes(arm, link).station("tip").translation[1]
        for link in ("link1", "link2")
    ]
    return run.q[:, hinges], np.array(bends).T


@functools.cache
def torques(alpha: float) -> ca.Function:
    """Return the joint torques of the rigid arm along quintics from rest to rest, as a function of time."""
    t = ca.SX.sym("t")
    s = ca.fmin(t * alpha / NOMINAL, 1)
    position = 10 * s**3 - 15 * s**4 + 6 * s**5
    rate = (30 * s**2 - 60 * s**3 + 30 * s**4) * alpha / NOMINAL
    acceleration = (60 * s - 180 * s**2 + 120 * s**3) * (alpha / NOMINAL) ** 2
    turn = ca.DM(TURN)
    inverse = art.load("padilla_arm", modes=0).function("inverse_dynamics")
    return ca.Function(
        "torques", [t], [inverse(ca.DM(START) + turn * position, turn * rate, turn * acceleration)]
    )
