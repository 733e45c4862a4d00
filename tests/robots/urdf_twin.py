"""A URDF file in Pinocchio and here: the same mass matrix, bias, accelerations and poses at random states.

Pinocchio reads the file by itself. Joints that mimic others are joints of their own there; their law q2 = a q1 + b is taken from
the text of the file, and what belongs to the joints that are left follows by the matrix T of their ratios: T^T M T.
"""

from __future__ import annotations

import contextlib
import os
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import casadi as ca
import numpy as np
import pinocchio as pin

import articulus as art
from articulus.dynamics.kinematics import pose
from articulus.dynamics.quantities import function
from articulus.dynamics.tree import Tree
from articulus.errors import DoubtfulModel, UnsupportedOperation
from articulus.model.mechanism import Description


@dataclass(frozen=True)
class Difference:
    """What the two programs differ by, relative to the largest entry (the mass matrix: to its diagonal)."""

    mass_matrix: float
    bias: float
    """Beside the largest entry of the mass matrix (at 1 rad/s, m/s) where forces cancel."""
    acceleration: float | None
    """None where a joint moves no inertia, so that there are no accelerations."""
    pose: float

    @property
    def worst(self) -> float:
        return max(self.mass_matrix, self.bias, self.acceleration or 0.0, self.pose)


def read_quietly(model: Path | str, **options: object) -> art.Mechanism:
    """Return the mechanism of a file or of a text; its findings are in the mechanism."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulModel)
        return art.load(model, **options)


def pinocchio_model(file: Path, free: bool) -> pin.Model:
    """Return Pinocchio's model, or raise ValueError."""
    with _nothing_on_stderr():
        return (
            pin.buildModelFromUrdf(str(file), pin.JointModelFreeFlyer())
            if free
            else pin.buildModelFromUrdf(str(file))
        )


@contextlib.contextmanager
def _nothing_on_stderr() -> Iterator[None]:
    """Keep what the parser's C++ prints out of the output."""
    kept, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(null)


