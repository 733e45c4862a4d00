"""Flexible arm of King 1988."""
