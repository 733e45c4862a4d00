"""Impacts that accumulate, rest on a stop and release: closed forms."""
