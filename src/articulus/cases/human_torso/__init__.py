"""Human torso of Wong 1991."""
