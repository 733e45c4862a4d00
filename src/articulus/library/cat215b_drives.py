"""The hydraulic drives of the Caterpillar 215B.

Source: Wong 1991, section 5.4.2 and table 5.2.
"""

from __future__ import annotations

import numpy as np

from articulus.simulate.components import HydraulicRotary

JOINTS = ("swing", "boom", "stick", "bucket")
SUPPLY = (4000.0, 7000.0, 4000.0, 4000.0)  # psi, table 5.2
GEAR = (307.0, 545.0, 220.0, 250.0)
DAMPING = (100000.0, 100000.0, 30000.0, 100.0)  # N m s/rad

START = np.radians([0.0, 34.855, -146.609, -120.0 - 34.855 + 146.609])
"""Assumed: bucket hinge 5 m from the cab axis and 2.3 m high, bucket at -120 deg to ground. The figure is lost."""


def actuators(**changes: object) -> list[HydraulicRotary]:
    """Return the four actuators of table 5.2."""
    return [
        HydraulicRotary(joint, supply=p, gear=g, damping=b, name=joint, **changes)  # type: ignore[arg-type]
        for joint, p, g, b in zip(JOINTS, SUPPLY, GEAR, DAMPING)
    ]
