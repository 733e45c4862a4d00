"""Frequencies of uniform beams."""
