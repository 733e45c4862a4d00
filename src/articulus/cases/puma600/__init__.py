"""PUMA 600 of Wong 1991."""
