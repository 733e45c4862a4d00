"""Operation counts of the literature."""
