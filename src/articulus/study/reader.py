"""Reading the TOML format of studies (schema 1, `docs/studies.md`)."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from articulus.dynamics.loops.forms import AUTO
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import Finding, InputError, ModelError, did_you_mean
from articulus.model.files.report import Report
from articulus.model.files.storage import StrPath, as_path, load_text
from articulus.model.files.toml.numbers import Declared, short_text
from articulus.model.files.toml.reader import load_tables
from articulus.model.mechanism import Description
from articulus.model.mechanism.numbers import parameters_in
from articulus.simulation.loop.component import Component
from articulus.simulation.loop.steps import steps_in
from articulus.simulation.results.signal import Signal
from articulus.simulation.running.joint_limits import with_stops
from articulus.simulation.running.loop import Loop
from articulus.simulation.running.settings import RunSettings
from articulus.simulation.running.shape_contacts import with_contacts
from articulus.study.check import FIGURES
from articulus.study.check_reader import read_checks
from articulus.study.components import Components
from articulus.study.event_reader import read_events
from articulus.study.executive import with_executive
from articulus.study.initial import read_state
from articulus.study.numbers import StudyNumbers
from articulus.study.settings import RunTable, read_run
from articulus.study.study import Study
from articulus.study.tables import Tables, report_of
from articulus.study.tip import TipMotion, read_tip

SCHEMA = 1
TOP = (
    "schema",
    "study",
    "parameters",
    "initial",
    "component",
    "executive",
    "run",
    "event",
    "outputs",
    "check",
    "inversion",
    "campaign",
)
HEAD = ("name", "purpose", "model", "options")
TRUST = tuple(dict.fromkeys(signal for signal, _, _ in FIGURES.values()))
"""Signals that are always kept: the run diagnostics rest on them."""


def is_study(path: StrPath) -> bool:
    """Whether a path leads to a TOML file of a study, and not of a model."""
    place = as_path(path)
    return (
        place.suffix == ".toml" and place.is_file() and "study" in load_tables(load_text(place), place.name)
    )


def read_study(path: StrPath) -> Study:
    """Return the study of a TOML file; raise ModelError with everything that is wrong in it."""
    place = as_path(path)
    return parse_study(load_text(place), place.name, place.parent)


def parse_study(
    text: str, name: str = "study.toml", folder: Path = Path(), mechanism: Mechanism | None = None
) -> Study:
    """Return the study of a TOML text.

    Parameters
    ----------
    text : str
    name : str
        Name of the file, for messages.
    folder : Path
        Where other files are looked for.
    mechanism : Mechanism
        To be taken instead of the model that the text names.
    """
    try:
        return parse_tables(load_tables(text, name), text, name, folder, mechanism)
    except RecursionError:
        raise ModelError(Finding(name, "values nested too deeply", "a few levels at most")) from None


def parse_tables(
    data: dict[str, Any], text: str, name: str, folder: Path, mechanism: Mechanism | None = None
) -> Study:
    """Return the study of tables that were read from a text; its table [campaign] is left to `articulus.study.campaign`."""
    report = report_of(data, text, name, SCHEMA)
    return _Reader(data, text, report, folder).study(mechanism)


class _Reader(Tables):
    """Turns the tables of one file into a study; all that is wrong goes to the report."""

    values: Components

    def __init__(self, data: dict[str, Any], text: str, report: Report, folder: Path):
        self.numbers = StudyNumbers(report, data.get("parameters", {}))
        super().__init__(data, text, report, folder, Components(report, self.numbers, folder, None))

    def study(self, mechanism: Mechanism | None = None) -> Study:
        self._refuse_sweep()
        self.values.unknown_keys(self.data, TOP, "")
        head = self.head("study", HEAD)
        mechanism = mechanism or self.mechanism("study", head["model"])
        description = mechanism.description if mechanism else None
        self.values.description = description
        self._declare_model_parameters(description)
        run = read_run(self.values, self.table("run"), "inversion" not in self.data)
        settings = run.settings if run else None
        components = self._components()
        if run is not None and run.limits and mechanism is not None:
            components = {c.name: c for c in with_stops(mechanism, tuple(components.values()))}
        if run is not None and run.contacts and mechanism is not None:
            try:
                components = {c.name: c for c in with_contacts(mechanism, tuple(components.values()))}
            except InputError as error:
                self.report.add_error("run.contacts", error)
        q0, v0 = (read_state(self.values, self.table("initial"), key, description) for key in "qv")
        tip = self._tip(mechanism, settings, q0)
        if tip is not None and settings is not None:
            settings = dataclasses.replace(settings, t_end=settings.t0 + tip.length)
            components |= {c.name: c for c in tip.components}
            q0, v0 = tip.first, np.zeros(tip.first.size)
        self._check_periods(components, settings)
        loop = self._loop(mechanism, components, run)
        signals = loop.signals if loop else None
        events = read_events(self.values, self.tables("event"), description, signals)
        outputs, plots = self._outputs(signals)
        checks = read_checks(self.values, self.tables("check"), signals, settings)
        if loop is not None:
            known = [*loop.system.network.parameters, *parameters_in(events)]
            self._check_parameters([p.name for p in known])
        self.report.raise_if_any()
        assert mechanism is not None
        assert run is not None
        assert settings is not None
        assert signals is not None
        chosen = tuple(signals) if outputs is None else outputs
        named = [what for plot in plots for what in plot] + [c.what for c in checks]
        needed = [s.name for what in named for s in signals.values() if what in (s.name, *s.columns)]
        kept = dict.fromkeys(n for n in (*chosen, *needed, *TRUST) if n in signals and n not in ("q", "v"))
        params: dict[str, Any] = {n: d.parameter.value for n, d in self.given.items()}
        study = Study(
            head["name"], head["purpose"], self.report.name, self.text, mechanism,
            dataclasses.replace(settings, events=events, outputs=tuple(kept)), tuple(components.values()), q0, v0, params,
            plots, checks, tip, run.loops, run.checkpoint_interval,
        )  # fmt: skip
        study.__dict__["loop"] = loop  # the equations that were derived for the checks above
        return study

    def _loop(
        self, mechanism: Mechanism | None, components: dict[str, Component], run: RunTable | None
    ) -> Loop | None:
        """Return the mechanism with its components; None, with a finding for each, where they do not fit."""
        if mechanism is None:
            return None
        loop = Loop(mechanism, components=tuple(components.values()), loops=run.loops if run else AUTO)
        return loop if self.values.fits(loop, list(components)) else None

    def _refuse_sweep(self) -> None:
        """Say what to write instead of a table [sweep]."""
        if self.data.pop("sweep", None) is not None:
            self.report.add(
                "sweep",
                "the table [sweep]",
                "a campaign of a grid",
                'Write [campaign] with sampler = "grid", runs (a multiple of the combinations) and seed, and the lines of [sweep.values] '
                "under [campaign.vary]; `articulus campaign run` runs it.",
            )

    def _tip(self, mechanism: Mechanism | None, settings: RunSettings | None, q0: Any) -> TipMotion | None:
        """Return the motion of the table [inversion]; the whole length of the run is its own."""
        table = self.data.get("inversion")
        if table is None:
            return None
        if "t_end" in self.table("run"):
            self.report.add(
                "run.t_end",
                "given with [inversion]",
                "no t_end",
                "The forces begin before the motion and end after it; the run takes as long as they act.",
            )
            return None
        return read_tip(self.values, table, mechanism, settings, self.folder, q0)

    # their content

    def _declare_model_parameters(self, description: Description | None) -> None:
        """Make the model's parameters known to components, with the model's values: a run changes them, not the model."""
        self.given = dict(self.numbers.declared)
        for p in description.parameters if description else ():
            held = self.numbers.declared.get(p.name)
            self.numbers.declared[p.name] = Declared(p, held.unit if held else None, "")

    def _check_parameters(self, known: list[str]) -> None:
        for name in self.given:
            if name not in known:
                expected = 'a parameter of the model, or of a component as {parameter = "..."}'
                self.report.add(
                    f"parameters.{name}", f"'{name}', which nothing uses", expected, did_you_mean(name, known)
                )

    def _components(self) -> dict[str, Component]:
        found = {path: self.values.component(t, path) for path, t in self.tables("component")}
        held = {path: c for path, c in found.items() if c is not None}
        return with_executive(self.values, self.data["executive"], held) if "executive" in self.data else held

    def _check_periods(self, components: dict[str, Component], settings: RunSettings | None) -> None:
        for path, c in components.items():
            if settings and c.period is not None and steps_in(c.period, settings.step) is None:
                found = (
                    f"{c.period:.9g} s, which is {c.period / settings.step:.6g} steps of {settings.step:g} s"
                )
                self.report.add(f"{path}.period", found, "a whole number of steps")

    def _outputs(
        self, signals: dict[str, Signal] | None
    ) -> tuple[tuple[str, ...] | None, tuple[tuple[str, ...], ...]]:
        table = self.table("outputs")
        self.values.unknown_keys(table, ("signals", "plots"), "outputs")
        names = self._names(
            table.get("signals", []), "outputs.signals", list(signals or ()), signals is not None
        )
        plots = table.get("plots", [])
        if not isinstance(plots, list) or not all(isinstance(p, (list, str)) for p in plots):
            self.report.add(
                "outputs.plots",
                short_text(plots),
                'a list of figures, such as [["q.lift", "q.boom"], "energy"]',
            )
            plots = []
        known = [n for s in (signals or {}).values() for n in dict.fromkeys((s.name, *s.columns))]
        figures = []
        for i, plot in enumerate(plots):
            group = [plot] if isinstance(plot, str) else plot
            figures.append(self._names(group, f"outputs.plots[{i}]", known, signals is not None))
        return (names if "signals" in table else None), tuple(f for f in figures if f)

    def _names(self, given: Any, path: str, known: list[str], sure: bool) -> tuple[str, ...]:
        if not isinstance(given, list) or not all(isinstance(n, str) for n in given):
            self.report.add(path, short_text(given), "a list of names")
            return ()
        for i, name in enumerate(given):
            if sure and name not in known:
                self.report.add(
                    f"{path}[{i}]", f"no signal '{name}'", "a signal of the run", did_you_mean(name, known)
                )
        return tuple(given)
