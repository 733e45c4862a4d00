"""Tables and notes on a terminal or in a pipe."""

from __future__ import annotations

import sys

from rich import box
from rich.console import Console
from rich.table import Table

PIPE_WIDTH = 240
"""Columns of a table that does not go to a terminal."""


def new_console(stderr: bool = False) -> Console:
    """Return a console that takes texts literally: names and units may hold brackets."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else PIPE_WIDTH
    return Console(file=stream, width=width, markup=False, highlight=False, emoji=False)


def new_table(title: str, *columns: str) -> Table:
    """Return an empty table that folds what is too wide."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
