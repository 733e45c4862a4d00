"""Launch vehicle of two stages by finite elements in time."""
