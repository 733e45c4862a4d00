"""Slew of the two-link arm of Padilla & von Flotow 1989."""
