"""Integration in time: one file per family of methods, one base class per kind.

| kind | integrates | how it is called |
|---|---|---|
| explicit | x' = f(t, x), fixed steps | `Method`: advance, start, step, integrate |
| second order | `SecondOrderProblem`: q displaced by v, v' = a(t, q, v), fixed steps | `SecondOrderMethod`: advance, integrate |
| adaptive | f(t, x), or `Linearized` for stiff ones, error controlled | `Adaptive`: start, step, run, integrate |
| implicit | `Mechanical`: M v' + G' lambda = f, g = 0, fixed steps | `AlphaMethod`: start, step, integrate |
| residual | E(t, x, x') = 0, fixed steps | `Sdirk`: step, integrate |
| casadi | a casadi.Function, error controlled | `Sundials`: prepare, integrate |
| bodies | free rigid bodies and constraints, fixed steps | `FreeBodies`, on its own: begin, advance, run |
"""

from typing import Any

from articulus.errors import InputError, did_you_mean
from articulus.simulation.integrate.adams import AB2, AB3, AB4, AM4, AM10
from articulus.simulation.integrate.adaptive import Adaptive, AdaptiveState, StepControl
from articulus.simulation.integrate.alpha import HHT, AlphaMethod, AlphaState, GeneralizedAlpha, Newmark
from articulus.simulation.integrate.base import IntegrationState, Integrator, Method
from articulus.simulation.integrate.central_difference import CentralDifference
from articulus.simulation.integrate.dormand_prince import DormandPrince
from articulus.simulation.integrate.free_bodies import FreeBodies
from articulus.simulation.integrate.mechanical import Mechanical
from articulus.simulation.integrate.rosenbrock import Linearized, Rosenbrock
from articulus.simulation.integrate.runge_kutta import RK4, Euler, ExplicitRungeKutta, Tableau
from articulus.simulation.integrate.runge_kutta_8 import RK8
from articulus.simulation.integrate.sdirk import Sdirk, SdirkState
from articulus.simulation.integrate.second_order import (
    LieRK4,
    Momentum,
    SecondOrderMethod,
    SecondOrderProblem,
    SemiImplicitEuler,
)
from articulus.simulation.integrate.solution import IntegrationSolution, Statistics
from articulus.simulation.integrate.sundials import Cvodes, Idas, Sundials

EXPLICIT_METHODS: tuple[Method, ...] = (Euler(), AB2(), AB3(), AB4(), RK4(), AM4(), RK8(), AM10())
ALL_METHODS: tuple[Integrator, ...] = (
    *EXPLICIT_METHODS,
    SemiImplicitEuler(),
    CentralDifference(),
    LieRK4(),
    DormandPrince(),
    Rosenbrock(),
    Newmark(),
    HHT(),
    GeneralizedAlpha(),
    Sdirk(),
    Cvodes(),
    Idas(),
)


def method(name: str) -> Any:
    """Return the method of a name, such as "rk4"; its `kind` says how it is called."""
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
    "AM10",
    "EXPLICIT_METHODS",
    "HHT",
    "RK4",
    "RK8",
    "Adaptive",
    "AdaptiveState",
    "AlphaMethod",
    "AlphaState",
    "CentralDifference",
    "Cvodes",
    "DormandPrince",
    "Euler",
    "ExplicitRungeKutta",
    "FreeBodies",
    "GeneralizedAlpha",
    "Idas",
    "IntegrationSolution",
    "IntegrationState",
    "Integrator",
    "LieRK4",
    "Linearized",
    "Mechanical",
    "Method",
    "Momentum",
    "Newmark",
    "Rosenbrock",
    "Sdirk",
    "SdirkState",
    "SecondOrderMethod",
    "SecondOrderProblem",
    "SemiImplicitEuler",
    "Statistics",
    "StepControl",
    "Sundials",
    "Tableau",
    "method",
]
