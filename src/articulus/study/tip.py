"""The [inversion] table of a study: a tip that follows a path, forces for it, and what simpler feedforward would give."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, NumericalError, did_you_mean
from articulus.model.files.toml.numbers import short_text
from articulus.model.mechanism import values_of
from articulus.simulation.loop.component import Component
from articulus.simulation.running.settings import RunSettings
from articulus.study.courses import Courses
from articulus.study.study import Study

if TYPE_CHECKING:
    from articulus.motion.inversion import Inversion
    from articulus.motion.inversion.paths import Path, Profile
    from articulus.simulation.results.run import Run

KEYS = ("tip", "actuators", "outputs", "path", "method", "shaper")
PATHS = {
    "line": ("start", "end"),
    "circle": ("center", "start", "sweep", "normal"),
    "spline": ("points",),
    "csv": ("file", "columns"),
}
PROFILE = ("duration", "order", "law")
LENGTHS = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class TipMotion:
    """What a tip shall do, and the forces for it.

    Parameters
    ----------
    tip : str
        Body or frame.
    path : Path
    inversion : Inversion
    shaper : str
        Shaper of the comparison.
    """

    tip: str
    path: Path
    inversion: Inversion
    shaper: str

    @property
    def components(self) -> tuple[Component, ...]:
        """The forces as components, from the time 0 of the run on."""
        return self.inversion.components()

    @property
    def first(self) -> np.ndarray:
        """Position at the start of the run, (nq,)."""
        assert self.inversion.states is not None
        return self.inversion.states[0, : self.inversion.states.shape[1] // 2]

    @property
    def length(self) -> float:
        """Of the run [s]."""
        return float(self.inversion.t[-1] - self.inversion.t[0])


@dataclass(frozen=True, eq=False)
class TipRun:
    """One way of moving the tip: its forces, and how far the simulated outputs are off the path.

    Parameters
    ----------
    name : str
    inversion : Inversion
        Holds the forces.
    t : array, (times,) [s]
        Times of the run: the forces begin at 0.
    error : array, (times, outputs) [m, rad]
    run : Run or None
        The simulation, where it can be replayed.
    """

    name: str
    inversion: Inversion
    t: np.ndarray
    error: np.ndarray
    run: Run | None = None

    @property
    def largest(self) -> float:
        """Largest distance from the path [m]."""
        return float(np.nanmax(np.linalg.norm(self.error, axis=1)))

    def after(self, t: float) -> float:
        """Return the largest distance from the end of the path after a time of the run [m]: what still vibrates."""
        return float(np.nanmax(np.linalg.norm(self.error[self.t >= t], axis=1), initial=0.0))


def read_tip(
    values: Courses,
    table: Any,
    mechanism: Mechanism | None,
    settings: RunSettings | None,
    folder: FilePath,
    q0: Any,
) -> TipMotion | None:
    """Return the tip motion of a study, None without one or when anything is wrong."""
    if table is None:
        return None
    report, before = values.report, len(values.report.findings)
    if not isinstance(table, dict):
        report.add("inversion", short_text(table), "a table", "Write [inversion], then its keys.")
        return None
    values.unknown_keys(table, KEYS, "inversion")
    tip = values.text(table, "tip", "inversion")
    actuators = _names(values, table, "actuators")
    outputs = _names(values, table, "outputs") if "outputs" in table else ("x", "y")
    shaper = values.text(table, "shaper", "inversion") if "shaper" in table else "zv"
    method = values.text(table, "method", "inversion") if "method" in table else "newton"
    units = ["m" if name.rpartition(".")[2] in LENGTHS else "rad" for name in outputs]
    path = read_path(values, table.get("path"), units, folder)
    if len(report.findings) > before or mechanism is None or settings is None or path is None or tip is None:
        return None
    from articulus.motion.inversion import tip_torques

    try:
        found = tip_torques(
            mechanism,
            tip,
            path,
            actuators,
            outputs=outputs,
            guess=q0,
            step=settings.step,
            method=method,  # type: ignore[arg-type]
        )
    except (InputError, NumericalError) as error:
        report.add("inversion", str(error), "a path that the tip can follow")
        return None
    return TipMotion(tip, path, found, shaper or "zv")


def _names(values: Courses, table: dict[str, Any], key: str) -> tuple[str, ...]:
    given = table.get(key)
    if not isinstance(given, list) or not given or not all(isinstance(x, str) for x in given):
        found = f"no {key}" if given is None else short_text(given)
        values.report.add(
            f"inversion.{key}" if key in table else "inversion",
            found,
            f'{key}, a list of names such as ["shoulder"]',
        )
        return ()
    return tuple(given)


def read_path(values: Courses, given: Any, units: list[str], folder: FilePath) -> Path | None:
    """Return the path of a table such as {type = "line", start = [...], end = [...], duration = "1 s"}; units are those of its coordinates."""
    report, at = values.report, "inversion.path"
    if not isinstance(given, dict) or "type" not in given:
        report.add(
            at if given is not None else "inversion",
            short_text(given) if given is not None else "no path",
            'path, a table such as {type = "line", start = [...], end = [...], duration = "1 s"}',
        )
        return None
    kind = given["type"]
    if kind not in PATHS:
        report.add(
            f"{at}.type", short_text(kind), f"one of {', '.join(PATHS)}", did_you_mean(str(kind), PATHS)
        )
        return None
    values.unknown_keys(given, ("type", *PATHS[kind], *(() if kind == "csv" else PROFILE)), at)
    before = len(report.findings)
    profile = None if kind == "csv" else _profile(values, given, at)
    try:
        return (
            _make_path(values, kind, given, units, profile, at, folder)
            if len(report.findings) == before
            else None
        )
    except InputError as error:
        report.add(at, str(error), "a path")
        return None


def _make_path(
    values: Courses,
    kind: str,
    given: dict[str, Any],
    units: list[str],
    profile: Profile | None,
    at: str,
    folder: FilePath,
) -> Path | None:
    from articulus.motion.inversion import paths

    report, before = values.report, len(values.report.findings)
    numbers: dict[str, Any] = {}
    for key in ("start", "end", "center"):
        if key in PATHS[kind]:
            numbers[key] = _numbers(values, given.get(key), units, f"{at}.{key}")
    if kind == "circle":
        sweep = values.numbers.number(given.get("sweep", "360 deg"), "rad", f"{at}.sweep")
        numbers["sweep"] = None if sweep is None else values_of((sweep,))[0]
        if "normal" in given:
            numbers["normal"] = _numbers(values, given["normal"], ["-"] * 3, f"{at}.normal")
    if kind == "spline":
        rows = given.get("points")
        if not isinstance(rows, list) or len(rows) < 2:
            report.add(f"{at}.points", short_text(rows), "two points or more, each a list of numbers")
            return None
        numbers["points"] = [_numbers(values, row, units, f"{at}.points[{k}]") for k, row in enumerate(rows)]
    if kind == "csv":
        name = values.text(given, "file", at)
        return None if name is None else paths.from_csv(folder / name, tuple(given.get("columns", ())))
    if len(report.findings) > before:
        return None
    kinds = {"line": paths.Line, "circle": paths.Circle, "spline": paths.SplinePath}
    return kinds[kind](**numbers, profile=profile)


def _profile(values: Courses, given: dict[str, Any], at: str) -> Profile | None:
    from articulus.motion.inversion.paths import Profile

    if "duration" not in given:
        values.report.add(at, "no duration", "duration [s]")
        return None
    duration = values.numbers.number(given["duration"], "s", f"{at}.duration")
    if duration is None:
        return None
    try:
        return Profile(values_of((duration,))[0], **{k: given[k] for k in ("order", "law") if k in given})
    except InputError as error:
        values.report.add(at, str(error), "a duration above zero, order from 0 to 10, law polynomial or sine")
        return None


def _numbers(values: Courses, given: Any, units: list[str], path: str) -> tuple[float, ...] | None:
    found = values.numbers.vector(given, units, path)
    return None if found is None else values_of(found)


def compare_tips(study: Study, run: Run) -> tuple[TipRun, ...]:
    """Return the run of a study with a tip motion, and motions with the forces of rigid links, plain and after an input shaper.

    The study's other components act in the first two.
    """
    from articulus.motion.inversion.arms import forward, rigid_feedforward

    motion, m, params = study.tip, study.mechanism, study.params or None
    assert motion is not None
    exact = motion.inversion
    plain = rigid_feedforward(m, exact, motion.path, params=params)
    shaped = rigid_feedforward(m, exact, motion.path, shaper=motion.shaper, params=params)
    after = forward(m, dataclasses.replace(exact, inputs=shaped.inputs), params=params)
    return (
        _of_run("non-causal", exact, run, m, params),
        _of_run("rigid", plain, _with_forces(study, plain), m, params),
        TipRun("rigid, shaped", shaped, after.t - after.t[0], after.outputs - exact.outputs),
    )


def _with_forces(study: Study, forces: Inversion) -> Run:
    """Return the run of a study with other forces in place of its own."""
    assert study.tip is not None
    own = {c.name for c in study.tip.components}
    others = tuple(c for c in study.components if c.name not in own)
    loop = dataclasses.replace(study, components=(*others, *forces.components()), tip=None).loop
    try:
        return loop.run(study.settings, study.q0, study.v0, params=study.params)
    except NumericalError as error:
        from articulus.simulation.results.run import Run as Held

        if not isinstance(error.result, Held):
            raise
        return error.result


def _of_run(name: str, forces: Inversion, run: Run, m: Mechanism, params: Any) -> TipRun:
    from articulus.motion.inversion.arms.proof import outputs_of

    wanted = np.column_stack([np.interp(run.t, forces.t - forces.t[0], y) for y in forces.outputs.T])
    return TipRun(name, forces, run.t, outputs_of(m, forces, run.t, run.q, params) - wanted, run)
