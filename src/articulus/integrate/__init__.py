"""Integration of ordinary differential equations: one file per method, one base class."""

from articulus.errors import InputError, did_you_mean
from articulus.integrate.ab2 import AB2
from articulus.integrate.ab3 import AB3
from articulus.integrate.ab4 import AB4
from articulus.integrate.am4 import AM4
from articulus.integrate.base import Method, State
from articulus.integrate.euler import Euler
from articulus.integrate.rk4 import RK4
from articulus.integrate.runge_kutta import ExplicitRungeKutta, Tableau

ALL_METHODS: tuple[Method, ...] = (Euler(), AB2(), AB3(), AB4(), RK4(), AM4())


def method(name: str) -> Method:
    """Return the method of a name, such as "rk4"."""
    by_name = {m.name: m for m in ALL_METHODS}
    if name not in by_name:
        raise InputError(f"no integration method '{name}'; {did_you_mean(name, by_name)}")
    return by_name[name]


__all__ = [
    "AB2",
    "AB3",
    "AB4",
    "ALL_METHODS",
    "AM4",
    "RK4",
    "Euler",
    "ExplicitRungeKutta",
    "Method",
    "State",
    "Tableau",
    "method",
]
