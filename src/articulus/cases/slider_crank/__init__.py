"""Slider-crank through its singular position."""
