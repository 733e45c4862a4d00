"""Laminates and laminated plates."""
