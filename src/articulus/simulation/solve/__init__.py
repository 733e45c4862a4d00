"""Positions that are searched for: closed loops, rest, frames at places."""

from articulus.simulation.solve import goals

__all__ = ["goals"]
