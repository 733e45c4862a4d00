"""Actuators with hysteresis and the strain feedback around them, after Devasia & Bayo 1994."""
