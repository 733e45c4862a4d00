"""Neighborhood scheduling and recursive doubling."""
