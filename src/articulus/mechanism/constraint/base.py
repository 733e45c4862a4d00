"""What every constraint is: a frozen class that says, on symbols, what must vanish.

To add a constraint type: one file with one class here, one line in `ALL_CONSTRAINTS`. The laws in the tests do the
rest. Jacobians and time derivatives are never written by hand; `dynamics.constraints` derives them.
"""

from __future__ import annotations

import abc
from typing import ClassVar, Protocol

from casadi import SX

from articulus.mechanism.numbers import Number
from articulus.mechanism.pose import Pose
from articulus.spatial import Motion, Transform


class Kinematics(Protocol):
    """What a constraint may ask about the mechanism that it belongs to."""

    q: SX
    v: SX
    t: SX
    """Time [s]."""

    def relative(self, a: str, b: str) -> Transform:
        """Return the pose of body or frame b in a; only joints between the two enter."""

    def velocity(self, frame: str) -> Motion:
        """Return the angular and linear velocity of a frame's origin in ground axes."""

    def coordinates(self, joint: str) -> SX:
        """Return the position coordinates of a joint."""

    def rates(self, joint: str) -> SX:
        """Return the velocity coordinates of a joint."""

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
    holonomic : bool
        Whether `residual` restricts positions, g(q, t) = 0, or velocities, A(q, t) v + b(q, t) = 0.
    """

    type_name: ClassVar[str]
    holonomic: ClassVar[bool] = True
    name: str

    @abc.abstractmethod
    def residual(self, k: Kinematics) -> SX:
        """Return the rows; they may use the velocity only when the constraint is not holonomic."""
