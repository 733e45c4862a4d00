"""Polynomial matrices over the rationals, exact."""
