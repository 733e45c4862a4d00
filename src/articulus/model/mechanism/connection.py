"""A joint in its place: which bodies it joins, where, and what acts in it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from articulus.declared import text
from articulus.errors import Finding
from articulus.model.mechanism.joint import Joint
from articulus.model.mechanism.numbers import (
    Number,
    Vector,
    as_number,
    as_numbers,
    convert,
    quantity,
    require,
    three,
    value_of,
    values_of,
)
from articulus.model.mechanism.pose import Pose


def wrong_length(where: str, held: tuple, nv: int) -> Iterator[Finding]:
    """Yield a finding when a field with one number per degree of freedom has another count."""
    if held and len(held) != nv:
        yield Finding(where, f"{len(held)} numbers", f"{nv}, one for each degree of freedom of the joint")


@dataclass(frozen=True)
class Rotor:
    """A motor's rotor, carried by the parent body, that turns `ratio` times as fast as its joint.

    The parent's mass and inertia include those of the rotor at rest on it; this class adds what its spin brings:
    the reflected inertia ratio^2 J and the gyroscopic coupling with the parent's rotation (Chen & Ou 1989).

    Parameters
    ----------
    inertia : number [kg m^2]
        Moment of inertia J about the rotor's own axis.
    ratio : number [-]
        Rotor speed over joint speed (for a sliding joint [rad/m]).
    axis : three numbers [-]
        Unit vector of the rotor's axis in the parent's body frame.
    """

    in_file = "record"

    inertia: Number = quantity("kg m^2", "moment of inertia about the rotor's own axis")
    ratio: Number = quantity("- or rad/m", "rotor speed over joint speed", default=1.0)
    axis: Vector = quantity(
        "-", "unit vector of the rotor's axis in the parent's body frame", size="3", default=(0.0, 0.0, 1.0)
    )

    def __post_init__(self) -> None:
        convert(self, inertia=as_number, ratio=as_number, axis=three)
        length = math.hypot(*values_of(self.axis))
        if all(isinstance(x, float) for x in self.axis) and 4e-16 < abs(length - 1) <= 1e-6:
            object.__setattr__(self, "axis", tuple(x / length for x in values_of(self.axis)))

    def findings(self, where: str) -> Iterator[Finding]:
        if value_of(self.inertia) < 0:
            yield Finding(f"{where}.inertia", f"{value_of(self.inertia):.6g} kg m^2", "at least 0")
        length = math.hypot(*values_of(self.axis))
        if not abs(length - 1) <= 1e-6:
            yield Finding(f"{where}.axis", f"{values_of(self.axis)} of length {length:.6g}", "a unit vector")


@dataclass(frozen=True)
class Limits:
    """What a joint can bear, one number per degree of freedom; infinite where nothing is known.

    Parameters
    ----------
    lower, upper : numbers [rad or m]
        Range of the position (for quaternion joints: not used).
    velocity : numbers [rad/s or m/s]
        Largest speed.
    effort : numbers [N m or N]
        Largest joint torque or force.
    """

    in_file = "record"

    lower: Vector = quantity("rad or m", "smallest position", size="nv", default=())
    upper: Vector = quantity("rad or m", "largest position", size="nv", default=())
    velocity: Vector = quantity("rad/s or m/s", "largest speed", size="nv", default=())
    effort: Vector = quantity("N m or N", "largest joint torque or force", size="nv", default=())

    def __post_init__(self) -> None:
        convert(self, lower=as_numbers, upper=as_numbers, velocity=as_numbers, effort=as_numbers)

    def findings(self, where: str, nv: int) -> Iterator[Finding]:
        for name in ("lower", "upper", "velocity", "effort"):
            held = values_of(getattr(self, name))
            yield from wrong_length(f"{where}.{name}", held, nv)
            if any(math.isnan(x) for x in held):
                yield Finding(f"{where}.{name}", "nan", "a number (infinite where there is no limit)")
        for low, high in zip(values_of(self.lower), values_of(self.upper)):
            if not low <= high:
                yield Finding(
                    f"{where}.lower",
                    f"{low:.6g} above upper = {high:.6g}",
                    "lower <= upper",
                    "Are the two swapped, or is one in degrees?",
                )
        for name in ("velocity", "effort"):
            for bound in values_of(getattr(self, name)):
                if bound < 0:
                    yield Finding(f"{where}.{name}", f"{bound:.6g}", "at least 0")


@dataclass(frozen=True)
class Connection:
    """A joint between a parent and a child body.

    Parameters
    ----------
    name : str
        Unique among joints.
    joint : Joint
        The motion it allows.
    parent, child : str
        Bodies; the parent may be "ground".
    at : Pose
        Pose of the joint frame in the parent's body frame.
    child_at : Pose
        Pose of the joint frame in the child's body frame.
    armature : numbers, one per degree of freedom [kg m^2 or kg]
        Inertia that is added to the diagonal of the mass matrix.
    damping : numbers, one per degree of freedom [N m s/rad or N s/m]
        Viscous friction.
    coulomb : numbers, one per degree of freedom [N m or N]
        Dry friction, as coulomb * v / sqrt(v^2 + coulomb_speed^2).
    coulomb_speed : number [rad/s or m/s]
        Speed at which dry friction has reached 71 percent.
    stiffness : numbers, one per degree of freedom [N m/rad or N/m]
        Linear spring.
    rest : numbers, one per degree of freedom [rad or m]
        Position at which the spring is free.
    rotor : Rotor or None
        Geared rotor; for joints with one degree of freedom.
    limits : Limits
        Ranges; data for controllers and simulations, no force by themselves.
    node : str
        Station of a flexible parent that carries the joint; `at` is then a pose in the station's frame.
    massless : str
        Why the joint may move nothing that has inertia; there is no forward dynamics then. Empty for an ordinary joint.
    """

    name: str
    joint: Joint
    parent: str = text("body that carries the joint, or `ground`")
    child: str = text("body that hangs on it")
    at: Pose = text("pose of the joint's frame in the parent's body frame", default=Pose())
    child_at: Pose = text("pose of the joint's frame in the child's body frame", default=Pose())
    armature: Vector = quantity(
        "kg m^2 or kg", "inertia added to the diagonal of the mass matrix", size="nv", default=()
    )
    damping: Vector = quantity("N m s/rad or N s/m", "viscous friction", size="nv", default=())
    coulomb: Vector = quantity("N m or N", "dry friction", size="nv", default=())
    coulomb_speed: Number = quantity(
        "rad/s or m/s", "speed at which dry friction has reached 71 percent", default=1e-3
    )
    stiffness: Vector = quantity("N m/rad or N/m", "linear spring", size="nv", default=())
    rest: Vector = quantity("rad or m", "position at which the spring is free", size="nv", default=())
    rotor: Rotor | None = text(
        "geared rotor on the parent, for a joint with one degree of freedom", default=None
    )
    limits: Limits = text("range of position, largest speed and effort", default=Limits())
    node: str = text(
        "station of a flexible parent that carries the joint; `at` is then a pose in the station's frame",
        default="",
    )
    massless: str = text(
        "why the joint moves nothing that has inertia; there is no forward dynamics then", default=""
    )

    def __post_init__(self) -> None:
        require(f"joint {self.name!r}", rotor=(self.rotor, Rotor | None), limits=(self.limits, Limits))
        names = ("armature", "damping", "coulomb", "stiffness", "rest")
        convert(self, coulomb_speed=as_number, **dict.fromkeys(names, as_numbers))

    def per_dof(self, name: str) -> Vector:
        """Return a field with one number per degree of freedom, zeros where the user gave nothing."""
        return getattr(self, name) or (0.0,) * self.joint.nv

    def findings(self, where: str) -> Iterator[Finding]:
        """Yield what is wrong with the numbers of this joint."""
        for name in ("armature", "damping", "coulomb", "stiffness", "rest"):
            yield from wrong_length(f"{where}.{name}", getattr(self, name), self.joint.nv)
        for name in ("armature", "damping", "coulomb", "stiffness"):
            for held in values_of(getattr(self, name)):
                if held < 0:
                    yield Finding(f"{where}.{name}", f"{held:.6g}", "at least 0")
        if value_of(self.coulomb_speed) <= 0:
            yield Finding(f"{where}.coulomb_speed", f"{value_of(self.coulomb_speed):.6g}", "more than 0")
        if self.joint.nq != self.joint.nv and any(values_of(self.stiffness)):
            yield Finding(
                f"{where}.stiffness",
                f"{values_of(self.stiffness)} on a {self.joint.type_name} joint",
                "no linear spring: its position is a quaternion",
                "Use a universal joint and a revolute, or a force of your own.",
            )
        if self.rotor is not None:
            if self.joint.nv != 1:
                yield Finding(
                    f"{where}.rotor",
                    f"a rotor on a {self.joint.type_name} joint with {self.joint.nv} degrees of freedom",
                    "a joint with one degree of freedom",
                )
            yield from self.rotor.findings(f"{where}.rotor")
        yield from self.limits.findings(f"{where}.limits", self.joint.nv)
