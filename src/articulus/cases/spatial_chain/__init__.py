"""Spatial open chain of Ledesma, Devasia & Bayo."""
