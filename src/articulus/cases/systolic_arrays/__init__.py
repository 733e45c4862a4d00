"""Systolic arrays for dynamics of a serial arm."""
