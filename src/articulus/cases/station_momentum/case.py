"""A space station whose bandwidth lies below its modes, as `control.check` proves, and whose momentum the gradient of gravity takes.

The source is an abstract. It and the final report of its conference tell that modes begin at 0.1 Hz and that the bandwidth is 0.01 Hz; the
station is `hub_with_appendages`, whose data are assumed.
"""

import math

import numpy as np

import articulus as art
from articulus import control
from articulus import spacecraft as sc
from articulus.control.proof import Proof
from articulus.linear import LinearModel
from articulus.simulation.loop import components as c

MODES, FEW = 24, 6
"""Modes of all appendages together: those up to 2 Hz for the proof, the lowest of each for the flight."""
BANDWIDTH, RATIO = 2 * math.pi * 0.01, 0.7
ORBIT = sc.Orbit(6.778e6)
STORES, LARGE = ("store_x", "store_y", "store_z"), 100.0
"""Ideal stores of momentum: wheels of that inertia [kg m^2]."""
STEADY = 0.05
"""Torque of drag about pitch [N m]."""
RACK = (2.0, 1.0, 1.5)
END, STEP = 28000.0, 0.4
"""Five orbits; the lowest modes of appendages have periods above 1 s."""


def compute() -> dict:
    return {**prove_separation(attitude(MODES)), **fly_managed()}


def attitude(modes: int) -> Proof:
    """Return the proof of loops of attitude and place with that bandwidth, designed for the rigid station."""
    station = art.load("hub_with_appendages", modes=modes)
    M = np.asarray(station.mass_matrix(station.neutral))[:6, :6]
    names = station.v_names[:6]
    measured = tuple(f"{kind}.{name}" for kind in "qv" for name in names)
    forces = tuple(f"tau.{name}" for name in names)
    gain = -np.hstack([BANDWIDTH**2 * M, 2 * RATIO * BANDWIDTH * M])
    none = np.zeros((0, 12)), np.zeros((6, 0))
    law = LinearModel(np.zeros((0, 0)), *none, gain, (), measured, forces, ("",) * 12, ("",) * 6)
    return control.check(station, law)


def prove_separation(proof: Proof) -> dict:
    slow = proof.closed.poles[np.abs(proof.closed.poles) < 3 * BANDWIDTH]
    before, after = np.array([mode.damping for mode in proof.modes]).T
    return {
        "attitude: every check of the proof holds (1 = yes)": float(proof.ok),
        "attitude: phase margin [deg]": math.degrees(min(each.phase for each in proof.margins.channels)),
        "attitude: frequency of the loops over that of the design, least and largest": [
            float(np.abs(slow).min() / BANDWIDTH),
            float(np.abs(slow).max() / BANDWIDTH),
        ],
        "attitude: modes, and those that lose damping by the loops": [
            float(len(before)),
            float(np.sum(after < before * (1 - 1e-9))),
        ],
    }


def inertia_of(station: art.Mechanism) -> tuple[np.ndarray, np.ndarray]:
    """Return inertia about the center of mass of the undeformed station, and that center from the hub's origin."""
    M = np.asarray(station.mass_matrix(station.neutral))[:6, :6]
    mass, first = M[3, 3], M[:3, 3:]
    center = np.array([first[2, 1], first[0, 2], first[1, 0]]) / mass
    return M[:3, :3] - first @ first.T / mass, center


def fly_managed() -> dict:
    """Return how the station flies in the end, its lowest modes free, under a steady torque and a wrong attitude at the start."""
    station = art.load("hub_with_appendages", modes=FEW).frame("rack", "hub", RACK)
    J, center = inertia_of(station)
    K = sc.momentum_gains(tuple(J.diagonal()), ORBIT.rate, angle=0.05, momentum=20.0, torque=0.1)
    state, turning = ORBIT.state(), np.array([0, -ORBIT.rate, 0])
    R = np.array([[0, 0, -1.0], [1, 0, 0], [0, -1, 0]]) @ art.spatial.rotation_of_quaternion(
        np.array([math.cos(0.01), math.sin(0.01), 0.0, 0.0])
    )
    q0, v0 = station.neutral.copy(), np.zeros(station.nv)
    q0[:7] = *art.spatial.quaternion_of_rotation(R), *(state.position - R @ center)
    v0[:6] = *turning, *(R.T @ state.velocity - np.cross(turning, center))
    axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    parts = [
        c.spacecraft.SpaceEnvironment("hub"),
        c.CentralGravity(),
        *(c.spacecraft.Tachometer(name) for name in STORES),
        c.spacecraft.Microgravity("rack"),
        c.spacecraft.HillPointing(),
        c.spacecraft.MomentumManagement("hub", tuple(map(tuple, K)), STORES, name="manager"),
        c.spacecraft.TorqueAllocation("manager.torque", axes, STORES),
        *(
            c.ReactionWheel("hub", LARGE, a, name=n, momentum=LARGE * w)
            for a, n, w in zip(axes, STORES, turning)
        ),
        c.PrescribedForce("flight", (0, STEADY, 0, 0, 0, 0)),
    ]
    run = art.simulate(station, END, q0, v0, components=parts, method="rk4", step=STEP, sample=100.0)
    momenta = np.concatenate([run[f"{name}.momentum"] for name in STORES], axis=1)
    angles = 2 * np.arcsin(run["manager.angles"] / 2)
    return {
        "momentum manager: pitch at the torque equilibrium, less that of the closed form [rad]": float(
            angles[-1, 1] + 0.5 * math.asin(2 * STEADY / (3 * ORBIT.rate**2 * (J[2, 2] - J[0, 0])))
        ),
        "momentum manager: roll and yaw in the end [rad]": angles[-1, [0, 2]],
        "momentum manager: momentum in the end over the largest": float(
            np.abs(momenta[-1]).max() / np.abs(momenta).max()
        ),
        "microgravity at the rack, less that of the closed form, over the largest of it": felt(
            run["rack_microgravity.acceleration"][-1], np.array(RACK) - center, angles[-1, 1]
        ),
    }


def felt(found: np.ndarray, r: np.ndarray, pitch: float) -> np.ndarray:
    """Return the difference from n^2 (y y' - 3 e e') r, with the direction e to the Earth in axes of the craft."""
    down = np.array([-math.sin(pitch), 0.0, math.cos(pitch)])
    expected = ORBIT.rate**2 * (np.array([0, r[1], 0]) - 3 * (down @ r) * down)
    return (found - expected) / np.abs(expected).max()
