"""Components and events of a run as the tables of a study, and the loop that such tables describe.

A run that was saved, or sent to another process, is rebuilt from them when `Run.again` or `Run.linear` needs its equations.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from articulus.declared import Field, fields_of
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import ArticulusError, InputError, UnsupportedOperation
from articulus.model.files.report import Report
from articulus.model.files.toml.lines import key_lines
from articulus.model.files.toml.numbers import Declared, parameter_text
from articulus.model.files.toml.reader import load_tables
from articulus.model.files.toml.writer import constraint_pairs, function_text, quote
from articulus.model.mechanism import Parameter, Varying
from articulus.model.mechanism.expression import text_of
from articulus.simulation.loop.component import Component
from articulus.simulation.loop.components import Observer
from articulus.simulation.loop.contact import Shape
from articulus.simulation.loop.equations import Network
from articulus.simulation.loop.events import Event
from articulus.simulation.loop.table import Table
from articulus.simulation.loop.time_functions import TimeFunctions
from articulus.simulation.results.recipe import Recipe
from articulus.simulation.results.run import Run
from articulus.simulation.running.loop import Loop
from articulus.simulation.running.rerun import RunOrigin
from articulus.simulation.running.settings import RunSettings
from articulus.simulation.running.specification import Specification
from articulus.study.components import Components
from articulus.study.event_reader import EVENTS, read_events
from articulus.study.fields import TYPES
from articulus.study.numbers import StudyNumbers
from articulus.study.reader import parse_study

Parts = tuple[tuple[Component, ...], tuple[Event, ...]]


# writing


def loop_text(setup: Specification) -> str:
    """Return components and events of a run as TOML; reading it gives equal ones.

    Raises
    ------
    InputError
        Something in them cannot be written to a file: a Python function, a CasADi function, a class of the user's own.
    """
    if setup.outside is not None:
        raise InputError(f"the controller '{setup.outside.name}' is a Python function")
    return parts_text(setup.mechanism, setup.system.network, setup.settings.events)


def parts_text(mechanism: Mechanism, network: Network, events: Sequence[Event] = ()) -> str:
    """Return the components of a network, and events, as TOML; raise InputError where reading it would not give equal ones."""
    own = {p.name for p in mechanism.description.parameters}
    more = [parameter_text(p) for p in network.parameters if p.name not in own]
    blocks = [["[parameters]", *more]]
    blocks += [["[[component]]", *component_lines(c)] for c in network.components]
    blocks += [["[[event]]", *_event(e)] for e in events]
    text = "\n\n".join("\n".join(block) for block in blocks) + "\n"
    written: list[Component | Event] = [*network.components, *events]
    components, found = read_parts(text, mechanism)
    for one, back in zip(written, (*components, *found), strict=True):
        if one != back:
            raise InputError(f"'{one.name}' is not the same when it is read from its text")
    return text


def component_lines(component: Component) -> Iterator[str]:
    """Yield the lines of the table of a component; raise InputError for one that cannot be written to a file."""
    kind = type(component)
    if TYPES.get(component.type_name) is not kind:
        raise InputError(
            f"component '{component.name}' is of class {kind.__name__}, which cannot be written to a file"
        )
    yield f"type = {quote(component.type_name)}"
    yield from _pairs(component, f"component '{component.name}'")


def _event(event: Event) -> Iterator[str]:
    kind = type(event)
    if EVENTS.get(event.type_name) is not kind:
        raise InputError(
            f"event '{event.name}' is of class {kind.__name__}, which cannot be written to a file"
        )
    yield f"type = {quote(event.type_name)}"
    yield from _pairs(event, f"event '{event.name}'", always=("name",))


def _pairs(thing: Any, where: str, always: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield `key = value` for the fields that differ from their default."""
    kind: type = type(thing)
    defaults = {f.name: f.default for f in dataclasses.fields(kind)}
    for field in fields_of(kind):
        held = getattr(thing, field.name)
        if field.name in always or repr(held) != repr(defaults[field.name]):
            key = "signal" if field.kind == "signal" else field.name
            yield f"{key} = {_value(field, held, f'{where}, {field.name}')}"


