"""What can be driven: a mechanism with its components, its axes and its modes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.linalg

from articulus.browser.drive.servo import TOOL_AXES, RateServo
from articulus.browser.drive.sticks import Sticks
from articulus.browser.drive.terrain import Digging
from articulus.browser.scene import mechanism_size
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError
from articulus.model.mechanism import Connection
from articulus.model.mechanism.numbers import values_of
from articulus.simulation.loop.component import Component
from articulus.simulation.loop.components import Torque
from articulus.simulation.solve.assembly import independent_rows

PERIOD = 0.002
"""Sampling period of the joint-rate servo [s]."""


@dataclass(frozen=True)
class StickAxis:
    """One axis of the sticks.

    Parameters
    ----------
    name : str
    more, less : str
        What a positive and a negative deflection do, in JOINT mode.
    unit : str
        Unit of its joint, "rad" or "m".
    group : str
        Whoever holds the group may move it.
    stick : str
        "left" or "right".
    along : str
        "x" (to the right is positive) or "y" (away from the operator is positive) on its stick.
    sign : int
        Sign of the axis for a positive deflection of the stick on the page.
    resolved : tuple of two str
        What a positive and a negative deflection do in RESOLVED mode; empty where there is none.
    """

    name: str
    more: str = "+"
    less: str = "-"
    unit: str = "rad"
    group: str = "left"
    stick: str = "left"
    along: str = "x"
    sign: int = 1
    resolved: tuple[str, ...] = ()


@dataclass(frozen=True)
class Seat:
    """Where the operator sits, and looks from; what is drawn of that body is hidden then.

    Parameters
    ----------
    body : str
    at, look : three numbers [m]
        Eyes, and a point that they look at, in the frame of the body.
    """

    body: str
    at: tuple[float, float, float]
    look: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Machine:
    """A mechanism that an operator can drive.

    Parameters
    ----------
    mechanism : Mechanism
    components : tuple of Component
        Among them `Sticks` with as many axes as there are here, and a controller that reads its signals.
    axes : tuple of Axis
    title : str
    modes : tuple of str
        Names in the order of the numbers that the component `Sticks` gives.
    q0 : array, (nq,) [rad, m]
        Where it starts; neutral if not given.
    settle : float [s]
        Time that it is left alone before it is handed over, for what must come to rest.
    ground : float [m]
        Height of the ground on the page.
    soil : bool
        Whether the components hold a soil that the operator can switch.
    seat : Seat or None
        Where the operator sits.
    digging : Digging or None
        The bucket that changes the ground while the soil is on.
    notes : dict of str to str
        What the page should say about it: title to text.
    """

    mechanism: Mechanism
    components: tuple[Component, ...]
    axes: tuple[StickAxis, ...]
    title: str
    modes: tuple[str, ...] = ("JOINT",)
    q0: Any = None
    settle: float = 0.0
    ground: float = 0.0
    soil: bool = False
    seat: Seat | None = None
    digging: Digging | None = None
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups of axes, in order."""
        return tuple(dict.fromkeys(axis.group for axis in self.axes))


def servo_machine(mechanism: Mechanism, q0: Any = None) -> Machine:
    """Return any mechanism with an ideal actuator and a joint-rate servo in every joint of one degree of freedom.

    Of a mechanism with closed loops only as many joints are driven as it has degrees of freedom, chosen by the pivots of its
    constraint Jacobian at q0. Actuators keep to the effort limits of their joints, full sticks to half of their speed
    limits (0.5 rad/s or 0.25 m/s where there are none), desired positions to their position limits. An open chain of three driven joints or more has a TOOL mode, in which the
    sticks move its last frame, or the body behind its last joint.
    """
    start = mechanism.neutral if q0 is None else np.asarray(q0, dtype=float)
    driven = _driven(mechanism, start)
    if not driven:
        raise InputError(
            f"drive: mechanism '{mechanism.name}' has no joint of one degree of freedom; expected at least one"
        )
    names = tuple(c.name for c in driven)
    tip = _tip(mechanism, driven)
    actuators = [Torque(c.name, limit=_limit(c, "effort", np.inf), name=c.name) for c in driven]
    servo = RateServo(
        names,
        full=[_limit(c, "velocity", 1.0 if c.joint.rotational[0] else 0.5) / 2 for c in driven],
        period=PERIOD,
        lower=[_limit(c, "lower", -1e9) for c in driven],
        upper=[_limit(c, "upper", 1e9) for c in driven],
        tip=tip,
        reach=mechanism_size(mechanism),
    )
    tools = [words for _, _, words in TOOL_AXES] if tip else []
    places = [(stick, along) for stick in ("left", "right") for along in ("x", "y")]
    axes = tuple(
        StickAxis(
            c.name,
            unit="rad" if c.joint.rotational[0] else "m",
            group=places[i % 4][0],
            stick=places[i % 4][0],
            along=places[i % 4][1],
            resolved=(tools[i] if i < len(tools) else ("rests", "rests")) if tip else (),
        )
        for i, c in enumerate(driven)
    )
    components = (Sticks(len(driven), PERIOD), servo, *actuators)
    return Machine(
        mechanism,
        components,
        axes,
        mechanism.name,
        modes=("JOINT", "TOOL") if tip else ("JOINT",),
        notes={
            "JOINT": "Each stick axis asks one joint for a speed.",
            "TOOL": f"The sticks move '{tip}' along and about the axes of ground; the joints follow together.",
        },
        q0=start,
        settle=0.5,
        ground=-0.6 * mechanism_size(mechanism),
    )


def _tip(mechanism: Mechanism, driven: list[Connection]) -> str:
    """Return what the sticks move in TOOL mode; empty where there is no such mode."""
    if len(driven) < 3 or len(driven) != mechanism.nv or mechanism.constraint_names:
        return ""
    last = driven[-1].child
    return next((frame.name for frame in reversed(mechanism.description.frames) if frame.body == last), last)


def _driven(mechanism: Mechanism, q: np.ndarray) -> list[Connection]:
    found = [c for c in mechanism.description.independent if c.joint.nv == 1]
    if not mechanism.constraint_names:
        return found
    names = independent_rows(mechanism, q)
    rows = [mechanism.constraint_names.index(name) for name in names]
    G = mechanism.constraint_jacobian(q)[rows]
    *_, order = scipy.linalg.qr(G, mode="economic", pivoting=True)
    dependent = set(order[: len(rows)].tolist())
    return [c for c in found if mechanism.description.v_slices[c.name].start not in dependent]


def _limit(connection: Connection, name: str, otherwise: float) -> float:
    return next(iter(values_of(getattr(connection.limits, name))), otherwise)
