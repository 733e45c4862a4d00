"""Two bodies that float, of which one docks at the other."""
