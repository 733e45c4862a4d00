"""Flexible link of Ledesma & Bayo 1993."""