def _value(field: Field, value: Any, where: str) -> str:
    match field.kind:
        case "number" | "vector":
            return _numeric(value, where)
        case "choice":
            return quote(next(word for word, number in field.words.items() if number == value))
        case "component" if isinstance(value, Component):
            return _inline(component_lines(value))
        case "shape" if isinstance(value, Shape):
            return _inline(iter([f"type = {quote(value.type_name)}", *_pairs(value, where)]))
        case "shape" if isinstance(value, tuple):
            return "[" + ", ".join(_value(field, shape, where) for shape in value) + "]"
        case "constraint" if isinstance(value, tuple):
            return (
                "["
                + ", ".join(_inline(iter([f"name = {quote(c.name)}", *constraint_pairs(c)])) for c in value)
                + "]"
            )
        case "record" if isinstance(value, Observer):
            return _inline(_pairs(value, where))
        case "names" | "component" | "text" | "refers" | "signal" if isinstance(value, str):
            return quote(value)
        case "names" if isinstance(value, tuple):
            return "[" + ", ".join(map(quote, value)) + "]"
        case "integer" | "flag" if isinstance(value, int):
            return str(value).lower()
    raise InputError(f"{where}: a {type(value).__name__} cannot be written to a file")


def _numeric(held: Any, where: str) -> str:
    """Return a number, a tuple of numbers, a matrix or a table over time."""
    if isinstance(held, Parameter):
        return f"{{parameter = {quote(held.name)}}}"
    if isinstance(held, Varying):
        return f"{{expression = {quote(text_of(held))}}}"
    if isinstance(held, TimeFunctions):
        written = [function_text(f) for f in held.functions]
        return written[0] if len(written) == 1 else f"[{', '.join(written)}]"
    if isinstance(held, Table):
        times, values = _numeric(held.times, where), _numeric(held.values, where)
        return f"{{times = {times}, values = {values}, hold = {str(held.hold).lower()}}}"
    if isinstance(held, tuple):
        return "[" + ", ".join(_numeric(x, where) for x in held) + "]"
    if isinstance(held, (int, float)):
        return repr(float(held))
    raise InputError(f"{where}: a {type(held).__name__} cannot be written to a file")


def _inline(pairs: Iterator[str]) -> str:
    return "{" + ", ".join(pairs) + "}"


# reading


def read_parts(text: str, mechanism: Mechanism) -> Parts:
    """Return the components and events of a text of `loop_text`; raise ModelError with everything that is wrong in it."""
    data = load_tables(text, "loop")
    report = Report("loop", key_lines(text))
    numbers = StudyNumbers(report, data.get("parameters", {}))
    for p in mechanism.description.parameters:
        numbers.declared[p.name] = Declared(p, None, "")
    values = Components(report, numbers, Path(), mechanism.description)
    components = [values.component(t, f"component[{i}]") for i, t in enumerate(data.get("component", []))]
    tables = [(f"event[{i}]", t) for i, t in enumerate(data.get("event", []))]
    events = read_events(values, tables, mechanism.description)
    report.raise_if_any()
    return tuple(c for c in components if c is not None), events


def origin_of(run: Run, recipe: Recipe) -> RunOrigin:
    """Return the origin of a run that comes from a file or another process: its loop is built again.

    Raises
    ------
    UnsupportedOperation
        Its components or events could not be written as text, or the text cannot be read.
    """
    try:
        components, events = _parts(run, recipe)
        settings = dict(recipe.settings)
        loop = Loop(run.mechanism, components=components, loops=settings.pop("loops"))
        asked = RunSettings(**settings, events=events)
        setup = loop.setup(asked, recipe.q0, recipe.v0, recipe.params, run.batch is None)
    except ArticulusError as error:
        raise UnsupportedOperation(f"the loop of this run cannot be built again: {error}") from None
    return RunOrigin(setup, recipe.p, _samples(run, recipe, setup))


def _parts(run: Run, recipe: Recipe) -> Parts:
    if recipe.text:
        return read_parts(recipe.text, run.mechanism)
    if "study" in run.meta:
        study = parse_study(run.meta["study"], mechanism=run.mechanism)
        return study.components, study.settings.events
    raise InputError(recipe.refused)


def _samples(run: Run, recipe: Recipe, setup: Specification) -> np.ndarray:
    """Return the states (rows, time, nc + nd) from the signals q and v and the other states."""
    system = setup.system
    out = np.empty((*recipe.states.shape[:2], system.nc + system.nd))
    own = np.ones(out.shape[-1], dtype=bool)
    for name in "qv":
        values = run.signals[name].values
        out[..., system.places[name]] = values if values.ndim == 3 else values[None]
        own[system.places[name]] = False
    if recipe.states.shape[-1] != own.sum():
        raise UnsupportedOperation(
            f"the loop of this run has {own.sum()} states besides q and v; found {recipe.states.shape[-1]} in the file. "
            "It was written by another version"
        )
    out[..., own] = recipe.states
    return out
