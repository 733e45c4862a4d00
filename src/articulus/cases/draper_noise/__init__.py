"""DRAPER I truss of McLaren & Slater 1989 in white noise, simulated."""
