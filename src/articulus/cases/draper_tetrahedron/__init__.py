"""DRAPER I tetrahedron of McLaren & Slater 1989."""
