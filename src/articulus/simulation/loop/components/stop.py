"""Force of a compliant end stop."""

from __future__ import annotations

from typing import Any

import casadi as ca
from casadi import SX


def stop_force(x: SX, rate: SX, lower: Any, upper: Any, stiffness: SX, damping: SX) -> SX:
    """Return the force that keeps x between bounds: spring and damper beyond either of them, which push but never pull."""
    above, below = ca.fmax(x - upper, 0), ca.fmax(lower - x, 0)
    return ca.if_else(below > 0, ca.fmax(stiffness * below - damping * rate, 0), 0) - ca.if_else(
        above > 0, ca.fmax(stiffness * above + damping * rate, 0), 0
    )


def stop_spring(x: SX, lower: Any, upper: Any, stiffness: SX) -> SX:
    """Return the force of the spring alone: the rest is loss, in the damper or where the stop lets go."""
    return stiffness * (ca.fmax(lower - x, 0) - ca.fmax(x - upper, 0))
