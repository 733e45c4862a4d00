"""Thick plates, laminates and sandwiches."""
