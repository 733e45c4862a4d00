"""Running a loop in time: `Loop`, its settings, the engines that step it, checkpoints and what went wrong."""

from articulus.running.calls import rollout, simulate
from articulus.running.loop import Loop
from articulus.running.settings import RunSettings

__all__ = ["Loop", "RunSettings", "rollout", "simulate"]
