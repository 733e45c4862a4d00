"""What controllers that follow a target share: where the target is and how far the joints are from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
from casadi import SX

from articulus.dynamics.quantities import function
from articulus.errors import unlike
from articulus.model.mechanism import Description
from articulus.simulation.loop.component import Component, Scope
from articulus.simulation.loop.components.checks import wrong
from articulus.simulation.loop.components.columns import (
    as_in_time,
    at_time,
    joint_coordinates,
    joint_entries,
    joints_that_move,
    rate_at_time,
)


def optional(x: Any) -> Any:
    """Return what may change with time, or None."""
    return None if x is None else as_in_time(x)


def names(x: Any) -> tuple[str, ...]:
    """Return names as a tuple; raise InputError for anything else."""
    found = (x,) if isinstance(x, str) else tuple(x)
    if not all(isinstance(name, str) for name in found):
        raise unlike("names", repr(x))
    return found


def two_signals(x: Any) -> tuple[str, ...] | None:
    """Return the names of a position and a velocity signal as a tuple, or None."""
    if x is None:
        return None
    if len(found := names(x)) != 2:
        raise unlike("two signals, position and velocity", repr(x))
    return found


def present(s: Scope, c: Any) -> tuple[SX, SX]:
    """Return position and velocity as the controller knows them: measured, or those of its joints."""
    if c.measured is None:
        return joint_coordinates(s, c, c.joints)
    q, v = (s.read(signal) for signal in c.measured)
    if q.numel() != v.numel():
        raise wrong(c, "measured", f"{q.numel()} positions and {v.numel()} velocities", "as many of both")
    return q, v


def target_state(s: Scope, c: Any, size: int) -> tuple[SX, SX]:
    """Return position and velocity of the target; the velocity is the rate of the position when none is given."""
    rate = rate_at_time(s, c, "target", size) if c.rate is None else at_time(s, c, "rate", size)
    return at_time(s, c, "target", size), rate


def tracking_errors(s: Scope, c: Component) -> tuple[SX, SX]:
    """Return target less present position, and the same for velocities."""
    q, v = present(s, c)
    q_d, v_d = target_state(s, c, q.numel())
    return q_d - q, v_d - v


def command_joints(s: Scope, c: Any, value: SX) -> None:
    """Add a command per joint of a controller: in the order of the actuators, or to those of its joints where the run has others too.

    Without actuators commands are joint forces; modes of flexible bodies get none.
    """
    places = s.command_joints
    if value.numel() in (len(places), 0):
        return s.command(value)
    joints = c.joints or joints_that_move(s.description)
    entries = joint_entries(s.description, joints) if set(joints) <= s.description.v_slices.keys() else []
    if not s.driven and value.numel() == len(entries):
        every = SX.zeros(len(places))
        every[entries] = value
        return s.command(every)
    if value.numel() != len(c.joints):
        return s.command(value)
    if any(places.count(joint) != 1 for joint in c.joints):
        return s.command(value)  # refused with the names of the actuators
    every = SX.zeros(len(places))
    for k, joint in enumerate(c.joints):
        every[places.index(joint)] = value[k]
    return s.command(every)


def wanted_acceleration(s: Scope, c: Any, size: int) -> SX:
    """Return the acceleration of the target; that of its rate, or of its position, when none is given."""
    if c.acceleration is not None:
        return at_time(s, c, "acceleration", size)
    if c.rate is not None:
        return rate_at_time(s, c, "rate", size)
    return rate_at_time(s, c, "target", size, order=2)


def model_quantity(
    s: Scope, c: Any, name: str, *inputs: SX, frames: Sequence[str] = (), tree: bool = False
) -> SX:
    """Return a quantity of what a controller believes: its own model, or the mechanism of the run."""
    if c.model is None:
        return s.ask(name, *inputs, frames=frames, tree=tree)
    parameters = [ca.vertcat(*map(s.number, c.model.parameters))] if c.model.parameters else []
    return function(c.model, name, tuple(frames))(*inputs, *parameters)


def take_model(c: Any) -> None:
    """Hold the description of the mechanism that a controller is given as its model."""
    model = getattr(c.model, "description", c.model)
    if not isinstance(model, Description | None):
        raise wrong(c, "model", repr(model), "a mechanism")
    object.__setattr__(c, "model", model)
