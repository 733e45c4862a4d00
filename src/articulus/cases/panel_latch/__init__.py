"""A panel that unfolds from a free hub and latches."""
