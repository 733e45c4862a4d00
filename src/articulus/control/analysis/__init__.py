"""What a linear model does: norms, Gramians, zeros, modes, margins; one question, one file."""
