"""Components of spacecraft: what surrounds them in orbit, their parts and their laws of attitude."""

from articulus.simulation.loop.components.spacecraft.atmospheric_drag import AtmosphericDrag
from articulus.simulation.loop.components.spacecraft.environment import SpaceEnvironment
from articulus.simulation.loop.components.spacecraft.harmonic_gravity import HarmonicGravity
from articulus.simulation.loop.components.spacecraft.solar_pressure import SolarPressure
from articulus.simulation.loop.components.spacecraft.third_bodies import ThirdBodies

SENSORS = (SpaceEnvironment,)
DISTURBANCES = (HarmonicGravity, ThirdBodies, AtmosphericDrag, SolarPressure)

__all__ = [
    "AtmosphericDrag",
    "HarmonicGravity",
    "SolarPressure",
    "SpaceEnvironment",
    "ThirdBodies",
]
