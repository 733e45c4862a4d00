"""Spacecraft: time, planets, gravity and magnetic fields, atmosphere, Sun and Moon, orbits, and tables of parts.

Everything works offline. Positions are in inertial axes: the mean equator and equinox of the epoch (`FRAME`), z along the Earth's
pole, x towards the equinox; what comes in axes of J2000 is turned by `precession`. Components that use this are in
`articulus.components`: `SpaceEnvironment`, `HarmonicGravity`, `AtmosphericDrag`, `SolarPressure`, ...
"""

from articulus.spacecraft.atmosphere import EXPONENTIAL, Atmosphere
from articulus.spacecraft.bodies import moon_position, sun_position
from articulus.spacecraft.eclipse import sunlight
from articulus.spacecraft.epoch import FRAME, Epoch, precession
from articulus.spacecraft.fields import GravityField, MagneticField
from articulus.spacecraft.harmonics import potential
from articulus.spacecraft.jitter import Jitter, jitter
from articulus.spacecraft.momentum import momentum_gains, station_matrices
from articulus.spacecraft.orbit import Orbit, OrbitState, lvlh
from articulus.spacecraft.planet import EARTH, Planet
from articulus.spacecraft.propagate import OrbitRun, propagate
from articulus.spacecraft.reaction import Reaction, reaction_bound
from articulus.spacecraft.slosh import Slosh, Tank, add_tank
from articulus.spacecraft.wheels import WHEELS, WheelData

__all__ = [
    "EARTH",
    "EXPONENTIAL",
    "FRAME",
    "WHEELS",
    "Atmosphere",
    "Epoch",
    "GravityField",
    "Jitter",
    "MagneticField",
    "Orbit",
    "OrbitRun",
    "OrbitState",
    "Planet",
    "Reaction",
    "Slosh",
    "Tank",
    "WheelData",
    "add_tank",
    "jitter",
    "lvlh",
    "momentum_gains",
    "moon_position",
    "potential",
    "precession",
    "propagate",
    "reaction_bound",
    "station_matrices",
    "sun_position",
    "sunlight",
]
