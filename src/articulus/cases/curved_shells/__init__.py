"""Curved shells of eight-node elements: pinched cylinder, barrel vault, pinched hemisphere."""
