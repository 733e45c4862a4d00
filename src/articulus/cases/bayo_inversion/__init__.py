"""Torque that moves the tip of the flexible link of Ledesma & Bayo 1993."""
