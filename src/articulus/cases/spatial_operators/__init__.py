"""Operator identities of Rodriguez, Jain & Kreutz 1989."""
