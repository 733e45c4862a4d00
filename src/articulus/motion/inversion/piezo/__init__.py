"""Piezoelectric layers and stacks on beams and arms: what they push with, where they go, and a column that they hold up."""
