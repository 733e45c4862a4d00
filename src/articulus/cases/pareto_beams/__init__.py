"""Fronts between mass and control of beams, Salama et al. 1989."""
