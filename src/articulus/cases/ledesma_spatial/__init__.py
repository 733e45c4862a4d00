"""Tips of spatial flexible mechanisms, open and closed, moved along a path by inverse dynamics."""
