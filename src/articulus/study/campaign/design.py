"""`Campaign`: a study, what varies in it, how many runs, and what is examined. Plain data: a text tells a worker everything."""

from __future__ import annotations

import copy
import dataclasses
import functools
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from articulus.errors import Finding, InputError, ModelError, did_you_mean
from articulus.model.files.report import Report
from articulus.model.files.storage import StrPath, as_path, load_bytes, load_text, noting_files
from articulus.model.files.toml.lines import key_lines
from articulus.model.files.toml.reader import load_tables
from articulus.model.mechanism.numbers import parameters_in
from articulus.simulation.results.signal import Signal
from articulus.study.campaign import distributions
from articulus.study.campaign.component_numbers import make_parameter, number_names, number_unit
from articulus.study.campaign.distributions import Axis, axes_of, draw, require_ranges, require_seeds
from articulus.study.campaign.figures import Figure, Requirement, of_checks, read_figures, read_requirements
from articulus.study.campaign.machine import machine
from articulus.study.campaign.samplers import SAMPLERS, Sampler, sampler_of
from articulus.study.campaign.vary_reader import read_axes
from articulus.study.courses import Courses
from articulus.study.numbers import StudyNumbers
from articulus.study.reader import parse_tables
from articulus.study.study import Study

KEYS = (
    "runs",
    "sampler",
    "seed",
    "vary",
    "group",
    "figures",
    "requirements",
    "bands",
    "keep",
    "second_order",
)
BLOCK = 256
"""Rows of inputs that are computed together, always the same ones: no bit depends on how a campaign is cut."""
MOST_RUNS = 10**15
"""Runs whose numbers every file holds exactly, and more than anyone can wait for."""
SEED = "seed"
"""Name of the axis that gives each run a seed of its own."""


