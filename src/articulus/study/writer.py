"""A loop, or a run of one, as a study: a TOML file beside that of its model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from articulus.errors import InputError
from articulus.model.files.storage import StrPath, as_path, write_text
from articulus.model.files.toml.numbers import parameter_text
from articulus.model.files.toml.writer import quote
from articulus.model.mechanism import Parameter
from articulus.simulation.results.run import Run
from articulus.simulation.running.loop import Loop
from articulus.simulation.running.rerun import RunOrigin
from articulus.simulation.running.settings import RunSettings
from articulus.simulation.running.specification import Specification
from articulus.study.loop_text import loop_text
from articulus.study.reader import read_study
from articulus.study.settings import LOOPS, SETTINGS
from articulus.study.study import Study


def save_loop(
    loop: Loop,
    path: StrPath,
    t_end: float,
    q0: Any = None,
    v0: Any = None,
    *,
    params: Mapping[str, Any] | None = None,
    name: str = "",
    purpose: str = "",
    **settings: Any,
) -> Path:
    """Write a loop as a study; see `Loop.save_study`."""
    setup = loop.setup(RunSettings.of(t_end, settings), q0, v0, params, True)
    return save_setup(setup, path, name, purpose)


def save_run(run: Run, path: StrPath, *, name: str = "", purpose: str = "") -> Path:
    """Write how a run was made as a study; see `Run.save_study`."""
    if run.batch is not None:
        raise InputError(
            f"save_study: found a batch of {run.batch} runs; expected one run. What varies in a batch belongs into [campaign.vary]"
        )
    origin = run.require_origin("save_study")
    assert isinstance(origin, RunOrigin)
    return save_setup(origin.setup, path, name, purpose)


def save_setup(setup: Specification, path: StrPath, name: str, purpose: str) -> Path:
    """Write the study and, beside it, its model; return the path of the study, which is read again and compared.

    Raises
    ------
    InputError
        A value cannot be written to a file (a Python function, a class of your own), or the study would not be the same.
    """
    place = as_path(path)
    if place.suffix != ".toml":
        raise InputError(f"save_study: found '{place.name}'; expected the name of a file that ends in .toml")
    model = place.with_suffix(".model.toml")
    setup.mechanism.save(model)
    write_text(place, study_text(setup, model.name, name or place.stem, purpose))
    _require_same(setup, read_study(place))
    return place


def study_text(setup: Specification, model: str, name: str, purpose: str) -> str:
    """Return the text of the study of a specification."""
    head = ["schema = 1", "", "[study]", f"name = {quote(name)}"]
    head += [f"purpose = {quote(purpose)}"] if purpose else []
    head += [f"model = {quote(model)}", "", *_parameters(setup)]
    q0, v0 = (_row(x, n) for x, n in ((setup.q0, "q0"), (setup.v0, "v0")))
    if q0 is not None or v0 is not None:
        head += ["", "[initial]"]
        head += [f"{key} = {_numbers(x)}" for key, x in (("q", q0), ("v", v0)) if x is not None]
    head += ["", "[run]", *_settings(setup)]
    if setup.settings.outputs is not None:
        head += ["", "[outputs]", f"signals = [{', '.join(map(quote, setup.settings.outputs))}]"]
    parts = loop_text(setup)
    return "\n".join(head) + "\n\n" + parts[parts.index("\n[[") + 1 if "\n[[" in parts else len(parts) :]


def _parameters(setup: Specification) -> list[str]:
    """Return the table of the parameters of components, and of those of the model that have another value."""
    own = {p.name: p for p in setup.mechanism.description.parameters}
    lines = []
    for p in setup.system.network.parameters:
        held = own.get(p.name)
        if p.name in setup.params:
            value = np.asarray(setup.params[p.name], dtype=float)
            if value.size != 1:
                raise InputError(f"save_study: params: {p.name}: found {value.size} numbers; expected one")
            lines.append(parameter_text(Parameter(p.name, float(value.reshape(())), p.range)))
        elif held is None:
            lines.append(parameter_text(p))
    return ["[parameters]", *lines] if lines else []


def _settings(setup: Specification) -> list[str]:
    """Return the table of the settings that are not the usual ones."""
    held = {f.name: getattr(setup.settings, f.name) for f in SETTINGS} | {LOOPS.name: setup.system.loops}
    usual = {f.name: f.default for f in (*SETTINGS, LOOPS) if not f.required}
    return [f"{n} = {_value(n, x)}" for n, x in held.items() if n not in usual or x != usual[n]]


def _value(name: str, held: Any) -> str:
    if isinstance(held, bool):
        return str(held).lower()
    if isinstance(held, str):
        return quote(held)
    if isinstance(held, (int, float, np.number)):
        return repr(held.item() if isinstance(held, np.number) else held)
    if isinstance(held, Sequence) and all(isinstance(x, str) for x in held):
        return f"[{', '.join(map(quote, held))}]"
    raise InputError(f"save_study: {name}: found {held!r}; expected a value that a study file can store")


def _row(state: Any, name: str) -> np.ndarray | None:
    if state is None:
        return None
    row = np.asarray(state, dtype=float)
    if row.ndim != 1:
        raise InputError(f"save_study: {name}: found shape {row.shape}; expected one state")
    return row


def _numbers(row: np.ndarray) -> str:
    return f"[{', '.join(repr(x) for x in row.tolist())}]"


def _require_same(setup: Specification, study: Study) -> None:
    """Raise InputError unless a study says what a specification does."""
    d = setup.mechanism.description
    network, s = setup.system.network, setup.settings
    values = {p.name for p in network.parameters} - {p.name for p in d.parameters}
    changed = not values.isdisjoint(setup.params)  # numbers of components are others then, and only these
    state = [
        np.asarray(d.neutral if setup.q0 is None else setup.q0, dtype=float),
        np.zeros(d.nv) if setup.v0 is None else np.asarray(setup.v0, dtype=float),
    ]
    same = {
        "model": study.mechanism.description.fingerprint == d.fingerprint,
        "components": changed or tuple(study.components) == tuple(network.components),
        "events": changed or tuple(study.settings.events) == tuple(s.events),
        "state": all(np.array_equal(a, b) for a, b in zip(state, (study.q0, study.v0))),
        "settings": study.settings.record() == s.record(),
    }
    different = [what for what, held in same.items() if not held]
    if different:
        raise InputError(
            f"save_study: found that {', '.join(different)} would not be the same when read from the file; expected the same"
        )
