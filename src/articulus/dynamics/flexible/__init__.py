"""Flexible bodies and their stations: the parts of the equations that only they have."""
