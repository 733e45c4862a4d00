"""Components of spacecraft: what surrounds them in orbit, their parts and their laws of attitude."""

from articulus.simulation.loop.components.spacecraft.allocation import (
    BDotDamping,
    GyroSteering,
    MomentumDumping,
    SchmittTrigger,
    TorqueAllocation,
)
from articulus.simulation.loop.components.spacecraft.atmospheric_drag import AtmosphericDrag
from articulus.simulation.loop.components.spacecraft.attitude_filter import AttitudeFilter
from articulus.simulation.loop.components.spacecraft.attitude_laws import (
    MrpFeedback,
    MrpSteering,
    QuaternionFeedback,
    SlidingAttitude,
)
from articulus.simulation.loop.components.spacecraft.control_moment_gyro import ControlMomentGyro
from articulus.simulation.loop.components.spacecraft.environment import SpaceEnvironment
from articulus.simulation.loop.components.spacecraft.guidance import AxisSlew, HillPointing, InertialPointing
from articulus.simulation.loop.components.spacecraft.harmonic_gravity import HarmonicGravity
from articulus.simulation.loop.components.spacecraft.line_of_sight import LineOfSight
from articulus.simulation.loop.components.spacecraft.magnetorquer import Magnetorquer
from articulus.simulation.loop.components.spacecraft.microgravity import Microgravity
from articulus.simulation.loop.components.spacecraft.momentum_management import MomentumManagement
from articulus.simulation.loop.components.spacecraft.sky_sensors import (
    DriftingGyro,
    Magnetometer,
    StarTracker,
    SunSensor,
)
from articulus.simulation.loop.components.spacecraft.solar_pressure import SolarPressure
from articulus.simulation.loop.components.spacecraft.tachometer import Tachometer
from articulus.simulation.loop.components.spacecraft.thermal_bending import ThermalBending
from articulus.simulation.loop.components.spacecraft.third_bodies import ThirdBodies
from articulus.simulation.loop.components.spacecraft.wheel_imbalance import WheelImbalance

SENSORS = (
    SpaceEnvironment,
    StarTracker,
    DriftingGyro,
    Magnetometer,
    SunSensor,
    Tachometer,
    Microgravity,
    LineOfSight,
)
CONTROLLERS = (
    AttitudeFilter,
    InertialPointing,
    HillPointing,
    AxisSlew,
    MrpFeedback,
    QuaternionFeedback,
    MrpSteering,
    SlidingAttitude,
    TorqueAllocation,
    GyroSteering,
    SchmittTrigger,
    MomentumDumping,
    BDotDamping,
    MomentumManagement,
)
ACTUATORS = (Magnetorquer, ControlMomentGyro)
DISTURBANCES = (HarmonicGravity, ThirdBodies, AtmosphericDrag, SolarPressure, ThermalBending, WheelImbalance)

__all__ = [
    "AtmosphericDrag",
    "AttitudeFilter",
    "AxisSlew",
    "BDotDamping",
    "ControlMomentGyro",
    "DriftingGyro",
    "GyroSteering",
    "HarmonicGravity",
    "HillPointing",
    "InertialPointing",
    "LineOfSight",
    "Magnetometer",
    "Magnetorquer",
    "Microgravity",
    "MomentumDumping",
    "MomentumManagement",
    "MrpFeedback",
    "MrpSteering",
    "QuaternionFeedback",
    "SchmittTrigger",
    "SlidingAttitude",
    "SolarPressure",
    "SpaceEnvironment",
    "StarTracker",
    "SunSensor",
    "Tachometer",
    "ThermalBending",
    "ThirdBodies",
    "TorqueAllocation",
    "WheelImbalance",
]
