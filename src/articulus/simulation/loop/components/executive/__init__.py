"""Sensors and actuators that fail, votes among sensors, checks of commands: what surrounds flight code."""

from articulus.simulation.loop.component import Actuator, Controller, Sensor
from articulus.simulation.loop.components.executive.actuator_failure import ActuatorFailure
from articulus.simulation.loop.components.executive.command_check import CommandCheck
from articulus.simulation.loop.components.executive.sensor_failure import SensorFailure
from articulus.simulation.loop.components.executive.voter import Voter

SENSORS: tuple[type[Sensor], ...] = (SensorFailure, Voter)
CONTROLLERS: tuple[type[Controller], ...] = (CommandCheck,)
ACTUATORS: tuple[type[Actuator], ...] = (ActuatorFailure,)

__all__ = ["ActuatorFailure", "CommandCheck", "SensorFailure", "Voter"]
