"""Uncertainty models with the fewest repetitions: Belcastro, Chang & Fischl 1989."""
