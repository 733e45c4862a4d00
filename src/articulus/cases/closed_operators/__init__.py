"""Closed mechanisms by spatial operators, Rodriguez, Jain & Kreutz 1989."""
