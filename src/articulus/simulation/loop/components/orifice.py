"""Flow through an orifice by pressure drop, without the infinite slope at zero."""

from __future__ import annotations

from typing import Any

import casadi as ca
from casadi import SX


def orifice_root(drop: SX, laminar: Any) -> SX:
    """Return sqrt(drop) of a pressure drop above `laminar`, below it a parabola of the same value and slope there; odd.

    The root alone has an infinite slope at zero. Orifices have none: their flow is laminar there.
    """
    size = ca.fabs(drop)
    parabola = ca.sqrt(laminar) * (drop / laminar) * (3 - size / laminar) / 2
    return ca.if_else(size > laminar, ca.sign(drop) * ca.sqrt(ca.fmax(size, laminar)), parabola)
