"""Positions that are searched for: closed loops, rest, frames at places."""

from articulus.solve import goals

__all__ = ["goals"]
