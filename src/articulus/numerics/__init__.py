"""Newton's method, matrix equations, Gramians, invariant subspaces, banded factors and random streams, each in one place; arrays in, arrays out, no mechanics."""
