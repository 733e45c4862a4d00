"""Meshes of what is drawn: STL and OBJ."""
