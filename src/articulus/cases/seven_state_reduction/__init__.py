"""Reduction of the seven-state model of Chiang & Safonov 1989."""
