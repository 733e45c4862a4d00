"""Stable inversion of Chen and Paden's plant."""
