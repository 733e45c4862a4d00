"""Positions that are searched for: closed loops, rest, a frame at a place."""
