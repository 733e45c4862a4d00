"""Finite-element files: Nastran bulk data, OP4, DMIG, OP2, matrices, and structures made of them."""
