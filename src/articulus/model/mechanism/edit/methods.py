"""The methods of a mechanism that return another one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from articulus.errors import Finding, InputError
from articulus.model.mechanism.body import six_of
from articulus.model.mechanism.denavit_hartenberg import Convention, DHTable, to_table
from articulus.model.mechanism.description import Description
from articulus.model.mechanism.edit.attach import attach
from articulus.model.mechanism.edit.compensation import compensate, shares
from articulus.model.mechanism.edit.inertia import with_inertia
from articulus.model.mechanism.edit.lock import lock_joints
from articulus.model.mechanism.edit.rebuild import rebuilt
from articulus.model.mechanism.edit.remove import without
from articulus.model.mechanism.edit.scale import SimilarityFactors, rescale
from articulus.model.mechanism.joint import Joint
from articulus.model.mechanism.numbers import as_gravity, as_number, as_vector
from articulus.model.mechanism.pose import Pose


class Editing:
    """What a mechanism makes of itself; it stays as it is."""

    @property
    def description(self) -> Description:
        """The frozen, validated data."""
        raise NotImplementedError

    @classmethod
    def from_description(cls, description: Description) -> Self:
        """Return the mechanism of a validated description."""
        raise NotImplementedError

    def with_locked(self, joints: str | Sequence[str] | Mapping[str, Any], q: Any = None) -> Self:
        """Return the mechanism with joints held: the reduced model.

        A held joint becomes a fixed one. Bodies, frames and visuals stay; the inertia of bodies behind fixed joints counts with
        what carries them. Rotors, armatures, springs and friction of held joints go: they have no part in any motion. Of the
        constraints those that only say where a held joint is (`Lock`, `Prescribed`) go too; loops stay, and others that name
        a held joint are an error. The mass matrix of the result is the block of the old one at the same position.

        Parameters
        ----------
        joints : names, or dict of joint name to its position [rad, m]
            A number, or one for each coordinate of the joint.
        q : array, (nq,), or dict
            Position from which joints that are given by name alone are taken; neutral if not given.
        """
        d = self.description
        at = self.positions(q)  # type: ignore[attr-defined]
        if at.shape != (d.nq,):
            raise InputError(f"locked: argument 'q' has shape {at.shape}; expected ({d.nq},)")
        names = (joints,) if isinstance(joints, str) else tuple(joints)
        held = {name: at[d.q_slices[name]] for name in names if name in d.q_slices}
        held |= dict.fromkeys(set(names) - set(held), np.zeros(0))
        if isinstance(joints, Mapping):
            held = {name: np.atleast_1d(np.asarray(x, dtype=float)) for name, x in joints.items()}
        return self.from_description(lock_joints(d, held))

    def to_dh(self, convention: Convention = "standard", *, tip: str = "") -> DHTable:
        """Return the Denavit-Hartenberg table of an open serial chain of hinges and slides.

        `Mechanism.from_dh` of the table has the same coordinates and the same dynamics. What hangs by fixed joints counts
        with its link.

        Parameters
        ----------
        convention : "standard", "modified" or "wong"
        tip : str
            Body or frame on the last link whose z axis ends the chain and whose pose becomes the frame "tool"; without one
            the last link frame stands on the last joint axis.

        Raises
        ------
        ModelError
            Where there is no table: names the branch, loop, flexible body or joint with more than one variable.
        """
        return to_table(self.description, convention, tip)

    def without(self, *bodies: str) -> Self:
        """Return the mechanism without bodies and everything that is attached to them.

        Their joints and frames go, and so do the constraints that name something that goes: a loop is open without one of its
        bodies.
        """
        return self.from_description(without(self.description, bodies))

    def with_attached(
        self,
        other: Any,
        at: str,
        joint: Joint | None = None,
        *,
        pose: Any = None,
        prefix: str = "",
        base: str = "base",
    ) -> Self:
        """Return the mechanism with another one on it.

        The ground of the other becomes a massless body `prefix + base`, which hangs by a joint of the same name; `without` of
        that body takes the other off again. Coordinates: those of this mechanism, of the new joint, of the other.

        Parameters
        ----------
        other : Mechanism
        at : str
            Body or frame of this mechanism, or "ground".
        joint : Joint
            How the other hangs there, such as `Revolute(axis=(0, 0, 1))`; welded if not given.
        pose : Pose, three numbers [m] or a 4 x 4 matrix
            Where the joint's frame, and the ground of the other, is in the frame `at`.
        prefix : str
            Before every name of the other: bodies, joints, frames and constraints. Named parameters keep their names; one
            name is one number in both.
        base : str
            Name of the new body and joint, behind the prefix.

        Notes
        -----
        Gravity is that of this mechanism. A root of the other that floats on a free joint is welded to the new body, unless
        `at` is on the ground and no joint is given: then it floats on.
        """
        if not isinstance(other, Editing):
            raise InputError(Finding("with_attached", repr(other), "a Mechanism"))
        where = Pose.of(pose)
        return self.from_description(
            attach(self.description, other.description, at, joint, where, prefix, base)
        )

    def with_inertia(self, body: str, *, mass: Any = None, com: Any = None, inertia: Any = None) -> Self:
        """Return the mechanism in which a rigid body has another mass, center of mass or inertia.

        Parameters
        ----------
        body : str
        mass : number or Parameter [kg]
        com : three numbers [m]
            Center of mass in the body frame.
        inertia : three or six numbers, or a symmetric 3 x 3 array [kg m^2]
            Ixx, Iyy, Izz (, Ixy, Ixz, Iyz) about the center of mass, body axes.
        """
        given = {
            "mass": None if mass is None else as_number(mass),
            "com": None if com is None else as_vector(com, 3),
            "inertia": None if inertia is None else six_of(inertia),
        }
        numbers = {name: x for name, x in given.items() if x is not None}
        return self.from_description(with_inertia(self.description, body, **numbers))

    def with_gravity(self, gravity: Sequence[Any]) -> Self:
        """Return the mechanism under another acceleration of gravity, three numbers in ground axes [m/s^2].

        Components of the model file stay as they are, but for the forces that stand for gravity compensation of an MJCF file: they
        take off the same share of the new weight. Without gravity the share is lost with the weight.
        """
        d = self.description
        return self.from_description(compensate(rebuilt(d, gravity=as_gravity(gravity)), shares(d)))

    def with_scale(self, length: float, *, mass: float | None = None, time: float | None = None) -> Self:
        """Return a dynamically similar mechanism of another size: every number times the factor of its unit.

        With factors l, m, t of length, mass and time: lengths, poses, shapes and slides l; masses m; inertias, armatures of
        hinges and modal masses m l^2; stiffness of hinges and torques m l^2/t^2, of slides m/t^2, forces m l/t^2; damping m l^2/t
        and m/t; speeds 1/t and l/t; gravity l/t^2; prescribed motions l and t. Angles and modal coordinates stay. A motion of
        the old mechanism, with its times multiplied by t and its lengths by l, is one of the new.

        Parameters
        ----------
        length : float
        mass : float
            length^3 if not given: the same density.
        time : float
            sqrt(length) if not given: the same gravity (Froude). time = length keeps the elastic modulus of flexible bodies
            instead, if mass = length^3, and gravity becomes 1/length of what it was.

        Notes
        -----
        Named parameters keep their values and meaning: a field that holds one becomes a factor times it. Components and states of the
        model file are left behind.
        """
        size = SimilarityFactors(
            length,
            length**3 if mass is None else mass,
            math.sqrt(length) if time is None and length > 0 else (1.0 if time is None else time),
        )
        return self.from_description(rescale(self.description, size))
