"""Joint control of a flexible arm after King 1988."""
