"""Operator in the loop: a mechanism in real time, driven from a browser."""

from articulus.studio.drive.catalogue import machine_for
from articulus.studio.drive.driving import Driving
from articulus.studio.drive.machine import Axis, Machine, servo_machine
from articulus.studio.drive.sticks import Sticks
from articulus.studio.web import Access

__all__ = ["Access", "Axis", "Driving", "Machine", "Sticks", "machine_for", "servo_machine"]
