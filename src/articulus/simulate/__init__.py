"""Runs: a mechanism with its components, in time."""

from articulus.simulate.entry import rollout, simulate

__all__ = ["rollout", "simulate"]
