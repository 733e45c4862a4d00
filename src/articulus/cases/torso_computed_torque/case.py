"""Human torso along its profile: open loop it is lost at a step of 0.01 s, computed torque holds it."""

import casadi as ca
import numpy as np

import articulus as art
from articulus.cases.open_loop import profile, replay
from articulus.simulation.loop.components import ComputedTorque
from articulus.simulation.running import simulate

PERIOD, STEP = 5.0, 0.01  # s
KP, KV = 100.0, 20.0  # 1/s^2, 1/s: both poles at -10


def compute() -> dict:
    torso = art.load("human_torso")
    run = simulate(torso, PERIOD, controller=ComputedTorque(KP, KV, target=course(torso.nv)), step=STEP)
    wanted, _, _ = profile(run.t, PERIOD, torso.nv)
    _, open_loop, _, _ = replay(torso, PERIOD, STEP)
    disturbed = simulate(
        torso, 2.0, q0=np.full(6, 0.1), controller=ComputedTorque(KP, KV, target=np.zeros(6)), step=STEP
    )
    return {
        "computed torque at h = 0.01 s: largest position error [1e-7 deg]": 1e7
        * np.degrees(np.abs(run.q - wanted).max()),
        "open loop at h = 0.01 s: largest position error over 300 deg (1 = yes)": float(
            np.abs(open_loop).max() > 300
        ),
        "computed torque: 0.1 rad off at rest, error against 0.1 (1 + 10 t) exp(-10 t) [rad]": np.abs(
            disturbed.q - 0.1 * ((1 + 10 * disturbed.t) * np.exp(-10 * disturbed.t))[:, None]
        ).max(),
    }


def course(joints: int) -> ca.Function:
    """Return the profile of every joint as a function of time (Wong 1991, eq. 3.43)."""
    t = ca.SX.sym("t")
    phase = 2 * np.pi / PERIOD * t
    return ca.Function("course", [t], [ca.repmat((phase - ca.sin(phase)) / 2, joints, 1)], ["t"], ["q"])
