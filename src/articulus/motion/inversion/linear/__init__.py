"""Inversion of linear plants: in the time and in the frequency domain, continuous and sampled."""
