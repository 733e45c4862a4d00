"""`articulus info`: what a mechanism is made of."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from articulus.cli.arguments import Model, Settings, options
from articulus.cli.printing import new_console, new_table
from articulus.errors import DoubtfulModel

if TYPE_CHECKING:
    from articulus.dynamics.mechanism import Mechanism
    from articulus.model.mechanism import Connection


def info(
    model: Model,
    settings: Settings = None,
) -> None:
    """Show what a mechanism is made of."""
    from articulus.model.load import load

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulModel)  # the table of findings says it
        mechanism = load(model, **options(settings))
    console = new_console()
    console.print(_summary(mechanism))
    console.print(_drawing(mechanism))
    tables = (_bodies, _joints, _couplings, _frames, _parameters, _findings)
    for table in (make(mechanism) for make in tables):
        if table.row_count:
            console.print(table)


def _summary(mechanism: Mechanism) -> Text:
    from articulus.model.mechanism.inertias import body_mass

    held = mechanism.description
    mass = sum(body_mass(b)[0] for b in held.bodies)
    counts = f"{len(held.bodies)} bodies, {len(held.connections)} joints, nq = {held.nq}, nv = {held.nv}"
    text = Text.assemble(
        (held.name, "bold"), f": {counts}, {mass:.6g} kg, gravity {_vector(held.gravity)} m/s^2"
    )
    return text.append(f"\n{held.source}", "dim") if held.source else text


def _drawing(mechanism: Mechanism) -> Tree:
    held = mechanism.description
    root = Tree(Text("ground", "bold"))
    places = {"ground": root}
    for c in held.connections:
        label = Text.assemble((c.child, "bold"), f"  {c.name} ({_kind(c)})")
        places[c.child] = places[c.parent].add(label)
    for frame in held.frames:
        places[frame.body].add(Text(f"{frame.name} (frame)", "italic"))
    return root


def _kind(c: Connection) -> str:
    return f"{c.joint.type_name}, geared" if c.rotor else c.joint.type_name


def _bodies(mechanism: Mechanism) -> Table:
    from articulus.model.mechanism.inertias import body_mass

    table = new_table("bodies", "name", "mass [kg]", "center of mass [m]", "Ixx Iyy Izz Ixy Ixz Iyz [kg m^2]")
    for b in mechanism.description.bodies:
        if b.modes is None:
            table.add_row(b.name, _number(b.mass), _vector(b.com), _vector(b.inertia))
        else:
            mass, center = body_mass(b)
            table.add_row(
                b.name, _number(mass), _vector(center.tolist()), f"flexible, {len(b.modes.names)} modes"
            )
    return table


def _joints(mechanism: Mechanism) -> Table:
    table = new_table(
        "joints", "name", "type", "parent", "child", "dof", "axis", "position", "speed", "effort"
    )
    for c in mechanism.description.connections:
        limits = c.limits
        axis = getattr(c.joint, "axis", None)
        table.add_row(
            c.name,
            _kind(c),
            c.parent,
            c.child,
            "coupled" if c.name in mechanism.description.coupled else str(c.joint.nv),
            "" if axis is None else _vector(axis),
            f"{_vector(limits.lower)} to {_vector(limits.upper)}" if limits.lower or limits.upper else "",
            _vector(limits.velocity),
            _vector(limits.effort),
        )
    return table


def _couplings(mechanism: Mechanism) -> Table:
    table = new_table("couplings", "joint", "its position [rad or m]")
    for c in mechanism.description.couplings:
        table.add_row(c.joint, c.formula())
    return table


def _frames(mechanism: Mechanism) -> Table:
    table = new_table("frames", "name", "body", "position [m]")
    for f in mechanism.description.frames:
        table.add_row(f.name, f.body, _vector(f.at.xyz))
    return table


def _parameters(mechanism: Mechanism) -> Table:
    table = new_table("parameters", "name", "value")
    for p in mechanism.description.parameters:
        ends = "" if p.range is None else f" ({p.range[0]:.6g} to {p.range[1]:.6g})"
        table.add_row(p.name, f"{p.value:.6g}{ends}")
    return table


def _findings(mechanism: Mechanism) -> Table:
    table = new_table("findings", "kind", "where", "found", "expected")
    for f in mechanism.findings:
        table.add_row(f.kind, f.where, f.found, f"{f.expected}. {f.hint}" if f.hint else f.expected)
    return table


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else f"{value.name} = {value.value:.6g}"


def _vector(values: Any) -> str:
    return " ".join(_number(x) for x in values)
