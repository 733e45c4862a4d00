"""Tips of planar flexible mechanisms, open and closed, moved along a path by inverse dynamics."""
