"""Families of polynomials after Sideris 1989."""
