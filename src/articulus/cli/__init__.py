"""The command line, a file for each command or pair of them. Imports what it needs only when a command runs."""

from articulus.cli.commands import app, main

__all__ = ["app", "main"]
