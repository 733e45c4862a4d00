"""Stability of sampled computed torque after King 1988."""
