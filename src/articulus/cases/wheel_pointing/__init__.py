"""A hub with three wheels points in orbit."""
