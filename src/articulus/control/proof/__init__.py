"""Proof of a design on the full nonlinear model."""
