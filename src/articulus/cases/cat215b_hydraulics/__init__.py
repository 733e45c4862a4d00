"""Hydraulic actuators and RESOLVED mode of the Caterpillar 215B of Wong 1991."""
