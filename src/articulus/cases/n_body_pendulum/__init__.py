"""Chain of bodies on ball joints in absolute coordinates, Chou 1989."""
