"""Planar linkages without angular momentum: three links turn by a loop of their joints, a beam of six becomes a hexagon."""
