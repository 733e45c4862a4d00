"""A day in orbit, to a millimeter."""
