"""Control laws in a non-strict order."""
