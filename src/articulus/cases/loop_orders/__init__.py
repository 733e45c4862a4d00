"""Orders of the integration methods on closed loops."""
