"""A truss crane of 100 m moves its tip along a path by inverse dynamics, braces itself at the workpiece, and works there with a small arm.

The source is an abstract without data: all numbers are assumed. Two booms of ten bays with four longerons each, as bars of finite elements,
hinged at the station and in the middle; at the tip a platform with an arm for fine motion.
"""

import itertools
import math

import numpy as np

import articulus as art
from articulus.model.mechanism import Polynomial, Prescribed
from articulus.motion.inversion import Inversion, Line, Profile, tip_torques
from articulus.simulation.loop.events import Capture
from articulus.structure import Bar, Lumped, RigidLink, Section, Structure, craig_bampton, modes_of
from articulus.structure.element import Element

BAYS, BAY, DEPTH = 10, 5.0, 2.0  # of each boom, m, m
MEMBER, JOINT, DAMPING = Section(mass=1.35, EA=3.5e7), 2.0, 0.02  # aluminum tubes, kg, ratio
PLATFORM, ARM, REACH = 400.0, 60.0, 3.0  # kg, kg, m
START = {"shoulder": -1.0, "elbow": 1.6}  # rad
WAY, TIME = (12.0, -10.0), 80.0  # m along x and z, s
FINE, FINE_TIME = math.radians(40), 6.0  # rad, s
FOOT, GAP = (1.0, 0.0, -1.0), (0.02, 0.0, 0.0)  # of the platform, from foot to workpiece [m]
KEPT, DRIVEN, STEP = (8, 1), ("shoulder", "elbow"), 0.4
"""Modes of a boom with both ends held, beside the six shapes of its tip: for the path, for the fine motion."""


class Boom:
    """A boom as a structure: corners "k.a" to "k.d" of its stations k, and the middle of its end, "tip"."""

    def __init__(self, plane: bool, kept: int) -> None:
        corners = [(y, z) for y, z in itertools.product((-DEPTH / 2, DEPTH / 2), repeat=2)]
        names = [f"{k}.{c}" for k in range(BAYS + 1) for c in "abcd"]
        places = [(k * BAY, y, z) for k in range(BAYS + 1) for y, z in corners]
        self.members = [pair for k in range(BAYS + 1) for pair in _members(k)]
        elements: list[Element] = [Bar(a, b, MEMBER) for a, b in self.members]
        elements += [Lumped(name, JOINT) for name in names]
        end = RigidLink("tip", [f"{BAYS}.{c}" for c in "abcd"])
        self.structure = Structure.assemble(
            [*places, (BAYS * BAY, 0.0, 0.0)],
            elements,
            names=[*names, "tip"],
            fixed={f"0.{c}": "all" for c in "abcd"},
            ties=[end],
        )
        shapes = craig_bampton(self.structure, {"tip": "all"}, kept).basis
        self.basis = shapes[:, self._in_plane(shapes)] if plane else shapes
        self.body = modes_of(
            self.structure, self.basis, origin=(0.0, 0.0, 0.0), stations={"tip": "tip"}, damping=DAMPING
        )
        self.tension, self.root = self._tension(), self._root()

    def _in_plane(self, shapes: np.ndarray) -> np.ndarray:
        """Return which shapes move along x and z more than along y."""
        moves = self._moves(shapes)
        size = (moves[:, :3] ** 2).sum(axis=0)
        return size[1] < size[0] + size[2] - 1e-9

    def _moves(self, shapes: np.ndarray) -> np.ndarray:
        """Return rotations and translations of all nodes, (nodes, 6, shapes)."""
        s = self.structure
        whole = s.whole or s
        return (whole.motion @ s.in_whole(shapes)).reshape(len(s.names), 6, -1)

    def _tension(self) -> np.ndarray:
        """Return the forces of the members for unit modal coordinates, (members, modes) [N]."""
        s, moves = self.structure, self._moves(self.basis)
        rows = []
        for a, b in self.members:
            i, j = s.node(a), s.node(b)
            along = s.positions[j] - s.positions[i]
            length = np.linalg.norm(along)
            rows.append(MEMBER.EA / length**2 * along @ (moves[j, :3] - moves[i, :3]))
        return np.array(rows)

    def _root(self) -> np.ndarray:
        """Return the moment about y at the root for unit forces of the members, (members,) [m]."""
        s, out = self.structure, np.zeros(len(self.members))
        for k, pair in enumerate(self.members):
            ends = s.positions[[s.node(name) for name in pair]]
            for here, there in (ends, ends[::-1]):
                if here[0] == 0.0:
                    away = there - here
                    out[k] += np.cross(here, away / np.linalg.norm(away))[1]
        return out


