"""`MechanismBuilder`: a mechanism put together piece by piece; whenever it is asked, its frozen and checked description."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from articulus.errors import Finding, InputError, ModelError, did_you_mean
from articulus.model.mechanism.body import Body, Frame, six_of
from articulus.model.mechanism.connection import Connection, Limits, Rotor
from articulus.model.mechanism.constraint import Constraint, LoopJoint
from articulus.model.mechanism.coupling import Coupling
from articulus.model.mechanism.denavit_hartenberg import Convention, DHRow, DHTable, add_rows, table_of
from articulus.model.mechanism.description import STANDARD_GRAVITY, Description
from articulus.model.mechanism.equipment import NO_EQUIPMENT, ModelState, NamedState
from articulus.model.mechanism.joint import Joint
from articulus.model.mechanism.modes import Modes
from articulus.model.mechanism.numbers import (
    Parameter,
    as_number,
    as_vector,
    value_of,
    values_of,
    with_values,
)
from articulus.model.mechanism.pose import Pose
from articulus.model.mechanism.visual import Visual, as_visuals

Array = np.ndarray


class MechanismBuilder:
    """Bodies, joints, frames and constraints that are added one by one, and what can be said of them without computing.

    Parameters
    ----------
    name : str
        Name of the mechanism.
    gravity : three numbers [m/s^2]
        Acceleration of gravity in ground axes.
    source : str
        Where the numbers come from.
    visuals : sequence of Visual
        What is drawn for ground: things that do not move.
    """

    derived: ClassVar[tuple[str, ...]] = ("description",)
    """Cached attributes that a change of the mechanism makes stale."""

    def __init__(
        self,
        name: str,
        gravity: Sequence[Any] = STANDARD_GRAVITY,
        source: str = "",
        visuals: Sequence[Visual] = (),
    ):
        self.name = _name("mechanism", name)
        self.source = source
        self._gravity = _convert(f"mechanism '{name}'", "gravity", as_vector, gravity, 3)
        self._bodies: tuple[Body, ...] = ()
        self._connections: tuple[Connection, ...] = ()
        self._frames: tuple[Frame, ...] = ()
        self._constraints: tuple[Constraint, ...] = ()
        self._couplings: tuple[Coupling, ...] = ()
        self._visuals = _convert(f"mechanism '{name}'", "visuals", as_visuals, visuals)
        self._findings: tuple[Finding, ...] = ()
        self._equipment = NO_EQUIPMENT

    @classmethod
    def from_description(cls, description: Description) -> Self:
        """Return the mechanism of a validated description."""
        self = cls(description.name, description.gravity, description.source, description.visuals)
        self._bodies, self._frames = description.bodies, description.frames
        self._connections, self._constraints = description.connections, description.constraints
        self._couplings, self._findings = description.couplings, description.findings
        self._equipment = description.equipment
        self.__dict__["description"] = description
        return self

    @classmethod
    def from_dh(
        cls,
        rows: DHTable | Sequence[DHRow | Mapping[str, Any]],
        convention: Convention | None = None,
        *,
        name: str = "chain",
        base: Any = None,
        tool: Any = None,
        gravity: Sequence[Any] = STANDARD_GRAVITY,
        source: str = "",
    ) -> Self:
        """Return the serial chain of a Denavit-Hartenberg table.

        Parameters
        ----------
        rows : sequence of DHRow or dict, or DHTable
            A row for each joint: a, alpha, d, theta, and what is known of the joint and its link, such as
            ``{"alpha": -pi / 2, "d": 0.1, "mass": 3.0, "com": (0, 0, 0.1), "inertia": (0.1, 0.1, 0.02)}``.
        convention : "standard", "modified" or "wong"
            Must be given unless `rows` is a DHTable; see `articulus.model.mechanism.denavit_hartenberg`.
        name : str
        base : Pose, three numbers [m] or a 4 x 4 matrix
            Where the frame before the first row is, in ground.
        tool : Pose, three numbers [m] or a 4 x 4 matrix
            Where the frame "tool" is in the last link frame; at its origin if not given.
        gravity : three numbers [m/s^2]
        source : str
        """
        table = table_of(rows, convention)
        for key, value in (("base", base), ("tool", tool)):
            if value is not None:
                table = dataclasses.replace(table, **{key: _convert("from_dh", key, Pose.of, value)})
        self = cls(name, gravity, source)
        add_rows(self, table)
        return self

    def __repr__(self) -> str:
        bodies, joints = len(self._bodies), len(self._connections)
        counted = {"constraint": len(self._constraints), "coupling": len(self._couplings)}
        rest = "".join(f", {n} {name}{'s' * (n > 1)}" for name, n in counted.items() if n)
        return f"<Mechanism '{self.name}': {bodies} bodies, {joints} joints{rest}>"

    # building

    def body(
        self,
        name: str,
        mass: Any = 0.0,
        com: Sequence[Any] = (0.0, 0.0, 0.0),
        inertia: Sequence[Any] = (0.0,) * 6,
        massless: str = "",
        visuals: Sequence[Visual] = (),
        doubtful: str = "",
    ) -> Self:
        """Add a rigid body and return the mechanism.

        Parameters
        ----------
        name : str
            Unique among bodies and frames.
        mass : number or Parameter [kg]
        com : three numbers [m]
            Center of mass in the body frame.
        inertia : three or six numbers, or a symmetric 3 x 3 array [kg m^2]
            Ixx, Iyy, Izz (, Ixy, Ixz, Iyz) about the center of mass, body axes.
        massless : str
            Why the body may have neither mass nor inertia; empty for an ordinary body.
        visuals : sequence of Visual
            What is drawn for it, such as `visual.Box(size=(1.0, 0.2, 0.2))`; without any, a skeleton from its joints.
        doubtful : str
            Why it may have moments of inertia that no rigid body has, such as none for a point mass; its numbers are not judged then.
        """
        where = f"body '{name}'"
        body = Body(
            _name("body", name),
            _convert(where, "mass", as_number, mass),
            _convert(where, "com", as_vector, com, 3),
            _convert(where, "inertia", six_of, inertia),
            massless,
            doubtful=doubtful,
            visuals=_convert(where, "visuals", as_visuals, visuals),
        )
        _require_mass(body)
        self._bodies += (body,)
        return self._forget_derived()

    def joint(
        self,
        name: str,
        joint: Joint,
        parent: str,
        child: str,
        at: Any = None,
        child_at: Any = None,
        *,
        armature: Any = (),
        damping: Any = (),
        coulomb: Any = (),
        coulomb_speed: Any = 1e-3,
        stiffness: Any = (),
        rest: Any = (),
        rotor: Rotor | None = None,
        limits: Limits | None = None,
        node: str = "",
    ) -> Self:
        """Add the joint by which `child` is attached to `parent`, and return the mechanism.

        Parameters
        ----------
        name : str
            Unique among joints.
        joint : Joint
            Its type with its axis, for example `Revolute(axis=(0, 1, 0))`.
        parent, child : str
            Bodies; the parent may be "ground" or a body that is added later.
        at, child_at : Pose, three numbers [m] or a 4 x 4 matrix
            Where the joint frame is in the parent and in the child.
        armature, damping, coulomb, stiffness, rest : a number, or one value per degree of freedom
            See `Connection` for meaning and units.
        coulomb_speed : number [rad/s or m/s]
            Speed at which dry friction has reached 71 percent.
        rotor : Rotor
            Geared rotor on the parent.
        limits : Limits
            Ranges of position, speed and effort.
        node : str
            Station of a flexible parent that carries the joint; `at` is then a pose in the station's frame.
        """
        where = f"joint '{name}'"
        if not isinstance(joint, Joint):
            raise InputError(Finding(where, repr(joint), "a joint type such as Revolute(axis=(0, 0, 1))"))
        vectors = {"armature": armature, "damping": damping, "coulomb": coulomb}
        vectors |= {"stiffness": stiffness, "rest": rest}
        connection = Connection(
            _name("joint", name),
            joint,
            _name(f"{where}, parent", parent),
            _name(f"{where}, child", child),
            _convert(where, "at", Pose.of, at),
            _convert(where, "child_at", Pose.of, child_at),
            coulomb_speed=_convert(where, "coulomb_speed", as_number, coulomb_speed),
            rotor=rotor,
            limits=Limits() if limits is None else limits,
            node=node,
            **{key: _convert(where, key, _per_dof, held, joint.nv) for key, held in vectors.items()},
        )
        self._connections += (connection,)
        return self._forget_derived()

    def flexible(self, name: str, modes: Modes) -> Self:
        """Add a flexible body and return the mechanism.

        Parameters
        ----------
        name : str
            Unique among bodies and frames.
        modes : Modes
            From `articulus.structure`, for example `structure.beam_body(...)`. Its coordinates follow those of the joint by which
            the body hangs; joints and frames on it name a station with `node=`.
        """
        if not isinstance(modes, Modes):
            raise InputError(
                Finding(f"body '{name}'", repr(modes), "Modes, for example from structure.beam_body(...)")
            )
        self._bodies += (Body(_name("body", name), modes=modes),)
        return self._forget_derived()

    def frame(self, name: str, body: str, at: Any = None, *, node: str = "") -> Self:
        """Add a named point of interest on a body (or on "ground") and return the mechanism.

        `node` is a station of a flexible body; `at` is then a pose in the station's frame.
        """
        where = f"frame '{name}'"
        pose = _convert(where, "at", Pose.of, at)
        self._frames += (Frame(_name("frame", name), _name(f"{where}, body", body), pose, node),)
        return self._forget_derived()

    def loop(
        self, name: str, joint: Joint, parent: str, child: str, at: Any = None, child_at: Any = None
    ) -> Self:
        """Close a loop by a joint between two bodies that both hang in the tree already; return the mechanism.

        Parameters
        ----------
        name : str
            Unique among loops and other constraints.
        joint : Joint
            Its type with its axis; one with closure rows, as every joint of the package but `Free` has.
        parent, child : str
            Bodies or frames, or "ground".
        at, child_at : Pose, three numbers [m] or a 4 x 4 matrix
            Where the joint frame is in the parent and in the child.
        """
        where = f"loop '{name}'"
        if not isinstance(joint, Joint):
            raise InputError(Finding(where, repr(joint), "a joint type such as Revolute(axis=(0, 0, 1))"))
        poses = _convert(where, "at", Pose.of, at), _convert(where, "child_at", Pose.of, child_at)
        ends = _name(f"{where}, parent", parent), _name(f"{where}, child", child)
        return self.constrain(LoopJoint(_name("loop", name), joint, *ends, *poses))

    def constrain(self, constraint: Constraint) -> Self:
        """Add a constraint, such as `Distance("rod", "a", "b", length=0.3)`, and return the mechanism."""
        if not isinstance(constraint, Constraint):
            raise InputError(
                Finding("constrain", repr(constraint), 'a constraint such as PointOnPoint("pin", "a", "b")')
            )
        _name(type(constraint).__name__, constraint.name)
        self._constraints += (constraint,)
        return self._forget_derived()

    def couple(
        self,
        joint: str | Coupling,
        to: Any = None,
        ratio: Any = 1.0,
        offset: Any = 0.0,
        *,
        polynomial: Sequence[Any] = (),
    ) -> Self:
        """Let a joint follow others, and return the mechanism: mimic joints, gears, racks, fixed tendons.

        The coupled joint is no coordinate any more: q and v are those of the other joints, and what acts in the coupled joint
        acts on them through its ratio. Every joint named here has one degree of freedom.

        Parameters
        ----------
        joint : str or Coupling
            Joint that follows; or all of it as one object, then without anything else.
        to : str or sequence of str
            Joint or joints that it follows; these may follow others.
        ratio : number, or one per joint in `to` [rad/rad, m/rad, rad/m or m/m]
            The position is offset + ratio q (with several joints: offset + ratio_1 q_1 + ratio_2 q_2 + ...).
        offset : number [rad or m]
        polynomial : numbers c0, c1, ...
            In place of ratio and offset, with one joint in `to`: the position is c0 + c1 q + c2 q^2 + ... .

        Examples
        --------
        >>> import articulus as art
        >>> m = art.Mechanism("gears", gravity=(0, 0, 0))
        >>> for k, I in (("a", 2.0), ("b", 3.0)):
        ...     _ = m.body(k, mass=1.0, inertia=(I, I, I))
        ...     _ = m.joint(f"axis_{k}", art.Revolute(axis=(0, 0, 1)), parent="ground", child=k)
        >>> m.couple("axis_b", to="axis_a", ratio=-2.0).mass_matrix([0.0])
        array([[14.]])
        """
        if isinstance(joint, Coupling):
            if (to, ratio, offset, tuple(polynomial)) != (None, 1.0, 0.0, ()):
                raise InputError(Finding("couple", f"{joint!r} with more arguments", "a Coupling alone"))
            self._couplings += (joint,)
        else:
            self._couplings += (Coupling(joint, to, ratio, offset, tuple(polynomial)),)
        return self._forget_derived()

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and name not in ("name", "source"):
            raise InputError(
                f"Mechanism.{name} cannot be set; build a mechanism with body, joint, frame and loop"
            )
        object.__setattr__(self, name, value)
        if not name.startswith("_"):
            self._forget_derived()

    def _forget_derived(self) -> Self:
        for name in self.derived:
            self.__dict__.pop(name, None)
        return self

    def with_values(self, params: Mapping[str, float]) -> Self:
        """Return the same mechanism with other values of named parameters; it shares the native code of this one."""
        for name, value in mapping("params", params).items():
            if name not in self.parameters:
                raise InputError(
                    f"no parameter '{name}' in '{self.name}'; {did_you_mean(str(name), self.parameters)}"
                )
            Parameter(name, value)
        self.description.physical.require({name: np.asarray(value, float) for name, value in params.items()})
        return self.from_description(with_values(self.description, params)) if params else self

    # what it holds

    @functools.cached_property
    def description(self) -> Description:
        """The frozen, validated data; raises ModelError with everything that is wrong."""
        return Description.build(
            self.name,
            self._bodies,
            self._connections,
            self._frames,
            self._gravity,
            self.source,
            self._constraints,
            self._visuals,
            self._findings,
            couplings=self._couplings,
            equipment=self._equipment,
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is doubtful in the file the mechanism was read from, or was omitted of it; each with its line."""
        return self.description.findings

    @property
    def states(self) -> dict[str, ModelState]:
        """States that the file the mechanism was read from gives a name (keyframes of MJCF): q, v and commands."""
        return {state.name: self._state(state) for state in self.description.equipment.states}

    def _state(self, state: NamedState) -> ModelState:
        d = self.description
        q, v = d.neutral.copy(), np.zeros(d.nv)
        for vector, held, slices in ((q, state.positions, d.q_slices), (v, state.velocities, d.v_slices)):
            for joint, numbers in held:
                at = slices.get(joint, slice(0, 0))
                if at.stop - at.start == len(
                    numbers
                ):  # a joint that is welded or follows others has no place
                    vector[at] = numbers
        return ModelState(q, v, dict(state.commands))

    @property
    def nq(self) -> int:
        """Number of position coordinates."""
        return self.description.nq

    @property
    def nv(self) -> int:
        """Number of velocity coordinates (degrees of freedom)."""
        return self.description.nv

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints in the order of q and v."""
        return tuple(c.name for c in self.description.connections)

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies in the order of declaration."""
        return tuple(b.name for b in self.description.bodies)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Names of the frames; bodies and "ground" are frames too wherever a frame is asked for."""
        return tuple(f.name for f in self.description.frames)

    @property
    def q_names(self) -> tuple[str, ...]:
        """A name for every entry of q."""
        return self.description.coordinate_names()

    @property
    def v_names(self) -> tuple[str, ...]:
        """A name for every entry of v."""
        return self.description.coordinate_names(rates=True)

    @property
    def parameters(self) -> dict[str, float]:
        """Named parameters with the values they start from."""
        return {p.name: p.value for p in self.description.parameters}

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """A name for every row of the constraints, such as "pin.x"; multipliers come in this order."""
        return self.description.constraint_rows

    @property
    def gravity_vector(self) -> Array:
        """Acceleration of gravity in ground axes with every parameter at its own value, (3,) [m/s^2]."""
        return np.array(values_of(self.description.gravity))

    @property
    def neutral(self) -> Array:
        """Position at which every joint frame coincides with its parent's, but for those of coupled joints, (nq,)."""
        return self.description.neutral.copy()


def _require_mass(body: Body) -> None:
    """Raise ModelError for a mass below zero where it is given, not where the mechanism is first used."""
    if value_of(body.mass) < 0:
        raise ModelError([f for f in body.findings(f"body.{body.name}") if "mass" in f.where][:1])


def _name(kind: str, name: Any) -> str:
    if not isinstance(name, str):
        raise InputError(Finding(kind, repr(name), "a name"))
    return name


def mapping(name: str, value: Any) -> Mapping[str, Any]:
    """Return a dict, or raise InputError for anything else."""
    if not isinstance(value, Mapping):
        raise InputError(Finding(name, repr(value), "a dict from name to value"))
    return value


def _per_dof(held: Any, nv: int) -> tuple:
    if isinstance(held, (Sequence, np.ndarray)):
        return as_vector(held, nv) if len(held) else ()
    return as_vector([held], nv)


def _convert(where: str, field: str, convert: Any, *arguments: Any) -> Any:
    try:
        return convert(*arguments)
    except InputError as error:
        raise error.within(f"{where}, {field}", field) from None
    except (TypeError, ValueError) as error:
        raise InputError(str(error)).within(f"{where}, {field}", field) from None
