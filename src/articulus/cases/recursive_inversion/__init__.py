"""Two-link planar arm of Ledesma & Bayo 1993, inverted in two ways."""
