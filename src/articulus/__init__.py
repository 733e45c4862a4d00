"""Computational control of articulated mechanisms."""
