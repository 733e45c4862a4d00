"""Buckling control of a column, Meressi & Paden 1993."""
