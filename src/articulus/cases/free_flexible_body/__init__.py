"""Flexible bodies in free flight."""
