"""Planar truss of Minas, Garcia & Inman 1989."""
