"""Scheme of Hanson for stochastic dynamic programming on problems with known solutions."""