@dataclass(frozen=True, eq=False)
class Campaign:
    """One campaign.

    Parameters
    ----------
    text : str
        Content of the study's file.
    name : str
        Name of that file.
    folder : Path
        Where the files that the study names lie.
    axes : tuple of Axis
        What varies: parameters, entries of the initial state ("q.lift"), numbers of components and events ("servo.kp",
        "latch.level"), "seed".
    runs : int
    sampler : str
        One of `samplers.SAMPLERS`.
    seed : int
        Seed of the sampler.
    figures : tuple of Figure
    requirements : tuple of Requirement
    bands : tuple of str
        Entries of signals whose percentiles over time are wanted.
    keep : tuple of (str, int)
        For each figure, how many of its worst runs are kept whole.
    second_order : bool
        Whether a Saltelli design gives indices of pairs.
    """

    text: str
    name: str
    folder: Path
    axes: tuple[Axis, ...]
    runs: int
    sampler: str = "monte carlo"
    seed: int = 0
    figures: tuple[Figure, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    bands: tuple[str, ...] = ()
    keep: tuple[tuple[str, int], ...] = ()
    second_order: bool = True

    # reading

    @staticmethod
    def read(study: StrPath, *, folder: StrPath | None = None, **given: Any) -> Campaign:
        """Return the campaign of a study: of its table [campaign], with whatever is given in place of that.

        Parameters
        ----------
        study : path of a study, or its text (TOML)
        folder : path
            Where the files that the study names lie; the folder of the study, or the current one for a text.
        given :
            Keys of the table: runs, sampler, seed, vary, group, figures, requirements, bands, keep, second_order.
        """
        if isinstance(study, str) and "\n" in study:
            text, name, place = study, "study.toml", Path()
        else:
            path = as_path(study)
            text, name, place = load_text(path), path.name, path.parent
        return _read(text, name, (place if folder is None else as_path(folder)).absolute(), given)

    # as text

    def to_json(self) -> str:
        """Return everything but the folder as a text."""
        held = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "folder"}
        held["axes"] = [{"names": a.names, "distribution": _plain(a.distribution)} for a in self.axes]
        held["figures"] = [dataclasses.asdict(f) for f in self.figures]
        held["requirements"] = [dataclasses.asdict(r) for r in self.requirements]
        return json.dumps(held)

    @staticmethod
    def from_json(text: str, folder: StrPath) -> Campaign:
        """Return the campaign that `to_json` wrote."""
        held = json.loads(text)
        held["axes"] = tuple(Axis(tuple(a["names"]), _from_plain(a["distribution"])) for a in held["axes"])
        held["figures"] = tuple(Figure(**f) for f in held["figures"])
        held["requirements"] = tuple(Requirement(**r) for r in held["requirements"])
        held["bands"] = tuple(held["bands"])
        held["keep"] = tuple((name, count) for name, count in held["keep"])
        return Campaign(folder=as_path(folder), **held)

    # what it means

    @functools.cached_property
    def study(self) -> Study:
        """The study, in which numbers of components and events that vary are parameters."""
        return _parse(self.tables, self.text, self.name, self.folder, self.names)[0]

    @functools.cached_property
    def tables(self) -> dict[str, Any]:
        """Tables of the study's file, as they were written."""
        return load_tables(self.text, self.name)

    @functools.cached_property
    def signals(self) -> dict[str, Signal]:
        """Everything that a run reports, by name, with units and no sample."""
        return self.study.loop.signals

    @functools.cached_property
    def study_files(self) -> tuple[Path, ...]:
        """Every file that reading the study opens; tables that distributions were read from are not among them."""
        with noting_files() as paths:
            _parse(self.tables, self.text, self.name, self.folder, self.names)
        return tuple(dict.fromkeys(paths))

    @functools.cached_property
    def files(self) -> dict[str, str]:
        """Digest of every file that the campaign reads, by its path."""
        return {str(path): _digest(load_bytes(path)) for path in self.study_files}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all numbers that vary: columns of the table."""
        return tuple(n for axis in self.axes for n in axis.names)

    @property
    def units(self) -> dict[str, str]:
        """Units of the figures."""
        return {f.name: f.unit for f in self.figures}

    @property
    def noisy(self) -> bool:
        """Whether every run has noise of its own, of its number: the study has noise, and its seed is not among what varies."""
        return bool(self.study.loop.system.network.noise) and SEED not in self.names

    @functools.cached_property
    def points(self) -> Sampler:
        """The sampler."""
        return sampler_of(self.sampler, self.axes, self.runs, self.seed, self.second_order)

    def inputs(self, first: int, count: int) -> dict[str, np.ndarray]:
        """Return what varies in the runs from `first` on, by name, (count,) each; bit-identical results however it is cut."""
        begin = first // BLOCK * BLOCK
        parts = []
        for at in range(begin, first + count, BLOCK):
            parts.append(draw(self.axes, self.points.rows(at, min(BLOCK, self._end(at) - at))))
        return {
            name: np.concatenate([part[name] for part in parts])[first - begin :][:count]
            for name in self.names
        }

    def _end(self, at: int) -> int:
        """End of the block of rows that begins at a run: that of the design, where it has one."""
        return min(at + BLOCK, self.runs) if self.sampler == "latin hypercube" else at + BLOCK

    def identity(self) -> dict[str, str]:
        """Return all that decides the numbers of its runs, by name, so that another campaign is recognized; but not how many."""
        held = json.loads(self.to_json())
        for key in ("runs", "requirements", "keep", "name"):
            del held[key]
        if self.sampler == "latin hypercube":
            held["sampler"] += f" of {self.runs} runs"
        del held["text"]
        study = {k: v for k, v in self.tables.items() if k not in ("campaign", "check", "outputs")}
        shown = {f"study: [{k}]": json.dumps(v, default=str) for k, v in study.items()}
        plain = {"sampler": held.pop("sampler")}
        shown |= {"axes (what varies)" if k == "axes" else k: json.dumps(v) for k, v in held.items()}
        return {k: _digest(v.encode()) for k, v in shown.items()} | plain | machine()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


# distributions as plain data


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value) if f.init}
        return {"kind": type(value).__name__} | fields
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value.item() if isinstance(value, np.generic) else value


def _from_plain(held: Any) -> Any:
    if isinstance(held, list):
        return tuple(_from_plain(x) for x in held)
    if not isinstance(held, dict):
        return held
    if "kind" not in held:
        return {k: _from_plain(v) for k, v in held.items()}
    kind = getattr(distributions, held["kind"])
    return kind(**{k: _from_plain(v) for k, v in held.items() if k != "kind"})


# reading


def _read(text: str, name: str, folder: Path, given: Mapping[str, Any]) -> Campaign:
    data = load_tables(text, name)
    table = data.get("campaign", {})
    if not isinstance(table, dict):
        raise ModelError(
            Finding(f"{name}: campaign", repr(table), "a table", "Write [campaign], then its keys.")
        )
    settings = table | {k: v for k, v in given.items() if v is not None}
    for key in settings:
        if key not in KEYS:
            raise InputError(f"{name}: campaign: no key '{key}'; {did_you_mean(key, KEYS)}")
    runs = _whole("runs", settings.get("runs"), 1)
    if runs > MOST_RUNS:
        raise InputError(f"campaign: runs: found {runs}; expected at most {MOST_RUNS}")
    seed = _whole("seed", settings.get("seed", 0), 0)
    number = _number_reader(data, text, name)
    with noting_files() as paths:
        study, known = _parse(data, text, name, folder, _names_of(settings))
    with noting_files() as tables:
        axes = _axes(settings, data, text, name, folder, known)
    known.require([n for a in axes for n in a.names])
    require_ranges(axes, known.ranges)
    require_seeds(axes, SEED)
    signals = study.loop.signals
    figures, requirements = of_checks(study.checks)
    figures += read_figures(
        settings.get("figures", {}), signals, number, (study.settings.t0, study.settings.t_end)
    )
    twice = [f.name for f in figures if [g.name for g in figures].count(f.name) > 1]
    if twice:
        raise InputError(f"{name}: campaign: found two figures '{twice[0]}'; expected a name for each")
    requirements += read_requirements(settings.get("requirements", ()), figures, number)
    campaign = Campaign(
        text, name, folder, axes, runs, settings.get("sampler", "monte carlo"), seed, figures, requirements,
        _entries("bands", settings.get("bands", ()), [c for s in signals.values() for c in s.columns]),
        _read_keep(settings.get("keep", {}), figures), _switch("second_order", settings.get("second_order", True)),
    )  # fmt: skip
    if campaign.sampler not in SAMPLERS:
        raise InputError(
            f"sampler: found '{campaign.sampler}'; {did_you_mean(str(campaign.sampler), SAMPLERS)}"
        )
    campaign.points.require(runs)
    object.__setattr__(campaign, "tables", data)  # parsed just now
    object.__setattr__(campaign, "study", study)
    object.__setattr__(campaign, "study_files", tuple(dict.fromkeys(paths)))
    every = dict.fromkeys((*paths, *tables))
    object.__setattr__(campaign, "files", {str(p): _digest(load_bytes(p)) for p in every})
    return campaign


def _axes(
    held: Mapping[str, Any], data: dict[str, Any], text: str, name: str, folder: Path, known: _Known
) -> tuple[Axis, ...]:
    """Return what varies: distributions as they are, and tables of them read as those of a study."""
    vary = held.get("vary", {})
    made = {k: v for k, v in vary.items() if hasattr(v, "dims")}
    for key, value in vary.items():
        if not isinstance(key, str) and key not in made:
            raise InputError(
                f"vary: found {value!r} for {', '.join(map(str, key))}; expected a distribution of several numbers, such as Direction or Rows"
            )
    tables = {
        "vary": {k: _as_toml(v) for k, v in vary.items() if k not in made},
        "group": _as_toml(held.get("group", [])),
    }
    report = Report(name, key_lines(text))
    numbers = StudyNumbers(report, data.get("parameters", {}))
    description = known.study.mechanism.description
    found = read_axes(Courses(report, numbers, folder), tables, description, known.units)
    report.raise_if_any()
    axes = {a.names: a for a in (*axes_of(made), *found)}
    first = {n: i for i, n in enumerate(_names_of(held))}
    return tuple(sorted(axes.values(), key=lambda a: min(first.get(n, len(first)) for n in a.names)))


def _as_toml(value: Any) -> Any:
    """Return lists for tuples and arrays, and numbers for those of NumPy."""
    if isinstance(value, Mapping):
        return {k: _as_toml(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_as_toml(v) for v in value]
    return value.item() if isinstance(value, np.generic) else value


def _names_of(held: Mapping[str, Any]) -> tuple[str, ...]:
    """Return every name that a campaign speaks of, in order."""
    vary, groups = held.get("vary", {}), held.get("group", [])
    if not isinstance(vary, Mapping):
        raise InputError(f"vary: found {vary!r}; expected a table from names to distributions")
    out: list[str] = []
    for key in vary:
        out += [key] if isinstance(key, str) else list(key)
    for group in groups if isinstance(groups, list) else []:
        named = [group.get(k, ()) for k in ("names", "vary")] if isinstance(group, Mapping) else []
        out += [
            n
            for each in named
            if isinstance(each, (list, tuple, Mapping))
            for n in each
            if isinstance(n, str)
        ]
    return tuple(out)


def _whole(name: str, given: Any, least: int) -> int:
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < least:
        shown = "none" if given is None else repr(given)
        raise InputError(f"campaign: {name}: found {shown}; expected a whole number, at least {least}")
    return int(given)


def _switch(name: str, given: Any) -> bool:
    if not isinstance(given, (bool, np.bool_)):
        raise InputError(f"campaign: {name}: found {given!r}; expected true or false")
    return bool(given)


def _entries(key: str, given: Any, known: Iterable[str]) -> tuple[str, ...]:
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, (list, tuple)):
        raise InputError(f"campaign: {key}: found {given!r}; expected a list of entries of signals")
    for n in names:
        if n not in (known := list(known)):
            raise InputError(f"campaign: {key}: no entry '{n}' of a signal; {did_you_mean(str(n), known)}")
    return tuple(names)


def _read_keep(given: Any, figures: tuple[Figure, ...]) -> tuple[tuple[str, int], ...]:
    if not isinstance(given, Mapping):
        raise InputError(f"campaign: keep: found {given!r}; expected a table such as {{settling = 3}}")
    names = [f.name for f in figures]
    for n in given:
        if n not in names:
            raise InputError(f"campaign: keep: no figure '{n}'; {did_you_mean(str(n), names)}")
    return tuple((n, _whole(f"keep.{n}", count, 1)) for n, count in given.items())


def _number_reader(data: dict[str, Any], text: str, name: str) -> Any:
    """Return what reads a number with its unit, of the table [campaign] or of an argument."""

    def number(given: Any, unit: str, at: str) -> float:
        report = Report(name, key_lines(text))
        found = StudyNumbers(report, data.get("parameters", {})).number(given, unit, at)
        if report.findings:
            finding = report.findings[0]
            raise InputError(f"{at}: found {finding.found}; expected {finding.expected}")
        if not isinstance(found, (int, float)) or not np.isfinite(found):
            raise InputError(f"{at}: found {given!r}; expected a plain finite number")
        return float(found)

    return number


class _Known:
    """What can vary in a study.

    Parameters
    ----------
    study : Study
    renamed : mapping of str to str
        Parameters that numbers of components and events have become, by their names.
    tables : mapping
        Tables of the study, as they were written.
    """

    def __init__(self, study: Study, renamed: Mapping[str, str], tables: Mapping[str, Any]):
        self.study, self.rename, self._tables = study, renamed, tables
        signals = study.loop.signals
        self.columns = {c: u for s in ("q", "v") for c, u in zip(signals[s].columns, signals[s].units)}
        self.parameters = (*study.loop.system.network.parameters, *parameters_in(study.settings.events))

    @property
    def names(self) -> list[str]:
        """Every name that can vary."""
        inner = set(self.rename.values())
        own = dict.fromkeys((*self.rename, *number_names(self._tables)))
        return [SEED, *(p.name for p in self.parameters if p.name not in inner), *own, *self.columns]

    @property
    def units(self) -> dict[str, str]:
        """Units of the numbers of components and events that vary, and of seeds."""
        d, signals = self.study.mechanism.description, self.study.loop.signals
        return {SEED: "-"} | {n: number_unit(self._tables, n, d, signals) for n in self.rename}

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        """Declared ranges of parameters, and that of seeds, which are whole numbers."""
        return {SEED: (0.0, 2.0**53)} | {p.name: p.range for p in self.parameters if p.range is not None}

    def require(self, names: list[str]) -> None:
        """Raise for a name that nothing has, with the nearest."""
        for name in names:
            if name not in self.names:
                hint = did_you_mean(name, self.names)
                raise InputError(
                    f"vary: no parameter, initial state or number of a component '{name}'; {hint}"
                )


def _parse(
    tables: dict[str, Any], text: str, name: str, folder: Path, vary: tuple[str, ...]
) -> tuple[Study, _Known]:
    """Return the study of some tables, in which the numbers of components and events that vary are parameters."""
    data = copy.deepcopy(tables)
    renamed: dict[str, str] = {}
    for each in vary:
        inner = make_parameter(data, each)
        if inner is not None:
            renamed[each] = inner
    study = parse_tables(data, text, name, folder)
    return study, _Known(study, renamed, tables)
