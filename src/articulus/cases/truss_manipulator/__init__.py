"""A manipulator of five truss bays between two cubes, Naccarato & Hughes 1989."""
