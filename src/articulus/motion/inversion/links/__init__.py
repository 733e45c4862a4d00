"""Chains of flexible links, inverted link by link from the tip inwards, with torques and redundant piezoelectric actuators."""

from articulus.motion.inversion.links.minimal import minimal_vibration
from articulus.motion.inversion.links.recursion import link_by_link

__all__ = ["link_by_link", "minimal_vibration"]
