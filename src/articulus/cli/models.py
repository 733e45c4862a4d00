"""`articulus models`: the mechanisms that come with the package."""

from __future__ import annotations

from articulus.cli.printing import new_console, new_table


def models() -> None:
    """List the mechanisms and structures of the library."""
    from articulus.model import library

    console = new_console()
    table = new_table(
        "mechanisms: art.load(name), articulus info NAME", "name", "bodies", "degrees of freedom", "source"
    )
    for name in library.names():
        d = library.read(name)
        table.add_row(name, str(len(d.bodies)), str(d.nv), d.source)
    console.print(table)
    table = new_table("structures: articulus.model.library.structure(name)", "name")
    for name in library.STRUCTURES:
        table.add_row(name)
    console.print(table)
