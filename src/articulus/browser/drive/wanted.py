"""Rates of a wanted position that an operator moves: it waits for the joints and stops at their ends."""

from __future__ import annotations

import casadi as ca
from casadi import SX


def blocked(rates: SX, wanted: SX, q: SX, lead: SX, lower: SX, upper: SX) -> SX:
    """Return 1 for each rate that would take the wanted position further ahead than `lead`, or further beyond an end.

    Parameters
    ----------
    rates, wanted, q : SX, (n,)
        What is asked for, the wanted position and the true one.
    lead, lower, upper : SX, (n,) [rad or m]
    """
    ahead = ca.logic_and(ca.fabs(wanted - q) > lead, (wanted - q) * rates > 0)
    ended = ca.logic_or(
        ca.logic_and(wanted > upper, rates > 0),
        ca.logic_and(wanted < lower, rates < 0),
    )
    return ca.logic_or(ahead, ended)
