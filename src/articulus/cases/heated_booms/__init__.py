"""Heat in booms: a rod with its heat, a boom that comes out of the shadow, one that flutters in sunlight."""
