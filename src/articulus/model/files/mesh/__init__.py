"""Meshes of what is drawn: STL, OBJ, PLY, and scenes such as COLLADA and glTF."""
