"""Human torso of Wong 1991 under computed torque."""
