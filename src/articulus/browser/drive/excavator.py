"""The Caterpillar 215B with hydraulics, ready to be driven in JOINT or RESOLVED mode."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from articulus.browser.drive.machine import Machine, Seat, StickAxis, servo_machine
from articulus.browser.drive.rates import OperatorRates
from articulus.browser.drive.soil import Soil
from articulus.browser.drive.sticks import Sticks
from articulus.browser.drive.terrain import Digging
from articulus.model.library.cat215b_drives import BUCKET_FEEDBACK, START, actuators
from articulus.model.library.looks.cat215b import GROUND
from articulus.model.load import load
from articulus.simulation.loop.component import Actuator

PERIOD = 0.001
"""Sampling period of the control and of the soil [s]. The source has 0.01 s for the control, too slow for the bucket on its
lines (34 Hz, table 5.2)."""
LOWER = np.radians([-1e6, -45.0, -155.0, -160.0])
"""Assumed ends of swing, boom, stick and bucket; the thesis prints none [rad]."""
UPPER = np.radians([1e6, 65.0, -25.0, 30.0])
FULL = (0.3, 0.25, 0.4, 0.4)
"""Chosen: a little more than the actuators reach with open valves [rad/s]."""
RESOLVED = (0.6, 0.9, 0.6, 0.4)
"""Chosen: radial, tangential, vertical [m/s] and pitch rate [rad/s] at full stick."""

AXES = (
    StickAxis(
        "swing",
        "left",
        "right",
        group="left",
        stick="left",
        along="x",
        sign=-1,
        resolved=("turn left", "turn right"),
    ),
    StickAxis(
        "boom", "up", "down", group="right", stick="right", along="y", sign=-1, resolved=("lift", "lower")
    ),
    StickAxis("stick", "out", "in", group="left", stick="left", along="y", resolved=("reach out", "pull in")),
    StickAxis(
        "bucket", "open", "curl", group="right", stick="right", along="x", resolved=("tilt out", "curl")
    ),
)


CYLINDER_LOWER = np.radians([-1e6, -44.0, -150.0, -98.0])
"""Short of the ends of the cylinders [rad]."""
CYLINDER_UPPER = np.radians([1e6, 64.0, -27.0, 25.0])


def cat215b() -> Machine:
    """Return the excavator: actuators of table 5.2, the bucket's with pressure feedback, gains of table 5.3, control at every step."""
    *arm, bucket = actuators()
    bucket = dataclasses.replace(bucket, pressure_feedback=BUCKET_FEEDBACK)
    return _excavator("cat215b", "Caterpillar 215B", (*arm, bucket), LOWER, UPPER)


def cat215b_cylinders() -> Machine:
    """Return the excavator with cylinders between frames."""
    actuators = tuple(load("cat215b_cylinders").components())
    title = "Caterpillar 215B with cylinders"
    return _excavator("cat215b_cylinders", title, actuators, CYLINDER_LOWER, CYLINDER_UPPER)


def _excavator(
    model: str, title: str, actuators: Sequence[Actuator], lower: np.ndarray, upper: np.ndarray
) -> Machine:
    """Return a model of the excavator with its actuators, at the sticks."""
    law = OperatorRates(
        RESOLVED,
        kp=(2.0, 3.0, 2.0, 2.0),
        kd=(1.0, 2.0, 1.0, 1.0),
        period=PERIOD,
        point="wrist",
        tool="bucket",
        name="operator",
        full=FULL,
        axes=(2, 0, 1, 3),
        lower=lower,
        upper=upper,
    )
    digging = Digging("bucket_tip", "bucket")
    soil = Soil("bucket_tip", PERIOD, ground=GROUND, bucket=digging.bucket, hold=digging.hold)
    components = (Sticks(4, PERIOD), law, *actuators, soil)
    return Machine(
        load(model),
        components,
        AXES,
        title,
        modes=("JOINT", "RESOLVED"),
        q0=START,
        settle=3.0,
        ground=GROUND,
        soil=True,
        digging=digging,
        seat=Seat("cab", (0.85, 0.74, 1.62), (6.0, 0.1, 0.2)),
        notes={
            "JOINT": "Each stick axis asks one joint for a rate, as the levers of the machine do.",
            "RESOLVED": "The sticks move the hinge of the bucket out, around and up; the joints follow together.",
            "Soil": "The ground resists the edge of the bucket, more with depth (Reece 1964), is cut by it, fills the bucket and falls out of it.",
        },
    )


MACHINES = {"cat215b": cat215b, "cat215b_cylinders": cat215b_cylinders}
"""Machines with actuators and modes of their own; every other mechanism gets a joint-rate servo."""


def machine_for(model: str) -> Machine:
    """Return the machine of a library name, or of the path of a model file."""
    return MACHINES[model]() if model in MACHINES else servo_machine(load(model))