class Twin:
    """The same robot in both programs, at a random state.

    Attributes
    ----------
    q : array, (nq,)
        Position here; `q_tree` is that of Pinocchio.
    T : array, (nv of Pinocchio, nv)
        Velocities of Pinocchio for velocities here.
    """

    def __init__(self, file: Path, description: Description, model: pin.Model, seed: int = 0):
        self.model, self.data = model, model.createData()
        self.description = _without_friction(description)
        self.rng = np.random.default_rng(seed)
        self.q, self.q_tree = np.zeros(description.nq), pin.neutral(model)
        self.T = np.zeros((model.nv, description.nv))
        laws = _mimic_laws(file) if self.description.couplings else {}
        for c in sorted(self.description.connections, key=lambda c: c.name in self.description.coupled):
            if c.joint.nv:
                self._place(c.name, laws)

    def _place(self, name: str, laws: dict[str, tuple[str, float, float]]) -> None:
        """Give a joint a position in both programs, and its rows of T."""
        d, joint = self.description, self._joint(name)
        Q, V = d.q_slices[name], d.v_slices[name]
        if name in d.coupled:
            leader, ratio, offset = laws[name]
            angle = ratio * self._angle(leader) + offset
            self.T[joint.idx_v] = ratio * self.T[self._joint(leader).idx_v]
        elif joint.nv == 6:
            turn, place = self.rng.normal(size=4), self.rng.normal(size=3)
            turn /= np.linalg.norm(turn)
            self.q[Q] = np.r_[turn, place]
            self.q_tree[joint.idx_q : joint.idx_q + 7] = np.r_[place, turn[1:], turn[0]]
            self.T[joint.idx_v : joint.idx_v + 6, V] = np.eye(6)[[3, 4, 5, 0, 1, 2]]
            return
        else:
            assert joint.nv == 1
            angle = self.q[Q.start] = self.rng.uniform(-1, 1)
            self.T[joint.idx_v, V.start] = 1.0
        at = slice(joint.idx_q, joint.idx_q + joint.nq)
        self.q_tree[at] = (np.cos(angle), np.sin(angle)) if joint.nq == 2 else angle

    def _joint(self, name: str) -> pin.JointModel:
        return self.model.joints[
            self.model.getJointId(name if self.model.existJointName(name) else "root_joint")
        ]

    def _angle(self, name: str) -> float:
        joint = self._joint(name)
        held = self.q_tree[joint.idx_q : joint.idx_q + joint.nq]
        return float(np.arctan2(held[1], held[0]) if joint.nq == 2 else held[0])

    def difference(self) -> Difference:
        """Return what the two programs differ by."""
        d, T, model, data = self.description, self.T, self.model, self.data
        v, tau = self.rng.normal(size=d.nv), self.rng.normal(size=d.nv)
        M = pin.crba(model, data, self.q_tree)
        M = T.T @ (np.triu(M) + np.triu(M, 1).T) @ T
        bias = T.T @ pin.nle(model, data, self.q_tree, T @ v)
        size = np.sqrt(np.abs(np.diag(M)))
        size = np.where(size > 0, size, 1.0)
        mass_matrix, own_bias = (function(d, "mass_matrix")(self.q), function(d, "bias")(self.q, v))
        return Difference(
            float(np.abs((np.asarray(mass_matrix) - M) / np.outer(size, size)).max(initial=0.0)),
            _relative(own_bias, bias, least=float(np.abs(M).max(initial=0.0))),
            self._acceleration(v, tau, M, bias),
            self._pose(),
        )

    def _acceleration(self, v: np.ndarray, tau: np.ndarray, M: np.ndarray, bias: np.ndarray) -> float | None:
        try:
            ours = function(self.description, "forward_dynamics")
        except UnsupportedOperation:
            assert self.description.without_inertia
            return None
        if self.description.couplings:
            theirs = np.linalg.solve(M, tau - bias)
        else:
            theirs = self.T.T @ pin.aba(self.model, self.data, self.q_tree, self.T @ v, self.T @ tau)
        return _relative(ours(self.q, v, tau), theirs)

    def _pose(self) -> float:
        """Return the largest difference of a body's pose, relative to the size of the robot."""
        tree = Tree(self.description.uncoupled, merge_fixed=True, regroup=True)
        names = [b.name for b in self.description.bodies if self.model.existFrame(b.name, pin.FrameType.BODY)]
        assert len(names) >= len(self.description.bodies) - 1  # a link called ground has another name here
        poses = ca.Function("poses", [tree.q], [ca.vertcat(*(pose(tree, name) for name in names))])
        pin.framesForwardKinematics(self.model, self.data, self.q_tree)
        theirs = [
            self.data.oMf[self.model.getFrameId(name, pin.FrameType.BODY)].homogeneous for name in names
        ]
        return _relative(poses(self._all_joints()), np.concatenate(theirs))

    def _all_joints(self) -> np.ndarray:
        """Return the positions of all joints here, those that follow others too."""
        tree = self.description.uncoupled
        q = np.zeros(tree.nq)
        for c in tree.connections:
            if c.joint.nv == 6:
                q[tree.q_slices[c.name]] = self.q[self.description.q_slices[c.name]]
            elif c.joint.nv:
                q[tree.q_slices[c.name]] = self._angle(c.name)
        return q


def _without_friction(d: Description) -> Description:
    """Return the mechanism without <dynamics>, which Pinocchio's equations leave out."""
    return replace(d, connections=tuple(replace(c, damping=(), coulomb=()) for c in d.connections))


def _mimic_laws(file: Path) -> dict[str, tuple[str, float, float]]:
    """Return leader, multiplier and offset of every joint with <mimic>."""
    found = {}
    for joint in ET.parse(file).getroot().iter("joint"):
        for mimic in joint.iter("mimic"):
            numbers = float(mimic.get("multiplier", 1.0)), float(mimic.get("offset", 0.0))
            found[joint.get("name", "")] = (mimic.get("joint", ""), *numbers)
    return found


def _relative(ours: object, theirs: np.ndarray, least: float = 0.0) -> float:
    """Return the largest difference beside the largest entry, or beside `least`, the size of terms that may cancel."""
    off = np.abs(np.asarray(ours).reshape(theirs.shape) - theirs).max(initial=0.0)
    return float(off / (max(np.abs(theirs).max(initial=0.0), least) or 1.0))
