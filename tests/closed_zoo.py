"""Random mechanisms with closed loops: a random tree, and cut joints placed so that they close at a known position."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import casadi as ca
import numpy as np

import articulus as art
import zoo
from articulus.model.mechanism import ALL_JOINTS, Joint, LoopJoint, Pose

LOOP_JOINTS = tuple(j for j in ALL_JOINTS if j.closure_names)
"""Every joint type that can close a loop: those that declare closure rows."""


@dataclasses.dataclass(frozen=True)
class Closed:
    """A closed mechanism with a position at which every loop is closed, and joint forces."""

    mechanism: art.Mechanism
    q: np.ndarray
    tau: np.ndarray


def closed(
    seed: int,
    cut: Sequence[type[Joint]],
    bodies: int = 4,
    joints: Sequence[type[Joint]] = (art.Revolute, art.Universal, art.Spherical),
) -> Closed:
    """Return a chain of `bodies` with one loop for each joint type of `cut`, each loop over all the chain."""
    rng = np.random.default_rng(seed)
    mech = zoo.random_mechanism(seed, bodies, joints, branching=0.0, armature=True)
    state = zoo.random_state(mech, rng)
    maker = zoo._Maker(seed, ())
    for i, kind in enumerate(cut):
        joint = maker.joint(kind, "")
        here = np.array(ca.DM(joint.transform(ca.SX(_coordinates(joint, rng))).matrix()))
        child = f"b{bodies - 1 - i}"
        body = zoo.ask(mech, "pose", state.q, frames=(child,))
        at = Pose(tuple(rng.uniform(-0.5, 0.5, 3)), rpy=tuple(rng.uniform(-3, 3, 3)))
        child_at = Pose.from_matrix(np.linalg.inv(body) @ at.matrix() @ here)
        mech.constrain(LoopJoint(f"loop{i}", joint, "ground", child, at, child_at))
    return Closed(mech, state.q, state.tau)


def _coordinates(joint: Joint, rng: np.random.Generator) -> np.ndarray:
    if joint.nq != joint.nv:  # a quaternion first
        return np.concatenate([rng.normal(size=4), rng.uniform(-2, 2, joint.nq - 4)])
    return rng.uniform(-2, 2, joint.nq) * 2


def skew_four_bar() -> art.Mechanism:
    """Return a crank and a rocker on skew axes, with a coupler on a universal joint between: three rows, one degree of freedom."""
    m = art.Mechanism("skew four-bar")
    mass = art.Parameter("coupler_mass", 2.0)
    m.body("crank", 1.0, (0.15, 0, 0), (0.01, 0.02, 0.02))
    m.body("coupler", mass, (0.4, 0, 0), (0.02, 0.1, 0.1))
    m.body("rocker", 1.5, (0, 0, 0.3), (0.1, 0.1, 0.02))
    m.joint("crank_pin", art.Revolute((0, 0, 1)), "ground", "crank", damping=0.05)
    m.joint("cross", art.Universal(), "crank", "coupler", at=(0.3, 0, 0))
    m.joint("rocker_pin", art.Revolute((0, 0.96, 0.28)), "ground", "rocker", at=(1.0, 0.2, -0.4))
    m.loop("ball", art.Spherical(), "coupler", "rocker", at=(0.8, 0, 0), child_at=(0, 0, 0.6))
    return m


def four_bar(axis: Sequence[float] = (0.0, -1.0, 0.0), closed_by: Joint | None = None) -> art.Mechanism:
    """Return a planar four-bar linkage in the x-z plane, cut at the rocker's pin; it is a square at q = 0."""
    m = art.Mechanism("four-bar")
    rods = (
        ("crank", "ground", (0, 0, 0), 1.0),
        ("coupler", "crank", (0, 0, 1), 2.0),
        ("rocker", "ground", (1, 0, 0), 1.5),
    )
    for name, parent, at, mass in rods:
        along = (0.5, 0, 0) if name == "coupler" else (0, 0, 0.5)
        m.body(name, mass, along, (mass / 12, mass / 12, mass / 12))
        m.joint(f"{name}_pin", art.Revolute(tuple(axis)), parent, name, at=at)
    m.loop(
        "pin", closed_by or art.Revolute(tuple(axis)), "coupler", "rocker", at=(1, 0, 0), child_at=(0, 0, 1)
    )
    return m


def values(
    mech: art.Mechanism, name: str, *arguments: object, frames: tuple[str, ...] = ()
) -> tuple[np.ndarray, ...]:
    """Return the outputs of a quantity by the CasADi virtual machine; columns come as vectors."""
    out = zoo._function(mech.description, name, frames, ()).call(
        [ca.DM(np.asarray(a, dtype=float)) for a in arguments]
    )
    return tuple(np.array(x).ravel() if x.shape[1] == 1 else np.array(x) for x in out)


def admissible(mech: art.Mechanism, q: np.ndarray, v: np.ndarray, t: float = 0.0) -> np.ndarray:
    """Return the velocity nearest to v that the constraints allow."""
    (G,), (rate,) = values(mech, "constraint_jacobian", q, t), values(mech, "constraint_rate", q, v, t)
    return v - np.linalg.pinv(np.atleast_2d(G), rcond=1e-10) @ rate


def bricard() -> art.Mechanism:
    """Return Bricard's linkage of six equal rods along edges of a cube, one of them the ground.

    Its five rows have rank four. It moves by its special dimensions alone: off the closed positions all five rows are independent. At q = 0 it is the cube.
    """
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
    rods = np.roll(corners, -1, axis=0) - corners
    pins = [tuple(np.cross(rods[i - 1], rods[i])) for i in range(6)]
    m = art.Mechanism("Bricard")
    for i in range(5):
        inertia = (1 - np.abs(rods[i])) / 12 + 1e-4
        m.body(f"rod{i}", 1.0, tuple(rods[i] / 2), tuple(inertia))
        at = tuple(rods[i - 1]) if i else (0, 0, 0)
        m.joint(f"pin{i}", art.Revolute(pins[i]), f"rod{i - 1}" if i else "ground", f"rod{i}", at=at)
    m.loop("close", art.Revolute(pins[5]), "rod4", "ground", at=tuple(rods[4]), child_at=tuple(corners[5]))
    return m
