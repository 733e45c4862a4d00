"""Motions: planned (trajectory) and inverted (inversion)."""
