"""The hydraulic drives of the Caterpillar 215B.

Source: Wong 1991, section 5.4.2 and table 5.2.
"""

from __future__ import annotations

import numpy as np

from articulus.simulation.loop.components import HydraulicRotary

JOINTS = ("swing", "boom", "stick", "bucket")
SUPPLY = (4000.0, 7000.0, 4000.0, 4000.0)  # psi, table 5.2
GEAR = (307.0, 545.0, 220.0, 250.0)
DAMPING = (100000.0, 100000.0, 30000.0, 100.0)  # N m s/rad

START = np.radians([0.0, 34.855, -146.609, -120.0 - 34.855 + 146.609])
"""Assumed: bucket hinge 5 m from the cab axis and 2.3 m high, bucket at -120 deg to ground. The figure is lost."""

BUCKET_FEEDBACK = 5e-5
"""Not in the source: dynamic pressure feedback of the bucket's valve, for runs that resolve the resonance of the bucket on
its lines (34 Hz, damping ratio 0.0014 by table 5.2) [cm/psi]. The sampled law of section 5.4.3 acts on it a period late and
drives it into a limit cycle: 36 deg/s at a period of 1 ms. The feedback damps it by about 0.25 while the valve is
open and does nothing in steady motion."""


def actuators(**changes: object) -> list[HydraulicRotary]:
    """Return the four actuators of table 5.2."""
    return [
        HydraulicRotary(joint, supply=p, gear=g, damping=b, name=joint, **changes)  # type: ignore[arg-type]
        for joint, p, g, b in zip(JOINTS, SUPPLY, GEAR, DAMPING)
    ]
