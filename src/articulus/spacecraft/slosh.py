"""Liquid in an upright circular tank as a fixed mass and pendulums, or masses on springs (Abramson 1966, Dodge 2000).

Potential flow with small waves. z is the tank's axis, from the bottom against the effective gravity. With xi_n the zeros of J1', the
waves that push sideways have omega_n^2 = g (xi_n / R) tanh(xi_n h / R). Forces and moments on the tank, those on its bottom too, are those
of the equivalent masses; together they and the fixed part have mass, center and inertia of the liquid under a rigid lid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np

from articulus.errors import Finding, InputError
from articulus.model.mechanism.builder import MechanismBuilder
from articulus.model.mechanism.edit.rebuild import compose
from articulus.model.mechanism.joint import Fixed, Prismatic, Universal
from articulus.model.mechanism.pose import Pose

Array = np.ndarray
SERIES = 200
"""Terms of the inertia under a lid; they fall with the fifth power of their number."""
POINT = "a point mass that stands for moving liquid"


@dataclass(frozen=True)
class Slosh:
    """What is equivalent to the liquid, heights above the tank's bottom.

    Parameters
    ----------
    masses : (n,) [kg]
        That move, lowest wave first.
    lengths : (n,) [m]
        Of the pendulums; the frequency is sqrt(g / length).
    heights : (n,) [m]
        Of the masses at rest; the hinge of a pendulum is its length above.
    mass, height, inertia : float [kg], [m], [kg m^2]
        Of the part that goes with the tank, its inertia across the axis about its own center. About the axis it has none: a liquid
        without friction does not turn along.
    """

    masses: Array
    lengths: Array
    heights: Array
    mass: float
    height: float
    inertia: float

    def frequencies(self, acceleration: float) -> Array:
        """Return the angular frequencies [rad/s] of a tank that rests, under an acceleration [m/s^2] along the axis."""
        return np.sqrt(_positive("acceleration", acceleration) / self.lengths)


@dataclass(frozen=True)
class Tank:
    """An upright circular cylinder with flat ends.

    Parameters
    ----------
    radius, height : float [m]
    density : float [kg/m^3]
        Of the liquid.
    """

    radius: float
    height: float
    density: float

    def __post_init__(self) -> None:
        for name in ("radius", "height", "density"):
            _positive(f"Tank, {name}", getattr(self, name))

    def mass(self, fill: float) -> float:
        """Return the mass of the liquid [kg] at a fill level of 0 to 1."""
        return self.density * math.pi * self.radius**2 * self._depth(fill)

    def slosh(self, fill: float, modes: int = 1) -> Slosh:
        """Return the equivalent masses at a fill level between 0 and 1.

        Parameters
        ----------
        fill : float [-]
            Depth over height.
        modes : int
            Waves that have a mass of their own; the others are taken with the fixed part.
        """
        if isinstance(modes, bool) or not isinstance(modes, int | np.integer) or not 1 <= modes <= SERIES:
            raise InputError(Finding("Tank, modes", repr(modes), f"an integer from 1 to {SERIES}"))
        R, h, m = self.radius, self._depth(fill), self.mass(fill)
        from scipy.special import jnp_zeros  # a run without it must not wait for SciPy

        every = jnp_zeros(1, SERIES)
        xi = every[:modes]
        T = np.tanh(xi * h / R)
        masses = m * 2 * R * T / (xi * h * (xi**2 - 1))
        heights = h - 2 * R / xi * np.tanh(xi * h / (2 * R))
        fixed = m - masses.sum()
        height = (m * h / 2 - masses @ heights) / fixed
        series = np.sum(np.tanh(every * h / (2 * R)) / (every**3 * (every**2 - 1)))
        lid = m * (h**2 / 12 - 3 * R**2 / 4 + 16 * R**3 / h * series)
        inertia = lid - fixed * (height - h / 2) ** 2 - masses @ (heights - h / 2) ** 2
        return Slosh(masses, R / (xi * T), heights, fixed, height, inertia)

    def laminar_damping(self, fill: float, acceleration: float, viscosity: float) -> float:
        """Return the damping ratio [-] of the lowest wave by the boundary layers at wall and bottom (Case & Parkinson 1957).

        It is that of clean smooth walls, a lower bound: baffles, contaminated surfaces and large waves damp more.

        Parameters
        ----------
        fill : float [-]
        acceleration : float [m/s^2]
            Along the axis.
        viscosity : float [m^2/s]
            Kinematic.
        """
        R, h = self.radius, self._depth(fill)
        omega = self.slosh(fill).frequencies(acceleration)[0]
        from scipy.special import jnp_zeros

        xi = jnp_zeros(1, 1)[0]
        a, more = xi * h / R, xi**2 - 1
        falling = 1 / np.cosh(min(a, 300.0)) ** 2
        walls = (xi**2 + 1) / (2 * xi) * np.tanh(a) + more / 2 * (1 - h / R) * falling
        layer = math.sqrt(_positive("viscosity", viscosity) / (2 * omega))
        return float(layer * xi / (R * np.tanh(a) * more) * walls)

    def _depth(self, fill: float) -> float:
        """Return the depth of the liquid [m]."""
        if not (isinstance(fill, Real) and 0 < fill < 1):
            raise InputError(
                Finding("Tank, fill", repr(fill), "between 0 and 1: an empty or full tank does not slosh")
            )
        return float(fill) * self.height


def add_tank(
    mechanism: MechanismBuilder,
    body: str,
    tank: Tank,
    fill: float,
    *,
    at: Any = None,
    acceleration: float | None = None,
    damping: float = 0.0,
    modes: int = 1,
    model: Literal["pendulum", "spring"] = "pendulum",
    name: str = "tank",
) -> MechanismBuilder:
    """Add the liquid of a tank to a mechanism, as bodies and joints, and return the mechanism.

    Pendulums feel whatever accelerates the craft: gravity, thrust or the turning of a spin. Springs hold at one `acceleration` only.
    Names: the fixed part `<name>`, and for every wave the body and joint `<name>_wave1`, ...

    Parameters
    ----------
    mechanism : Mechanism
    body : str
        That carries the tank; its walls are part of it.
    tank : Tank
    fill : float [-]
        Depth over height, between 0 and 1.
    at : Pose, three numbers [m] or a 4 x 4 matrix
        Center of the tank's bottom in the body; z points along the axis into the liquid.
    acceleration : float [m/s^2]
        Along the axis, for stiffness and damping; not needed for pendulums without damping.
    damping : float [-]
        Ratio of every wave, such as that of `Tank.laminar_damping`.
    modes : int
    model : "pendulum" or "spring"
    name : str
    """
    if not isinstance(mechanism, MechanismBuilder):
        raise InputError(Finding("add_tank, mechanism", repr(mechanism), "a Mechanism"))
    if not isinstance(tank, Tank):
        raise InputError(Finding("add_tank, tank", repr(tank), "a Tank"))
    if model not in ("pendulum", "spring"):
        raise InputError(Finding("add_tank, model", repr(model), '"pendulum" or "spring"'))
    if not (isinstance(damping, Real) and 0 <= damping < math.inf):
        raise InputError(Finding("add_tank, damping", repr(damping), "a ratio of zero or more"))
    if acceleration is None and (damping or model == "spring"):
        what = "stiffness of springs" if model == "spring" else "damping"
        raise InputError(
            Finding("add_tank, acceleration", "none", f"the acceleration along the axis, for the {what}")
        )
    slosh = tank.slosh(fill, modes)
    omega = slosh.frequencies(1.0 if acceleration is None else acceleration)
    bottom = Pose.of(at)

    def above(z: float) -> Pose:
        pose = compose(bottom, Pose((0.0, 0.0, float(z))))
        if pose is None:
            raise InputError(
                Finding("add_tank, at", "parameters in its rotation", "plain numbers in the rotation")
            )
        return pose

    lifts = slosh.lengths if model == "pendulum" else 0.0
    places = [above(z) for z in slosh.heights + lifts]
    across = (slosh.inertia, slosh.inertia, 0.0)
    mechanism.body(name, slosh.mass, (0, 0, slosh.height), across, doubtful="a liquid does not turn along")
    mechanism.joint(name, Fixed(), body, name, bottom)
    for k, (m, L, w, place) in enumerate(zip(slosh.masses, slosh.lengths, omega, places), 1):
        wave, c = f"{name}_wave{k}", 2 * damping * m * w
        if model == "pendulum":
            mechanism.body(wave, m, (0, 0, -L), doubtful=POINT)
            mechanism.joint(wave, Universal(), body, wave, place, damping=(c * L**2, c * L**2))
            continue
        numbers = {"stiffness": m * w**2, "damping": c}
        mechanism.body(f"{wave}_x", massless="a slide between tank and moving liquid")
        mechanism.body(wave, m, doubtful=POINT)
        mechanism.joint(f"{wave}_x", Prismatic((1, 0, 0)), body, f"{wave}_x", place, **numbers)
        mechanism.joint(wave, Prismatic((0, 1, 0)), f"{wave}_x", wave, **numbers)
    return mechanism


def _positive(what: str, value: float) -> float:
    if not (isinstance(value, Real) and 0 < value < math.inf):
        raise InputError(Finding(what, repr(value), "a number above zero"))
    return float(value)
