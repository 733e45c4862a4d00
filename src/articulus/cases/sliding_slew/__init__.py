"""Sliding-mode slews after Dwyer, Karray & Kim 1989."""
