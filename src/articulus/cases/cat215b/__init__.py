"""Caterpillar 215B of Wong 1991."""
