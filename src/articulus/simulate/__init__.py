"""Runs: a mechanism with its components, in time."""

from articulus.simulate import components, events
from articulus.simulate.component import Actuator, Component, Controller, Disturbance, Sensor
from articulus.simulate.entry import rollout, simulate
from articulus.simulate.outside import PythonController
from articulus.simulate.run import Run

__all__ = [
    "Actuator",
    "Component",
    "Controller",
    "Disturbance",
    "PythonController",
    "Run",
    "Sensor",
    "components",
    "events",
    "rollout",
    "simulate",
]
