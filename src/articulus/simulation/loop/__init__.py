"""The closed loop as equations: components and events, how they connect, functions of the whole and its linear model."""

from articulus.simulation.loop import components, events
from articulus.simulation.loop.component import Actuator, Component, Controller, Disturbance, Scope, Sensor
from articulus.simulation.loop.python_controller import PythonController

__all__ = [
    "Actuator",
    "Component",
    "Controller",
    "Disturbance",
    "PythonController",
    "Scope",
    "Sensor",
    "components",
    "events",
]
