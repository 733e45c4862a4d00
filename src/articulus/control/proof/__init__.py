"""Proof of a design on the full nonlinear model."""

from articulus.control.proof.check import Proof
from articulus.control.proof.run_margins import RunMargins

__all__ = ["Proof", "RunMargins"]
