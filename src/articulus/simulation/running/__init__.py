"""Running a loop in time: `Loop`, its settings, the engines that step it, checkpoints and what went wrong."""

from articulus.simulation.running.calls import rollout, simulate
from articulus.simulation.running.loop import Loop
from articulus.simulation.running.settings import RunSettings

__all__ = ["Loop", "RunSettings", "rollout", "simulate"]
