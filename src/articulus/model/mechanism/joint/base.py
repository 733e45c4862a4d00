"""What every joint type is: a frozen class with a pose, the directions it leaves free, and its rates.

To add a joint type: one file with one class here, one line in `ALL_JOINTS`. The laws in the tests do the rest.

A joint connects a frame of its parent body (A) to a frame of its child body (B); they coincide when the
joint is at its neutral position. Two kinds exist:

- elementary joints, whose free directions are constant in B; they give `transform`, `motion_subspace`,
  `position_rate`;
- joints made of elementary ones in a row (`elementary` returns them), which need give nothing else.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import Finding, InputError, UnsupportedOperation
from articulus.model.mechanism.expression import Varying
from articulus.model.mechanism.numbers import as_vector, quantity, values_of
from articulus.spatial import Motion, Transform


class Joint(abc.ABC):
    """The motion that a joint allows.

    Attributes
    ----------
    type_name : str
        Name in model files.
    nq, nv : int
        Numbers of position coordinates `q` and of velocity coordinates `v`.
    coordinate_names : tuple of str
        Suffixes that name the position coordinates of a joint with more than one.
    velocity_names : tuple of str
        The same for the velocity coordinates.
    rotational : tuple of bool
        For each velocity coordinate, whether it is an angle [rad] or a length [m].
    closure_names : tuple of str
        Names of the rows of `closure`.
    """

    type_name: ClassVar[str]
    nq: ClassVar[int]
    nv: ClassVar[int]
    coordinate_names: ClassVar[tuple[str, ...]] = ("",)
    velocity_names: ClassVar[tuple[str, ...]] = ("",)
    rotational: ClassVar[tuple[bool, ...]] = (True,)
    closure_names: ClassVar[tuple[str, ...]] = ()

    def elementary(self) -> tuple[Joint, ...]:
        """Return the joints with constant free directions that this one is made of, parent side first."""
        return (self,)

    @property
    def axis_line(self) -> tuple[float, float, float] | None:
        """Return the axis of a joint that turns or slides about one line through its origin, else None."""
        return None

    @abc.abstractmethod
    def transform(self, q: SX) -> Transform:
        """Return X_AB at joint coordinates `q`."""

    @abc.abstractmethod
    def motion_subspace(self) -> list[Motion]:
        """Return the free directions, constant in B."""

    def position_rate(self, q: SX, v: SX) -> SX:
        """Return dq/dt."""
        return v

    def integrate(self, q: SX, step: SX) -> SX:
        """Return the position reached from `q` by the constant velocity `step` during one second."""
        return q + step

    def neutral(self) -> np.ndarray:
        """Return the position at which A and B coincide, shape (nq,)."""
        return np.zeros(self.nq)

    def difference(self, start: SX, end: SX) -> SX:
        """Return nv rows that vanish when two positions are the same, of first order in their difference."""
        return end - start

    def step_between(self, start: SX, end: SX) -> SX:
        """Return the step with integrate(start, step) = end, (nv,)."""
        return end - start

    def closure(self, X: Transform) -> SX:
        """Return 6 - nv independent rows that vanish when X_AB is a pose that the joint allows."""
        raise UnsupportedOperation(
            f"a {self.type_name} joint cannot close a loop: its class has no closure rows"
        )


@dataclass(frozen=True)
class AxisJoint(Joint):
    """An elementary joint about one axis through the origin of its frame.

    Parameters
    ----------
    axis : three numbers [-]
        Unit vector of the axis in the joint frame.
    """

    axis: tuple[float, float, float] = quantity(
        "-", "unit vector of the axis in the joint frame", size="3", default=(0.0, 0.0, 1.0)
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis(type(self).__name__, self.axis))

    @property
    def axis_line(self) -> tuple[float, float, float]:
        return self.axis


class SerialJoint(Joint):
    """A joint made of elementary ones in a row; its velocities are the rates of its coordinates."""

    def transform(self, q: SX) -> Transform:
        pose, at = Transform.identity(), 0
        for part in self.elementary():
            pose = pose @ part.transform(q[at : at + part.nq])
            at += part.nq
        return pose

    def motion_subspace(self) -> list[Motion]:
        raise NotImplementedError("a serial joint is worked on through its elementary joints")


def unit_axis(owner: str, axis: Sequence[float]) -> tuple[float, float, float]:
    """Return three plain finite numbers of norm one, exactly as given when they already are."""
    if isinstance(axis, str):
        named = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}.get(axis.lower().lstrip("+-"))
        hint = (
            f", such as {tuple(-n for n in named) if axis.startswith('-') else named} for {axis!r}"
            if named
            else ""
        )
        raise InputError(Finding(f"{owner}.axis", repr(axis), f"three numbers{hint}", field="axis"))
    try:
        numbers = as_vector(axis, 3)
        if any(isinstance(x, Varying) for x in numbers):
            raise InputError(
                "expected plain numbers; turn the joint by a Parameter in the rpy of `at` instead"
            )
        a = np.array(values_of(numbers))
    except InputError as error:
        raise error.within(f"{owner}.axis", "axis") from None
    norm = np.linalg.norm(a)
    if not np.isfinite(norm) or abs(norm - 1) > 1e-6:
        found = f"{tuple(map(float, a))} of length {norm:.6g}"
        hint = "A zero axis has no direction." if norm == 0 else "Divide it by its length."
        raise InputError(Finding(f"{owner}.axis", found, "a unit vector", hint, field="axis"))
    if abs(norm - 1) > 4e-16:
        a = a / norm
    return (float(a[0]), float(a[1]), float(a[2]))


def along(axis: Sequence[float]) -> SX:
    """Return a constant 3-vector as symbols."""
    return SX(ca.DM(list(axis)))
