"""Spinning and pushed plate."""
