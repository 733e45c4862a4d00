"""Chains of flexible links, inverted link by link from the tip inwards, with torques and redundant piezoelectric actuators."""

from articulus.inversion.links.minimal import minimal_vibration

__all__ = ["minimal_vibration"]