def _members(k: int) -> list[tuple[str, str]]:
    """Return the members of a frame and of the bay before it."""
    frame = [(f"{k}.{p}", f"{k}.{q}") for p, q in map(tuple, ("ab", "bd", "dc", "ca", "ad"))]
    if k == 0:
        return []
    bay = [(f"{k - 1}.{c}", f"{k}.{c}") for c in "abcd"]
    turned = "ab", "bd", "dc", "ca"
    return (
        frame
        + bay
        + [
            (f"{k - 1}.{p}", f"{k}.{q}")
            for p, q in map(tuple, turned if k % 2 else [t[::-1] for t in turned])
        ]
    )


def compute() -> dict:
    boom = Boom(True, KEPT[0])
    m = crane(boom).with_locked(["wrist"])
    q0 = m.positions(START)
    begin = m.pose("tip", q0)[[0, 2], 3]
    line = Line(begin, begin + np.array(WAY), Profile(TIME, law="sine"))
    found = tip_torques(m, "tip", line, DRIVEN, outputs=("x", "z"), guess=q0, step=STEP)
    envelope = boom.tension @ modal(found, "lower", boom).T
    torque = found.inputs[:, 0]
    braced, free = (fine(found, brace) for brace in (True, False))
    return {
        "length [m] and bays": [2 * BAYS * BAY, 2 * BAYS],
        "way of the tip [m]": m.pose("tip", last(m, found))[[0, 2], 3] - begin,
        "shoulder torque by the forces of the members at the root, largest difference over the largest torque": float(
            np.abs(boom.root @ envelope + torque).max() / np.abs(torque).max()
        ),
        "largest force of a member over the largest shoulder torque by two lengths of the lever": float(
            np.abs(envelope).max() / (np.abs(torque).max() / (2 * DEPTH))
        ),
        "braced: caught at the start (1 = yes)": float(braced[1] == 1),
        "braced: strain energy of the booms at least 100 times smaller, amplitudes 10 times (1 = yes)": float(
            braced[0] < free[0] / 100
        ),
    }


def last(m: art.Mechanism, found: Inversion) -> np.ndarray:
    """Return the position of the crane at the end, (nq,)."""
    return np.array([found.state(f"q.{name}")[-1] for name in m.q_names])


def modal(found: Inversion, body: str, boom: Boom) -> np.ndarray:
    """Return the modal coordinates of a boom over time, (n, modes)."""
    return np.column_stack([found.state(f"q.{body}.{name}") for name in boom.body.names])


def fine(found: Inversion, brace: bool) -> tuple[float, int]:
    """Return the largest strain energy of the booms in a fine motion of the arm at the end of the path [J], and how many captures there were."""
    boom = Boom(False, KEPT[1])
    m = crane(boom)
    q0 = m.neutral.copy()
    for name in DRIVEN:
        q0[m.q_slice(name)] = found.state(f"q.{name}")[-1]
    m.frame("foot", "platform", FOOT)
    m.frame("workpiece", "ground", tuple(m.pose("foot", q0)[:3, 3] + GAP))
    m = m.with_locked(list(DRIVEN), q0)
    q0 = m.neutral
    events = []
    if brace:
        m.constrain(art.PointOnPoint("brace", "foot", "workpiece"))
        events = [Capture("brace", distance=0.05, speed=0.01)]
    m.constrain(
        Prescribed("fine", "wrist", Polynomial((0.0, 0.0, 3 * FINE / FINE_TIME**2, -2 * FINE / FINE_TIME**3)))
    )
    run = art.simulate(m, FINE_TIME, q0, events=events, method="rk4", step=0.01, sample=0.05)
    energy = sum(
        np.einsum("ti,ij,tj->t", x, boom.body.stiffness, x) / 2
        for x in (
            run.q[:, [m.q_names.index(f"{b}.{n}") for n in boom.body.names]] for b in ("lower", "upper")
        )
    )
    return float(energy.max()), len(run.events)


def crane(boom: Boom) -> art.Mechanism:
    """Return the crane: shoulder and elbow about y, the platform at the tip with its arm."""
    m = art.Mechanism("crane", gravity=(0, 0, 0))
    before: dict = {"parent": "ground"}
    for name, joint in (("lower", "shoulder"), ("upper", "elbow")):
        m.flexible(name, boom.body)
        m.joint(joint, art.Revolute((0, 1, 0)), before["parent"], name, **before.get("more", {}))
        before = {"parent": name, "more": {"node": "tip"}}
    m.body("platform", PLATFORM, (0, 0, 0), (150.0, 150.0, 150.0))
    m.joint("platform", art.Fixed(), "upper", "platform", node="tip")
    m.body("arm", ARM, (REACH / 2, 0, 0), (0.5, ARM * REACH**2 / 12, ARM * REACH**2 / 12))
    m.joint("wrist", art.Revolute((0, 1, 0)), "platform", "arm")
    return m.frame("tip", "platform")
