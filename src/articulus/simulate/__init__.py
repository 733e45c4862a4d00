"""Runs: a mechanism with its components, in time."""

import sys
from types import ModuleType

from articulus.simulate import components, events
from articulus.simulate.compare import compare
from articulus.simulate.component import Actuator, Component, Controller, Disturbance, Scope, Sensor
from articulus.simulate.entry import rollout, simulate
from articulus.simulate.loop import Loop
from articulus.simulate.loop_model import LoopModel
from articulus.simulate.outside import PythonController
from articulus.simulate.plots import plot
from articulus.simulate.records import RunStatus
from articulus.simulate.run import Run
from articulus.simulate.settings import RunSettings

load_run = Run.load

__all__ = [
    "Actuator",
    "Component",
    "Controller",
    "Disturbance",
    "Loop",
    "LoopModel",
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


class _Callable(ModuleType):
    """A module that can be called: `articulus.simulate` is this module and its function in one."""

    __call__ = staticmethod(simulate)


sys.modules[__name__].__class__ = _Callable
