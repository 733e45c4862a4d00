"""A space station: bandwidth below the modes, momentum taken by the gradient of gravity."""
