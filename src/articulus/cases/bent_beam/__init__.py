"""A bent beam beside a geometrically exact one."""
