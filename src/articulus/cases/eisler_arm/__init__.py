"""Flexible two-link arm of Eisler, Segalman & Robinett 1989."""
