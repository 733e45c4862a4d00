"""Operators of a chain of flexible links, Rodriguez, Jain & Kreutz 1989."""
