"""Curved cantilever of Bathe & Bolourchi 1979."""
