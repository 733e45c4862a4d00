"""Operator in the loop: a mechanism in real time, driven from a browser."""

from articulus.browser.drive.driving import Driving
from articulus.browser.drive.excavator import machine_for
from articulus.browser.drive.machine import Machine, StickAxis, servo_machine
from articulus.browser.drive.sticks import Sticks
from articulus.browser.web import Access

__all__ = ["Access", "Driving", "Machine", "StickAxis", "Sticks", "machine_for", "servo_machine"]
