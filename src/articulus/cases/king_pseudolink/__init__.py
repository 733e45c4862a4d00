"""Composite tip controller of a flexible arm, King 1988, chapter 4."""
