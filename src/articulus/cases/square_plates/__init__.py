"""Frequencies of square plates."""
