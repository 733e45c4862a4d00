"""What every constraint is: a frozen class that says, on symbols, what must vanish.

To add a constraint type: one file with one class here, one line in `ALL_CONSTRAINTS`. The laws in the tests do the
rest. Jacobians and time derivatives are never written by hand; `dynamics.constraints` derives them.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol

from casadi import SX

from articulus.errors import Finding
from articulus.model.mechanism.joint import Joint
from articulus.model.mechanism.numbers import Number
from articulus.model.mechanism.pose import Pose
from articulus.spatial import Motion, Transform

if TYPE_CHECKING:
    from articulus.model.mechanism.description import Description


class Kinematics(Protocol):
    """What a constraint may ask about the mechanism that it belongs to."""

    @property
    def q(self) -> SX:
        """Positions, (nq,)."""

    @property
    def v(self) -> SX:
        """Velocities, (nv,)."""

    @property
    def t(self) -> SX:
        """Time [s]."""

    def relative(self, a: str, b: str) -> Transform:
        """Return the pose of body or frame b in a; only joints between the two enter."""

    def velocity(self, frame: str) -> Motion:
        """Return the angular and linear velocity of a frame's origin in ground axes."""

    def coordinates(self, joint: str) -> SX:
        """Return the position coordinates of a joint."""

    def rates(self, joint: str) -> SX:
        """Return the velocity coordinates of a joint."""

    def joint_type(self, joint: str) -> Joint:
        """Return the type of a joint of the mechanism, its parameters as symbols."""

    def joint_on_symbols(self, joint: Joint) -> Joint:
        """Return a joint type with its parameters as symbols."""

    def pose(self, pose: Pose) -> Transform:
        """Return a constant pose, its parameters as symbols."""

    def number(self, number: Number) -> SX:
        """Return a number, a parameter as its symbol."""


class Constraint(abc.ABC):
    """Rows that must vanish during every motion.

    Attributes
    ----------
    name : str
        Unique among the constraints of a mechanism.
    type_name : str
        Name in model files.
    table : str
        Kind of table in model files.
    holonomic : bool
        Whether `residual` restricts positions, g(q, t) = 0, or velocities, A(q, t) v + b(q, t) = 0.
    """

    in_file: ClassVar[str] = "constraint"
    type_name: ClassVar[str]
    table: ClassVar[str] = "constraint"
    holonomic: ClassVar[bool] = True
    name: str

    @abc.abstractmethod
    def row_names(self, description: Description) -> tuple[str, ...]:
        """Suffixes that name the rows, as many as there are; empty for a row that needs none."""

    def turning(self, description: Description) -> tuple[bool | None, ...]:
        """Whether each row is an angle (or a rate of one), else a length; None where nobody knows what it is."""
        return (False,) * len(self.row_names(description))

    @abc.abstractmethod
    def residual(self, k: Kinematics) -> SX:
        """Return the rows; they may use the velocity only when the constraint is not holonomic."""

    def lift(self, q: Sequence[int], v: Sequence[int], description: Description) -> Constraint:
        """Return the constraint for a mechanism with more coordinates, of which those at q and v are the present ones."""
        return self

    def findings(self, where: str, description: Description) -> Iterator[Finding]:
        """Yield what is wrong with the constraint in this mechanism; all names in it are known to exist."""
        return iter(())


def references(constraint: Constraint) -> Iterator[tuple[str, str, str]]:
    """Yield field, kind and name of every frame and joint that a constraint names."""
    for field in dataclasses.fields(constraint):  # type: ignore[arg-type]
        if "refers" in field.metadata:
            yield field.name, field.metadata["refers"], getattr(constraint, field.name)
