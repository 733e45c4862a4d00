"""Beam in a moving frame, Devasia & Bayo."""
