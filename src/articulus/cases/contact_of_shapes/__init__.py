"""Contact of shapes: restitution of an impact, a block on a slope, a ball that rolls."""
