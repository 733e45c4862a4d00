"""The Caterpillar 215B with hydraulic cylinders between frames, in place of the rotary actuators of its boom, stick and bucket."""

from __future__ import annotations

import dataclasses
import math

from articulus.model.library.cat215b_drives import DAMPING, GEAR, SUPPLY
from articulus.model.mechanism import Description, Device, Equipment, Frame, Pose

PSI = 6894.757293168
"""[Pa]"""
EYES = {
    "boom": (("cab", (1.75, -0.16, 0.5)), ("boom", (2.3, 0.7, 0.0))),
    "stick": (("boom", (2.45, 1.24, 0.0)), ("stick", (-0.55, 0.26, 0.0))),
    "bucket": (("stick", (0.1, 0.34, 0.0)), ("bucket", (-0.2, 0.34, 0.0))),
}
"""Assumed: body and place of the eyes of barrel and rod [m]. The thesis models joints only."""
ENDS = {"boom": (1.88, 2.88), "stick": (2.49, 3.58), "bucket": (1.37, 2.08)}
"""Assumed: distance of the eyes retracted and extended [m]: boom -45 to 65 deg, stick -25 to -155 deg, bucket 28 to -102 deg."""
LEVER = {"boom": 0.61, "stick": 0.608, "bucket": 0.394}
"""Largest lever of the force about its hinge [m], which follows from the eyes: the shorter of their distances from the hinge."""
TORQUE = {"boom": 333812.5, "stick": 77000.0, "bucket": 87500.0}
"""Largest torque of the rotary actuator, table 5.2 [N m]."""
RATE = {"boom": 0.2016, "stick": 0.3775, "bucket": 0.3322}
"""Speed of the rotary actuator without load and with an open valve, k_f x sqrt(P_s / 2) / (D G) of table 5.2 [rad/s]."""
REVERSED = ("stick", "bucket")
"""Cylinders that turn their joint the negative way when they extend."""
RING = 0.6
"""Assumed: area around the rod over area of the piston [-]."""
DEAD_VOLUME = 2e-3
"""Assumed: of a chamber and its hoses [m^3]."""
FRICTION = {"boom": DAMPING[1], "stick": DAMPING[2], "bucket": 5e3}
"""Viscous friction about the hinge, table 5.2; the bucket's is assumed [N m s/rad]. With the 100 of the table the sampled law of section
5.4.3 drives the bucket on its oil into a limit cycle, as it does with the rotary actuator."""


def cat215b_cylinders() -> Description:
    """Return the excavator of the library with the eyes of three cylinders as frames, and its actuators as components.

    A cylinder has the largest torque and the speed of the rotary actuator of table 5.2, at its largest lever. The two cylinders of the
    boom are one in the middle; the bucket's acts without the linkage of the machine.
    """
    from articulus.model.library import read

    base = read("cat215b")
    frames = tuple(
        Frame(f"{joint}_{end}", body, Pose(place))
        for joint, eyes in EYES.items()
        for end, (body, place) in zip(("barrel", "rod"), eyes)
    )
    devices = (_swing(), *(_cylinder(joint, supply) for joint, supply in zip(EYES, SUPPLY[1:])))
    source = f"{base.source} Eyes and ends of the cylinders, ring areas, volumes and the friction of the bucket are assumed."
    return dataclasses.replace(
        base,
        name="cat215b_cylinders",
        source=source,
        frames=(*base.frames, *frames),
        equipment=Equipment(devices),
    )


def _swing() -> Device:
    values = {"name": "swing", "joint": "swing", "supply": SUPPLY[0], "gear": GEAR[0], "damping": DAMPING[0]}
    return Device("hydraulic_rotary", tuple(values.items()))


def _cylinder(joint: str, supply: float) -> Device:
    """Return a cylinder; without load it runs at v = k_f sqrt(P_s A_1 / (A_1^3 + A_2^3))."""
    pressure, lever, (short, long) = supply * PSI, LEVER[joint], ENDS[joint]
    area = TORQUE[joint] / (pressure * lever)
    ring = RING * area
    gain = RATE[joint] * lever / math.sqrt(pressure * area / (area**3 + ring**3))
    values = {
        "name": joint,
        "first": f"{joint}_barrel",
        "second": f"{joint}_rod",
        "area": area,
        "rod_side_area": ring,
        "retracted": short,
        "stroke": long - short,
        "supply": pressure,
        "flow_gain": gain,
        "dead_volume": DEAD_VOLUME,
        "damping": FRICTION[joint] / lever**2,
        "dead_band": 0.1,
        "reversed": joint in REVERSED,
    }
    return Device("hydraulic_cylinder", tuple(values.items()))
