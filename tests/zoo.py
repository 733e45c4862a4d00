"""Random mechanisms and states for the laws: every joint type, every place where a number may be a parameter.

`random_mechanism(seed, bodies, ...)` makes one, `ALL` is the fixed list by name, `random_state` a state with unit
quaternions, `ask` puts a question to the CasADi virtual machine (nothing is compiled), `with_numbers` writes the
numbers of parameters into a model. All randomness comes from the seed.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

import articulus as art
from articulus.model.mechanism import ALL_JOINTS, Description, Joint, value_of

ONE_FREEDOM = (art.Revolute, art.Prismatic, art.Helical)
MOVING = tuple(j for j in ALL_JOINTS if j is not art.Fixed)
PARAMETER_KINDS = (
    "mass",
    "com",
    "inertia",
    "xyz",
    "rpy",
    "quaternion",
    "armature",
    "damping",
    "coulomb",
    "stiffness",
    "rest",
    "rotor",
    "pitch",
    "gravity",
)
"""Fields in which `random_mechanism` can put a named parameter."""


@dataclasses.dataclass(frozen=True)
class State:
    """A state with an acceleration and joint forces, at a time; there are no constraints, hence no multipliers."""

    q: np.ndarray
    v: np.ndarray
    vdot: np.ndarray
    tau: np.ndarray
    t: float = 0.25
    multipliers: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(0))

    @property
    def q_end(self) -> np.ndarray:
        """Another position; its quaternions are not unit."""
        return self.q + 0.1


class _Maker:
    """Draws the numbers of one mechanism; wraps some in parameters."""

    def __init__(self, seed: int, kinds: Collection[str]):
        self.rng = np.random.default_rng(seed)
        self.kinds = frozenset(kinds)

    def vary(self, kind: str, label: str, numbers: Sequence[float]) -> tuple:
        """Return the numbers, the first of them as a parameter when this kind is asked for."""
        if kind not in self.kinds:
            return tuple(numbers)
        return (art.Parameter(f"{kind}_{label}", numbers[0]), *numbers[1:])

    def unit(self, n: int = 3) -> tuple[float, ...]:
        x = self.rng.normal(size=n)
        return tuple(x / np.linalg.norm(x))

    def axis(self) -> tuple[float, ...]:
        """Return a coordinate axis half of the time (symbols cancel there), any direction otherwise."""
        if self.rng.random() < 0.5:
            return tuple(map(float, self.rng.choice([-1, 1]) * np.eye(3)[self.rng.integers(3)]))
        return self.unit()

    def pose(self, label: str) -> art.Pose:
        """Return a placement: a shift alone, roll-pitch-yaw or a quaternion, sometimes by right angles."""
        xyz = self.vary("xyz", label, self.rng.uniform(-0.4, 0.4, 3))
        form = self.rng.integers(4)
        if "rpy" in self.kinds or form == 0:
            return art.Pose(xyz=xyz, rpy=self.vary("rpy", label, self.rng.uniform(-3, 3, 3)))
        if "quaternion" in self.kinds or form == 1:
            return art.Pose(xyz=xyz, quaternion=self.vary("quaternion", label, self.rng.normal(size=4)))
        if form == 2:
            return art.Pose(xyz=xyz, rpy=tuple(self.rng.integers(-1, 3, 3) * np.pi / 2))
        return art.Pose(xyz=xyz)

    def body(self, label: str) -> dict[str, Any]:
        """Return mass, center of mass and an inertia of a real body: a random ellipsoid, turned at random."""
        mass, semi = self.rng.uniform(0.5, 3.0), self.rng.uniform(0.05, 0.3, 3)
        moments = mass / 5 * (np.sum(semi**2) - semi**2)
        R, _ = np.linalg.qr(self.rng.normal(size=(3, 3)))
        I = R @ np.diag(moments) @ R.T
        six = (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        return {
            "mass": self.vary("mass", label, (mass,))[0],
            "com": self.vary("com", label, self.rng.uniform(-0.3, 0.3, 3)),
            "inertia": self.vary("inertia", label, tuple(map(float, six))),
        }

    def joint(self, kind: type[Joint], label: str) -> Joint:
        if kind is art.Universal:
            first = self.unit()
            second = np.cross(first, self.unit()) + 0.3 * np.array(first)
            return art.Universal(axis=first, second_axis=tuple(second / np.linalg.norm(second)))
        if kind is art.Helical:
            return art.Helical(self.axis(), self.vary("pitch", label, (self.rng.uniform(-0.5, 0.5),))[0])
        if kind in (art.Revolute, art.Prismatic, art.Cylindrical):
            return kind(self.axis())  # type: ignore[call-arg]
        return kind()

    def drive(self, joint: Joint, label: str, rotors: float, wanted: Mapping[str, bool]) -> dict[str, Any]:
        """Return armature, friction, spring and rotor of one joint."""
        out: dict[str, Any] = {}
        n = joint.nv
        for field in ("armature", "damping", "coulomb", "stiffness", "rest"):
            spring = field in ("stiffness", "rest")
            if n and wanted[field] and not (spring and joint.nq != n):
                low = -0.5 if field == "rest" else 0.05
                out[field] = self.vary(field, label, self.rng.uniform(low, 0.5, n))
        if wanted["coulomb"]:
            out["coulomb_speed"] = self.rng.uniform(0.3, 1.0)
        if n == 1 and self.rng.random() < rotors:
            inertia = self.vary("rotor", label, (self.rng.uniform(1e-3, 5e-3),))[0]
            out["rotor"] = art.Rotor(inertia, self.rng.uniform(2, 8) * self.rng.choice([-1, 1]), self.unit())
        return out


def random_mechanism(
    seed: int,
    bodies: int = 4,
    joints: Sequence[type[Joint]] = ALL_JOINTS,
    *,
    branching: float = 0.5,
    floating: bool = False,
    roots: int = 1,
    rotors: float = 0.0,
    armature: bool = False,
    friction: bool = False,
    springs: bool = False,
    parameters: Collection[str] = (),
    gravity: Sequence[float] = (0.7, -1.1, -9.5),
    name: str = "random",
) -> art.Mechanism:
    """Return a random mechanism.

    Parameters
    ----------
    seed : int
        Everything random comes from it.
    bodies : int
        Number of bodies; joint types are dealt so that all of `joints` appear once there are enough bodies.
    joints : sequence of Joint types
    branching : float
        Probability that a body hangs on any earlier body instead of the one before it.
    floating : bool
        Whether the first body hangs on ground by a free joint.
    roots : int
        How many bodies hang on ground.
    rotors : float
        Probability of a geared rotor at a joint with one degree of freedom.
    armature, friction, springs : bool
        Whether every joint has them.
    parameters : collection of str
        Kinds of fields (of `PARAMETER_KINDS`) whose first number becomes a named parameter everywhere.
    gravity : three numbers [m/s^2]
    name : str
    """
    maker = _Maker(seed, parameters)
    rng = maker.rng
    wanted = {
        "armature": armature,
        "damping": friction,
        "coulomb": friction,
        "stiffness": springs,
        "rest": springs,
    }
    mech = art.Mechanism(name, gravity=maker.vary("gravity", "x", gravity))
    deck = [joints[i % len(joints)] for i in rng.permutation(max(bodies, len(joints)))[:bodies]]
    for i in range(bodies):
        label = f"b{i}"
        parent = "ground" if i < roots else f"b{rng.integers(i) if rng.random() < branching else i - 1}"
        kind = art.Free if floating and i == 0 else deck[i]
        joint = maker.joint(kind, label)
        mech.body(label, **maker.body(label))
        mech.joint(
            f"j{i}",
            joint,
            parent,
            label,
            at=maker.pose(f"at_{label}"),
            child_at=maker.pose(f"child_{label}") if rng.random() < 0.5 else None,
            **maker.drive(joint, label, rotors, wanted),
        )
    mech.frame("tool", f"b{bodies - 1}", at=maker.pose("tool"))
    mech.frame("camera", f"b{rng.integers(bodies)}", at=maker.pose("camera"))
    mech.frame("bench", "ground", at=maker.pose("bench"))
    return mech


def random_state(mech: art.Mechanism, rng: np.random.Generator | int, speed: float = 1.0) -> State:
    """Return a random state; quaternions have unit norm."""
    rng = np.random.default_rng(rng)
    parts = [np.zeros(0)]
    for c in mech.description.connections:
        if c.name in mech.description.coupled:
            continue
        if c.joint.nq != c.joint.nv:  # a quaternion first
            quaternion = rng.normal(size=4)
            parts += [quaternion / np.linalg.norm(quaternion), rng.uniform(-1, 1, c.joint.nq - 4)]
        else:
            parts.append(rng.uniform(-1, 1, c.joint.nq) * np.where(c.joint.rotational, np.pi, 0.5))
    v, vdot, tau = (rng.normal(size=mech.nv) * s for s in (speed, 1.0, 1.0))
    return State(np.concatenate(parts), v, vdot, tau)


def with_numbers(thing: Any, numbers: Mapping[str, float] | None = None) -> Any:
    """Return a description (or a part of one) whose parameters are plain numbers: given ones, else their own."""
    if isinstance(thing, art.Parameter):
        return float((numbers or {}).get(thing.name, value_of(thing)))
    if isinstance(thing, tuple):
        return tuple(with_numbers(item, numbers) for item in thing)
    if dataclasses.is_dataclass(thing):
        fields = {f.name: getattr(thing, f.name) for f in dataclasses.fields(thing)}
        return dataclasses.replace(thing, **{k: with_numbers(x, numbers) for k, x in fields.items()})  # type: ignore[type-var]
    return thing


# questions to the CasADi virtual machine


@functools.lru_cache(maxsize=512)
def _function(description: Description, name: str, frames: tuple, wrenches: tuple) -> ca.Function:
    return art.Mechanism.from_description(description).function(name, frames, wrenches)


_VECTORS = frozenset(
    [
        "tau",
        "vdot",
        "bias",
        "gravity",
        "momentum",
        "com",
        "velocity",
        "acceleration",
        "qdot",
        "q_next",
        "D",
        "kinetic",
        "potential",
        "step",
    ]
)


def ask(
    mech: art.Mechanism,
    name: str,
    *arguments: Any,
    frames: tuple[str, ...] = (),
    wrenches: Mapping[str, Any] | None = None,
    params: Mapping[str, float] | None = None,
) -> Any:
    """Return a quantity of one state by the CasADi virtual machine: an array, or a tuple of arrays."""
    f = _function(mech.description, name, tuple(frames), tuple(wrenches or ()))
    values = {**mech.parameters, **(params or {})}
    row = [np.array([values[key] for key in mech.parameters])] if mech.parameters else []
    results = f.call(
        [ca.DM(np.asarray(x, dtype=float)) for x in (*arguments, *row, *(wrenches or {}).values())]
    )
    out = tuple(
        np.array(x).ravel() if f.name_out(i) in _VECTORS else np.array(x) for i, x in enumerate(results)
    )
    return out[0] if len(out) == 1 else out


# the fixed list


def _build() -> dict[str, Callable[[], art.Mechanism]]:
    make = functools.partial
    return {
        "one_hinge": make(random_mechanism, 1, 1, [art.Revolute]),
        "one_slide": make(random_mechanism, 2, 1, [art.Prismatic], springs=True, friction=True),
        "free_body": make(random_mechanism, 3, 1, floating=True),
        "hinge_chain": make(random_mechanism, 4, 7, [art.Revolute], branching=0.0, rotors=0.7, armature=True),
        "screws": make(
            random_mechanism, 5, 4, [art.Helical, art.Cylindrical], branching=0.0, parameters=["pitch"]
        ),
        "balls": make(random_mechanism, 6, 4, [art.Spherical], branching=0.7, armature=True, friction=True),
        "crosses": make(random_mechanism, 7, 4, [art.Universal, art.Planar], springs=True, friction=True),
        "every_joint": make(random_mechanism, 8, 10, armature=True, friction=True, springs=True),
        "geared_tree": make(random_mechanism, 9, 9, rotors=1.0, armature=True, branching=0.8),
        "spacecraft": make(
            random_mechanism,
            10,
            8,
            [art.Revolute, art.Fixed, art.Prismatic, art.Spherical],
            floating=True,
            rotors=0.5,
            gravity=(0.0, 0.0, 0.0),
        ),
        "humanoid": make(random_mechanism, 11, 20, [art.Revolute], floating=True, branching=0.3),
        "several_roots": make(random_mechanism, 12, 7, roots=3, rotors=0.5, springs=True),
        "parameters_rpy": make(
            random_mechanism,
            13,
            4,
            [art.Revolute, art.Helical, art.Universal, art.Prismatic],
            rotors=1.0,
            armature=True,
            friction=True,
            springs=True,
            parameters=[k for k in PARAMETER_KINDS if k != "quaternion"],
        ),
        "parameters_quaternion": make(
            random_mechanism,
            14,
            4,
            [art.Spherical, art.Revolute, art.Free, art.Fixed],
            branching=0.3,
            parameters=["quaternion", "xyz", "mass", "inertia", "gravity"],
        ),
        "long_chain": make(random_mechanism, 15, 40, [art.Revolute, art.Prismatic, art.Fixed], branching=0.1),
    }


BUILDERS = _build()
ALL = tuple(BUILDERS)
"""Names of the fixed mechanisms; `get` makes one."""
SMALL = tuple(n for n in ALL if n not in ("humanoid", "long_chain"))
"""Those with few enough bodies for automatic differentiation and for compiling every quantity."""


@functools.cache
def get(name: str) -> art.Mechanism:
    """Return a mechanism of the fixed list."""
    return BUILDERS[name]()
