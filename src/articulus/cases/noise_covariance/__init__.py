"""Carts on springs in white noise."""
