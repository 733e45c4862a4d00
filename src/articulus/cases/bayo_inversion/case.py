"""Torque that moves the tip of one flexible link along a path: when it begins and ends, how large it is, and what it leaves of errors."""

import numpy as np

import articulus as art
from articulus.cases.flexible import beyond_modes
from articulus.linear import LinearModel
from articulus.model.library.bayo_link import LENGTH
from articulus.motion.inversion import Inversion, Line, Profile, feedforward, invert, rigid, tip_model

TURN, PERIOD = 0.7, 0.5  # rad, s
PAYLOAD = 0.03  # kg


def compute() -> dict:
    arm = art.load("bayo_link")
    plant = tip_model(arm, "tip.y")
    fast, slow = (invert(plant, path(period), inputs="tau.hinge") for period in (PERIOD, 2 * PERIOD))
    spectra = invert(plant, path(PERIOD), inputs="tau.hinge", method="frequency")
    stiff = [rigid(plant, path(period), inputs="tau.hinge") for period in (PERIOD, 2 * PERIOD)]
    zeros = fast.figures["zeros"].real
    shared = np.interp(fast.t, spectra.t, spectra.inputs[:, 0]) - fast.inputs[:, 0]
    finer = art.load("bayo_link", modes=8, elements=32)
    exact, common = wrong_payload()
    return {
        "zeros from torque to tip [1/s]": np.sort(zeros[zeros > 0])[:2],
        "largest torque, path in 0.5 s and in 1 s [N m]": [np.abs(x.inputs).max() for x in (fast, slow)],
        "torque above 0.1 % of its peak, path in 0.5 s: first and last time [s]": fast.support,
        "largest torque of the rigid link, path in 0.5 s and in 1 s [N m]": [
            np.abs(x.inputs).max() for x in stiff
        ],
        "frequency domain less time domain, over the peak: below 1e-6 (1 = yes)": bool(
            np.abs(shared).max() < 1e-6 * np.abs(fast.inputs).max()
        ),
        "simulated with this torque: error of the tip below 1e-5 m (1 = yes)": tip_error(arm, plant, fast)
        < 1e-5,
        "the same on a link with 8 modes of 32 elements (1 = yes)": tip_error(
            finer, tip_model(finer, "tip.y"), fast
        )
        < 1e-5,
        "simulated with the rigid torque, path in 1 s: largest error of the tip [m]": tip_error(
            arm, plant, stiff[1]
        ),
        "joint feedback, payload 20 % too light, right, too heavy: errors at most 0.4 of those around rigid torques (1 = yes)": bool(
            (exact < 0.4 * common).all() and exact[1] < 1e-5
        ),
    }


def path(period: float) -> Line:
    return Line(0.0, LENGTH * TURN, Profile(period, law="sine"))


@beyond_modes()  # the paths of the source bend the link by more than a tenth of its length
def tip_error(arm: art.Mechanism, plant: LinearModel, found: Inversion, step: float = 1e-4) -> float:
    """Return the largest error of the tip [m] in a simulation from rest under the torque alone, until it ends or for 1 s."""
    lasting = max(found.t[-1] - found.t[0], 1.0)
    run = art.simulate(
        arm,
        step * int(lasting / step),
        components=found.components(),
        step=step,
        sample=40 * step,
        outputs=[],
    )
    wanted = path(found.t_end - found.t0).position(run.t + found.t[0])[:, 0]
    return float(np.abs(run.q @ plant.C[0, : arm.nv] - wanted).max())


@beyond_modes()  # the path bends the link by more than a quarter of its length
def wrong_payload() -> tuple[np.ndarray, np.ndarray]:
    """Return errors of the tip [m] with feedback at the hinge, three payloads: around the inverse, and around the rigid motion."""
    arm = art.load("bayo_link", modes=3, payload=PAYLOAD, damping=0.005)
    plant = tip_model(arm, "tip.y")
    way = Line(0.0, LENGTH / 2, Profile(0.8, law="sine"))
    errors = []
    for found in (invert(plant, way, inputs="tau.hinge"), rigid(plant, way, inputs="tau.hinge")):
        run = art.rollout(
            arm,
            2.4,
            q0=np.tile(arm.neutral, (3, 1)),
            components=feedforward(found, kp=0.5, kd=0.05),
            step=4e-4,
            sample=4e-3,
            params={"payload": PAYLOAD * np.array([0.8, 1.0, 1.2])},
        )
        wanted = way.position(run.t + found.t[0])[:, 0]
        errors.append(np.abs(run.q @ plant.C[0, : arm.nv] - wanted).max(-1))
    return errors[0], errors[1]
