"""Geared arms of Chen & Ou 1989."""
