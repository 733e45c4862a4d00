"""Our own format: mechanisms as TOML, read and written."""
