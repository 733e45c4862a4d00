"""Slider with a rectangular four-bar linkage."""
