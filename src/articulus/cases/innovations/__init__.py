"""Innovations of joints after Rodriguez 1989."""
