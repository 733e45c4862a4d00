"""From a name or a path to a machine that can be driven."""

from __future__ import annotations

from articulus.browser.drive.excavator import cat215b, cat215b_cylinders
from articulus.browser.drive.machine import Machine, servo_machine
from articulus.model.load import load

MACHINES = {"cat215b": cat215b, "cat215b_cylinders": cat215b_cylinders}
"""Machines with actuators and modes of their own; every other mechanism gets a joint-rate servo."""


def machine_for(model: str) -> Machine:
    """Return the machine of a library name, or of the path of a model file."""
    return MACHINES[model]() if model in MACHINES else servo_machine(load(model))
