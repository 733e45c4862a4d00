"""Two flexible links in space, three motors at the hub of each, piezos on the middle thirds: tips, twist, deflections, a simulation."""

import numpy as np

import articulus as art
from articulus.motion.inversion import Inversion, Profile, SplinePath, link_by_link
from articulus.simulation.loop.components import PiezoPair
from articulus.structure import beam_body

SIDE, YOUNG, SHEAR, DENSITY = 0.01, 70e9, 27e9, 2715.0
SECOND_MOMENT = SIDE**4 / 12
TIP_MASS, GAIN = 0.5, 0.2
HUB = 0.01
"""Inertia of each motor about its axis [kg m^2], assumed."""
DURATION = 1.0
MOTORS = (("yaw", "pitch", "roll"), ("elbow", "elbow_side", "elbow_twist"))
Z, Y, X = (0, 0, 1), (0, 1, 0), (1, 0, 0)


def arm() -> tuple[art.Mechanism, list[PiezoPair]]:
    """Return the arm with two modes in each plane and one of torsion for each link, and its four piezo pairs."""
    chain, piezos, parent, node = art.Mechanism("spatial_chain", gravity=(0, 0, 0)), [], "ground", ""
    for i, names in enumerate(MOTORS):
        link = f"link{i + 1}"
        held = beam_body(
            1.0, EI=YOUNG * SECOND_MOMENT, GJ=SHEAR * 0.1406 * SIDE**4, mass_per_length=DENSITY * SIDE**2,
            rotary_inertia=DENSITY * SECOND_MOMENT, modes=2, planes="both", torsion=1, elements=6,
            tip_mass=TIP_MASS * i, damping=0.0,
        )  # fmt: skip
        for k, (name, axis) in enumerate(zip(names, (Y, Z, X) if i else (Z, Y, X))):
            child = link if k == 2 else f"housing{i + 1}{k + 1}"
            if k == 2:
                chain.flexible(child, held)
            else:
                chain.body(child, massless="housing of a motor, counted to the link")
            chain.joint(name, art.Revolute(axis), parent, child, node=node, armature=HUB)
            parent, node = child, ""
        for third, at in (("near", "node2"), ("far", "node4")):
            chain.frame(f"{third}{i + 1}", link, node=at)
        piezos += [
            PiezoPair(f"near{i + 1}", f"far{i + 1}", gain=GAIN, axis=axis, name=f"piezo{i + 1}{letter}")
            for axis, letter in ((Y, "z"), (Z, "y"))
        ]
        node = "tip"
    return chain.frame("tip", "link2", node="tip"), piezos


def nominal() -> SplinePath:
    """Return the joints of the rigid arm while its tip goes along a straight line at x = 1.2 m."""
    t = np.linspace(0.0, DURATION, 401)
    s = Profile(DURATION, order=5).position(t)
    x, y, z = ((1 - s) * [1.2, -0.5, -0.4] + s * [1.2, 0.5, 0.4]).T
    reach = np.hypot(x, y)
    elbow = np.arccos((reach**2 + z**2 - 2) / 2)
    joints = np.zeros((len(t), 6))
    joints[:, 0], joints[:, 1], joints[:, 3] = np.arctan2(y, x), np.arctan2(-z, reach) - elbow / 2, elbow
    return SplinePath(joints, times=t, order=4)


def compute() -> dict:
    chain, piezos = arm()
    path = nominal()
    torques = link_by_link(chain, "tip", path, path_of="joints")
    both = link_by_link(chain, "tip", path, path_of="joints", piezos=piezos)
    across, twist, near = deflections(chain, both)
    before = deflections(chain, torques)[2]
    change = np.abs(both.inputs[:, :6] - torques.inputs).max() / np.abs(torques.inputs).max()
    return {
        "with piezos: ends of both links off their lines [m], and twisted [rad], below 1e-10 (1 = yes)": bool(
            max(across, twist) < 1e-10
        ),
        "deflections at the proximal thirds, both axes of both links, with piezos below 60 % of those without (1 = yes)": bool(
            (near < 0.6 * before).all()
        ),
        "piezos change the torques by less than a tenth of the largest (1 = yes)": bool(change < 0.1),
        "equations of motion: what is left over their largest term, below 1e-6 (1 = yes)": bool(
            max(torques.figures["residual"], both.figures["residual"]) < 1e-6
        ),
        "torques and voltages played in a simulation: tip less that predicted below 1e-5 m (1 = yes)": bool(
            replay(chain, both, piezos) < 1e-5
        ),
    }


def deflections(chain: art.Mechanism, found: Inversion) -> tuple[float, float, np.ndarray]:
    """Return how far the ends are off their lines [m] and twisted [rad], and deflections of the proximal thirds along y and z of each link [m]."""
    q = np.asarray(found.states)[:, : chain.nq]
    rigid = np.zeros_like(q)
    rigid[:, [chain.v_names.index(name) for names in MOTORS for name in names]] = found.outputs
    across, twist, near = 0.0, 0.0, []
    for link, end in (("link1", "housing21"), ("link2", "tip")):
        R = chain.pose(link, rigid)[:, :3, :3]
        hub = chain.pose(link, q)[:, :3, 3]
        apart, third = (
            np.einsum("tji,tj->ti", R, chain.pose(frame, q)[:, :3, 3] - hub)
            for frame in (end, f"near{link[-1]}")
        )
        across = max(across, float(np.abs(apart[:, 1:]).max()))
        near.append(np.abs(third[:, 1:]).max(0))
    turned = np.swapaxes(chain.pose("tip", rigid)[:, :3, :3], 1, 2) @ chain.pose("tip", q)[:, :3, :3]
    twist = float(min(np.abs(turned[:, 1, 2]).max(), np.abs(turned[:, 2, 1]).max()))
    return across, twist, np.array(near)


def replay(chain: art.Mechanism, found: Inversion, piezos: list[PiezoPair]) -> float:
    """Return the largest distance of the tip from where it is predicted, without any feedback [m]."""
    n, states = chain.nq, np.asarray(found.states)
    run = art.simulate(
        chain, found.t[-1] - found.t[0], q0=states[0, :n], v0=states[0, n:], step=5e-5, outputs=[],
        components=[*found.components(), *piezos],
    )  # fmt: skip
    tip = [chain.pose("tip", q)[:, :3, 3] for q in (run.q[::20], states[:, :n])]
    return float(np.abs(tip[0] - tip[1]).max())
