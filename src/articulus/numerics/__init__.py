"""Matrix equations and invariant subspaces, each in one place; arrays in, arrays out, no mechanics."""
