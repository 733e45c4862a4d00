"""Spinning, pushed and spun-up beam."""
