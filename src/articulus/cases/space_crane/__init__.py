"""A truss crane of 100 m follows a path by inverse dynamics, braces itself, and moves finely."""
