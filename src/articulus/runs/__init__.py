"""Runs: a mechanism with its components, in time."""

from articulus.linear import LinearModel
from articulus.runs import components, events
from articulus.runs.compare import compare
from articulus.runs.component import Actuator, Component, Controller, Disturbance, Scope, Sensor
from articulus.runs.entry import rollout, simulate
from articulus.runs.loop import Loop
from articulus.runs.outside import PythonController
from articulus.runs.plots import plot
from articulus.runs.records import RunStatus
from articulus.runs.run import Run
from articulus.runs.settings import RunSettings

load_run = Run.load

__all__ = [
    "Actuator",
    "Component",
    "Controller",
    "Disturbance",
    "LinearModel",
    "Loop",
    "PythonController",
    "Run",
    "RunSettings",
    "RunStatus",
    "Scope",
    "Sensor",
    "compare",
    "components",
    "events",
    "load_run",
    "plot",
    "rollout",
    "simulate",
]
