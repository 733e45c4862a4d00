"""Joint torques that move the tip of a spatial arm and the end point of a closed chain, proved by forward simulation."""

import numpy as np

import articulus as art
from articulus.cases.ledesma_planar.case import error
from articulus.cases.ledesma_spatial.models import arm, chain, link
from articulus.motion.inversion import Line, Profile, accessibility, tip_torques
from articulus.motion.inversion.piezo.locked import locked_modes

MOTORS = ("base1", "base2", "base3", "elbow")
POSE = {"base1": 0.3, "base2": -0.4, "base3": 0.5, "elbow": 1.2}
CLOSED = {"joint1": 2.2, "joint2": -1.4, "joint4": 0.9, "joint3": 1.4}


def compute() -> dict:
    return open_chain() | closed_chain() | vibrations()


def vibrations() -> dict:
    """Return frequencies and damping of the arm and of one link on a hinge."""
    plain = arm(modes=2)
    held = locked_modes(plain, POSE, count=1)
    one = art.Mechanism("link", gravity=(0, 0, 0)).flexible("link", link(70e9, 27e9, 4, 0.1))
    one.joint("hinge", art.Revolute((0, 0, 1)), "ground", "link")
    n = one.nv
    tangent, _, H = one.inverse_dynamics_derivatives(np.zeros(one.nq), np.zeros(n), np.zeros(n))
    turning = [k for k, name in enumerate(one.v_names) if name == "hinge" or ".y" in name]
    own = np.ix_(turning, turning)
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(H[own], tangent[own])).real)
    modes = link(70e9, 27e9, 1)
    share = float(modes.damping[0, 0] / modes.stiffness[0, 0])
    return {
        "arm: damping in proportion to stiffness [s]": share,
        "arm: its ratios at 3.4 and 30 Hz [%]": 100 * np.pi * share * np.array([3.4, 30.0]),
        "arm: first frequency with its motors held, and of one link with its tip mass on a hinge [Hz]": [float(held.modal.omega[0] / (2 * np.pi)), float(np.sqrt(squares[1]) / (2 * np.pi))],
    }  # fmt: skip


def open_chain() -> dict:
    plain = arm()
    q = plain.positions(POSE)
    begin = np.append(plain.pose("tip", q)[:3, 3], plain.pose("knee", q)[2, 3])
    path = Line(begin, begin + np.array([0, -0.3, 0.3, 0]), Profile(0.6, law="sine"))
    found = tip_torques(plain, "tip", path, MOTORS, outputs=("x", "y", "z", "knee.z"), guess=q)
    off, rigid = (error(plain, found, inputs) for inputs in (None, found.figures["rigid_inputs"]))
    flat = {"base1": 0.4, "base2": 0.0, "base3": 0.0, "elbow": 1.2}
    two = accessibility(plain, "tip", ("base1", "elbow"), flat, outputs=("x", "z"))
    return {
        "arm: inverse torques move the tip to 1e-9 m, all checks hold (1 if so)": off.max() < 1e-9
        and found.ok,
        "arm: rigid torques are off by 5 mm (1 if so)": rigid.max() > 5e-3,
        "arm: the tip stays in a plane x = const while the links bend out of theirs (1 if so)": np.ptp(
            found.outputs[:, 0]
        )
        < 1e-12
        and min(np.ptp(found.state(f"q.{body}.{mode}1")) for body in ("upper", "lower") for mode in "yz")
        > 1e-4,
        "arm in a plane, motors across it only: the direction that they cannot move is tip.z (1 if so)": not two.ok
        and two.name_direction() == "tip.z",
    }


def closed_chain() -> dict:
    plain = chain()
    path = Line((0.43, 1.43), (0.63, 1.23), Profile(1.0, law="sine"))
    found = tip_torques(plain, "tip", path, ("joint2", "joint3"), guess=CLOSED)
    off, rigid = (error(plain, found, inputs) for inputs in (None, found.figures["rigid_inputs"]))
    return {
        "closed chain: inverse torques move the end point to 1e-9 m, all checks hold (1 if so)": off.max()
        < 1e-9
        and found.ok,
        "closed chain: rigid torques are off by 2 mm (1 if so)": rigid.max() > 2e-3,
        "closed chain: links twist and bend out of their plane (1 if so)": min(
            np.ptp(found.state(f"q.link2.{mode}")) for mode in ("z1", "torsion1")
        )
        > 1e-7,
    }
