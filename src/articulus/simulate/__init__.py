"""Runs: a mechanism with its components, in time."""
