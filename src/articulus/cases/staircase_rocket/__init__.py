"""A rocket's farthest range as a staircase linear program, Psiaki 1989."""
