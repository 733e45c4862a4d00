"""Mechanisms with coupled joints, and the same by hand: T, its rate, and the tree's state from the independent one.

`ALL` lists them by name. Every one is a mechanism `free` whose joints move by themselves, and couplings on it; `lift` gives
the state of `free` from formulas that are written out here, not taken from the package.
"""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass

import numpy as np

import articulus as art
import zoo
from articulus import structure
from zoo import State

A, B, C = 0.7, -1.3, 0.4


@dataclass(frozen=True)
class Case:
    """A mechanism with couplings, and `free`, the same without them.

    `rows` maps the name of each coupled joint to (position, first derivatives, second derivatives) as functions of the
    positions of the independent joints by name.
    """

    coupled: art.Mechanism
    free: art.Mechanism
    rows: dict

    def lift(self, q: np.ndarray) -> np.ndarray:
        """Return the positions of all joints."""
        c, f = self.coupled.description, self.free.description
        out = self.free.neutral
        for name in self.free.joint_names:
            at = f.q_slices[name]
            out[at] = self.rows[name](self._named(q))[0] if name in self.rows else q[c.q_slices[name]]
        for body in f.bodies:
            out[f.mode_slices(body.name)[1]] = q[c.mode_slices(body.name)[1]]
        return out

    def T(self, q: np.ndarray) -> np.ndarray:
        """Return the velocities of all joints by the independent ones."""
        c, f = self.coupled.description, self.free.description
        out = np.zeros((f.nv, c.nv))
        for name in self.free.joint_names:
            if name in self.rows:
                for other, slope in self.rows[name](self._named(q))[1].items():
                    out[f.v_slices[name].start, c.v_slices[other].start] = slope
            else:
                out[f.v_slices[name], c.v_slices[name]] = np.eye(self._nv(name))
        for body in f.bodies:
            modes = f.mode_slices(body.name)[0]
            out[modes, c.mode_slices(body.name)[0]] = np.eye(modes.stop - modes.start)
        return out

    def carried(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the accelerations of all joints at constant v."""
        c, f = self.coupled.description, self.free.description
        out = np.zeros(f.nv)
        for name, row in self.rows.items():
            for other, bend in row(self._named(q))[2].items():
                out[f.v_slices[name].start] = bend * v[c.v_slices[other].start] ** 2
        return out

    def state(self, seed: int = 5) -> State:
        """Return a random state of the coupled mechanism; modes are deflected little."""
        s, d = zoo.random_state(self.coupled, seed), self.coupled.description
        if not d.flexible:
            return s
        q, joints = np.zeros(d.nq), list(s.q)
        for name, at in d.q_slices.items():
            if at.stop > at.start:
                q[at] = joints.pop(0)
                q[d.mode_slices(d.connections[list(d.q_slices).index(name)].child)[1]] = 0.02
        return dataclasses.replace(s, q=q)

    def tree_state(self, s: State) -> State:
        """Return the state of `free` with random forces that do the work of s.tau."""
        T = self.T(s.q)
        vdot = T @ s.vdot + self.carried(s.q, s.v)
        return State(self.lift(s.q), T @ s.v, vdot, np.linalg.pinv(T).T @ s.tau)

    def _nv(self, name: str) -> int:
        at = self.free.description.v_slices[name]
        return at.stop - at.start

    def _named(self, q: np.ndarray) -> dict[str, float]:
        c = self.coupled.description
        return {n: q[at][0] for n, at in c.q_slices.items() if at.stop - at.start == 1}


def _twice(build) -> tuple[art.Mechanism, art.Mechanism]:
    return build(), build()


def _tree(seed: int, bodies: int, floating: bool = False, **options) -> art.Mechanism:
    return zoo.random_mechanism(
        seed,
        bodies,
        zoo.ONE_FREEDOM,
        floating=floating,
        rotors=0.6,
        armature=True,
        friction=True,
        springs=True,
        **options,
    )


def _linear() -> Case:
    """A gear, a chain of two couplings, and a sum of two joints, on a tree with a base that flies."""
    m, free = _twice(lambda: _tree(41, 7, floating=True))
    m.couple("j6", to="j3", ratio=A, offset=0.2)
    m.couple("j3", to="j1", ratio=B)
    m.couple("j4", to=("j2", "j5"), ratio=(C, -A), offset=-0.1)
    rows = {
        "j3": lambda q: (B * q["j1"], {"j1": B}, {}),
        "j6": lambda q: (A * B * q["j1"] + 0.2, {"j1": A * B}, {}),
        "j4": lambda q: (C * q["j2"] - A * q["j5"] - 0.1, {"j2": C, "j5": -A}, {}),
    }
    return Case(m, free, rows)


def _polynomial() -> Case:
    """A cubic, and a joint that follows the joint of the cubic."""
    m, free = _twice(lambda: _tree(42, 5))
    m.couple("j2", to="j0", polynomial=(0.1, A, B, C))
    m.couple("j4", to="j2", ratio=-2.0, offset=0.3)

    def cubic(q):
        x = q["j0"]
        return (
            0.1 + A * x + B * x**2 + C * x**3,
            {"j0": A + 2 * B * x + 3 * C * x**2},
            {"j0": 2 * B + 6 * C * x},
        )

    def follower(q):
        x, slope, bend = cubic(q)
        return 0.3 - 2 * x, {"j0": -2 * slope["j0"]}, {"j0": -2 * bend["j0"]}

    return Case(m, free, {"j2": cubic, "j4": follower})


def _parameters() -> Case:
    """Ratio and offset as named parameters, beside others of the mechanism."""
    m, free = _twice(lambda: _tree(43, 4, parameters=["mass", "stiffness"]))
    m.couple("j2", to="j1", ratio=art.Parameter("ratio", A), offset=art.Parameter("offset", C))
    return Case(m, free, {"j2": lambda q: (A * q["j1"] + C, {"j1": A}, {})})


def _flexible() -> Case:
    """Hinges at both ends of a flexible boom, the outer one geared to the inner one by a cubic."""

    def arm() -> art.Mechanism:
        m = art.Mechanism("flexible", gravity=(0.3, -0.4, -9.7))
        m.body("hub", mass=2.0, inertia=(0.1, 0.2, 0.15), com=(0.02, 0.01, 0.1))
        m.flexible("boom", structure.beam_body(1.0, EI=300.0, mass_per_length=2.0, modes=2, planes="z"))
        m.body("hand", mass=0.8, inertia=(0.01, 0.02, 0.02), com=(0.1, 0.02, 0.0))
        m.joint("swing", art.Revolute(axis=(0, 0, 1)), "ground", "hub", damping=0.1)
        m.joint("lift", art.Revolute(axis=(0, 1, 0)), "hub", "boom", at=(0.1, 0, 0.2), stiffness=2.0)
        m.joint("wrist", art.Revolute(axis=(0, 1, 0)), "boom", "hand", node="tip", damping=0.05)
        return m.frame("tool", "hand", (0.2, 0, 0)).frame("camera", "hub").frame("bench", "ground")

    m, free = _twice(arm)
    m.couple("lift", to="wrist", polynomial=(0.1, -0.5, 0.0, 0.2))

    def cubic(q):
        x = q["wrist"]
        return 0.1 - 0.5 * x + 0.2 * x**3, {"wrist": -0.5 + 0.6 * x**2}, {"wrist": 1.2 * x}

    return Case(m, free, {"lift": cubic})


def four_bar(couple: bool = True) -> art.Mechanism:
    """Return a four-bar whose coupler carries a wheel geared to the crank's pin, and whose rocker a rack driven by the wheel."""
    m, y = art.Mechanism("geared four-bar"), (0, 1, 0)
    m.body("crank", mass=1.0, com=(0, 0, 0.25), inertia=(0.02, 0.03, 0.01))
    m.body("coupler", mass=1.5, com=(0.5, 0, 0), inertia=(0.02, 0.1, 0.1))
    m.body("rocker", mass=1.2, com=(0, 0, 0.4), inertia=(0.05, 0.06, 0.01))
    m.body("wheel", mass=0.7, com=(0.05, 0, 0.02), inertia=(0.01, 0.02, 0.01))
    m.body("rack", mass=0.3, inertia=(0.01, 0.01, 0.01))
    m.joint("crank", art.Revolute(axis=y), "ground", "crank")
    m.joint("coupler", art.Revolute(axis=y), "crank", "coupler", at=(0, 0, 0.5), damping=0.1)
    m.joint("rocker", art.Revolute(axis=y), "ground", "rocker", at=(1, 0, 0))
    m.joint("wheel", art.Revolute(axis=y), "coupler", "wheel", at=(0.5, 0, 0.1), damping=0.05, stiffness=0.3)
    m.joint("rack", art.Prismatic(axis=(1, 0, 0)), "rocker", "rack", at=(0, 0, 0.5))
    m.loop("pin", art.Revolute(axis=y), "coupler", "rocker", at=(1, 0, 0), child_at=(0, 0, 0.8))
    if couple:
        m.couple("wheel", to="coupler", ratio=-3.0, offset=0.2)
        m.couple("rack", to="wheel", polynomial=(0.0, 0.02, 0.01))
    return m


def _wheel(q):
    return 0.2 - 3 * q["coupler"], {"coupler": -3.0}, {}


def _rack(q):
    x = 0.2 - 3 * q["coupler"]
    return 0.02 * x + 0.01 * x**2, {"coupler": -3 * (0.02 + 0.02 * x)}, {"coupler": 9 * 0.02}


@functools.cache
def linkage() -> Case:
    """Return the geared four-bar; its loop is part of both mechanisms."""
    return Case(four_bar(), four_bar(couple=False), {"wheel": _wheel, "rack": _rack})


BUILDERS = {"linear": _linear, "polynomial": _polynomial, "parameters": _parameters, "flexible": _flexible}
ALL = tuple(BUILDERS)


@functools.cache
def get(name: str) -> Case:
    """Return a case of the list."""
    return BUILDERS[name]()
