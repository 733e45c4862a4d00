"""Reading the TOML format of tasks (schema 1, `docs/trajectory/tasks.md`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from articulus.declared import Field, fields_of
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import Finding, InputError, ModelError, did_you_mean
from articulus.model.files.report import Report
from articulus.model.files.storage import StrPath, as_path, load_text
from articulus.model.files.toml.numbers import short_text
from articulus.model.files.toml.reader import load_tables
from articulus.model.mechanism import values_of
from articulus.model.mechanism.pose import Pose
from articulus.motion.trajectory import Apart, Ball, Clear, Crate, Facing, Hull, InBox, OnLine, Rod
from articulus.motion.trajectory.costs import ALL_COSTS
from articulus.motion.trajectory.schemes import scheme
from articulus.simulation.solve.goals import FramePoint, FramePose
from articulus.study.courses import Courses
from articulus.study.initial import coordinate_units, read_coordinates
from articulus.study.numbers import StudyNumbers
from articulus.study.tables import Tables, report_of

SCHEMA = 1
TOP = ("schema", "plan", "task", "obstacle", "apart", "keep", "solve")
HEAD = ("name", "purpose", "model", "options", "gravity")
LIMITS = {
    "torque_limit": ("N m", "N"),
    "velocity_limit": ("rad/s", "m/s"),
    "acceleration_limit": ("rad/s^2", "m/s^2"),
    "jerk_limit": ("rad/s^3", "m/s^3"),
    "torque_rate_limit": ("N m/s", "N/s"),
}
"""Limits, and their units in joints that turn and that slide."""
TASK = (
    "q0",
    "goal",
    "duration",
    "cost",
    "actuators",
    *LIMITS,
    "v0",
    "goal_velocity",
    "parameters",
)
APART = ("first", "second", "margin")
GOAL = ("frame", "point", "pose")
SOLVE = (
    Field("scheme", "text", meaning="transcription, such as hermite_simpson, radau 3, shooting or riccati"),
    Field("intervals", "integer", meaning="intervals of the mesh", least=1),
    Field(
        "error", "number", unit="-", size="1", meaning="largest error between the points of the mesh", above=0
    ),
    Field(
        "overload",
        "number",
        unit="-",
        size="1",
        meaning="largest excess of limits between the points",
        above=0,
    ),
    Field("tolerance", "number", unit="-", size="1", meaning="of the solver", above=0),
    Field("iterations", "integer", meaning="most iterations of the solver", least=1),
    Field("time_limit", "number", unit="s", size="1", meaning="longest time of the solver", above=0),
    Field("restarts", "integer", meaning="more searches, from guesses at random", least=0),
    Field("seed", "integer", meaning="of those guesses", least=0),
    Field(
        "hold",
        "flag",
        meaning="whether a goal at rest that the motors cannot hold is refused; false searches for one all the same",
    ),
)
"""Keys of the table [solve]."""
COST = tuple(
    Field(name, "number", unit="-", size="1", meaning=f"weight of {name}", least=0) for name in ALL_COSTS
)
"""Keys of a table of weights."""
OBSTACLES: dict[str, type] = {"ball": Ball, "rod": Rod, "crate": Crate}
"""Obstacles by type."""
KEEPS: dict[str, type] = {"on_line": OnLine, "in_box": InBox, "facing": Facing}
"""What frames keep to, by type."""


@dataclass(frozen=True, eq=False)
class PlanTask:
    """A task of a file.

    Parameters
    ----------
    name, purpose : str
    filename, text : str
        Filename and text of the file.
    mechanism : Mechanism
    arguments : dict
        Of `articulus.motion.trajectory.plan`, beside the mechanism.
    """

    name: str
    purpose: str
    filename: str
    text: str
    mechanism: Mechanism
    arguments: dict[str, Any]


def read_task(path: StrPath) -> PlanTask:
    """Return the task of a TOML file; raise ModelError with everything that is wrong in it."""
    place = as_path(path)
    return parse_task(load_text(place), place.name, place.parent)


def parse_task(text: str, name: str = "task.toml", folder: Path = Path()) -> PlanTask:
    """Return the task of a TOML text; files that it names are looked for in a folder."""
    try:
        data = load_tables(text, name)
        report = report_of(data, text, name, SCHEMA)
        return _Reader(data, text, report, folder).task()
    except RecursionError:
        raise ModelError(Finding(name, "values nested too deeply", "a few levels at most")) from None


class _Reader(Tables):
    """Turns the tables of one file into a task; all that is wrong goes to the report."""

    def __init__(self, data: dict[str, Any], text: str, report: Report, folder: Path):
        super().__init__(data, text, report, folder, Courses(report, StudyNumbers(report, {}), folder))

    def task(self) -> PlanTask:
        self.values.unknown_keys(self.data, TOP, "")
        head = self.head("plan", HEAD)
        mechanism = self._heavy(self.mechanism("plan", head["model"]))
        arguments = self._task(mechanism) | self._solve()
        arguments["obstacles"] = [
            c for p, t in self.tables("obstacle") if (c := self._obstacle(t, p, mechanism))
        ]
        arguments["obstacles"] += [a for p, t in self.tables("apart") if (a := self._apart(t, p, mechanism))]
        arguments["keep"] = [k for p, t in self.tables("keep") if (k := self._keep(t, p, mechanism))]
        self.report.raise_if_any()
        assert mechanism is not None
        name, purpose = head["name"], head["purpose"]
        return PlanTask(name, purpose, self.report.name, self.text, mechanism, arguments)

    def _heavy(self, mechanism: Mechanism | None) -> Mechanism | None:
        """Return the mechanism with the gravity of the file, if that gives one."""
        if mechanism is None or "gravity" not in (head := self.table("plan")):
            return mechanism
        gravity = self._numbers(head["gravity"], "m/s^2 m/s^2 m/s^2", "plan.gravity")
        return mechanism if gravity is None else mechanism.with_gravity(gravity)

    def _task(self, mechanism: Mechanism | None) -> dict[str, Any]:
        table = self.table("task")
        self.values.unknown_keys(table, TASK, "task")
        for key in ("q0", "goal", "duration"):
            if key not in table:
                self.report.add("task", f"no {key}", f"{key}")
        made: dict[str, Any] = {
            "q0": self._goal(table.get("q0", {}), "task.q0", mechanism),
            "goal": self._goal(table.get("goal", {}), "task.goal", mechanism),
            "duration": self._duration(table.get("duration", 1.0)),
            "cost": self._cost(table.get("cost", "effort")),
        }
        if "actuators" in table:
            made["actuators"] = self._actuators(table["actuators"], mechanism)
        for key, units in LIMITS.items():
            if key in table:
                made[key] = self._by_joint(table[key], units, f"task.{key}", mechanism)
        for key in ("v0", "goal_velocity"):
            if key in table and mechanism is not None:
                made[key] = self._velocities(table[key], key, mechanism)
        if "parameters" in table:
            made["parameters"] = self._parameters(table["parameters"], mechanism)
        return made

    def _velocities(self, given: Any, key: str, mechanism: Mechanism) -> Any:
        if given == "free" and key == "goal_velocity":
            return given
        return read_coordinates(self.values, given, "v", mechanism.description, f"task.{key}")

    def _parameters(self, given: Any, mechanism: Mechanism | None) -> dict[str, tuple[float, float]]:
        """Return named parameters of the model that the plan may choose, with their bounds."""
        made: dict[str, tuple[float, float]] = {}
        if not isinstance(given, dict):
            self.report.add("task.parameters", short_text(given), "a table such as {mass = [1.0, 3.0]}")
            return made
        known = [] if mechanism is None else [p.name for p in mechanism.description.parameters]
        for name, bounds in given.items():
            path = f"task.parameters.{name}"
            if mechanism is None:
                continue
            if name not in known:
                hint = did_you_mean(name, known)
                self.report.add(path, f"no parameter '{name}'", "a parameter of the model", hint)
                continue
            pair = bounds if isinstance(bounds, list) and len(bounds) == 2 else None
            found = None if pair is None else self._numbers(pair, ["any"] * 2, path)
            if pair is None or (found is not None and not found[0] <= found[1]):
                self.report.add(path, short_text(bounds), "the least and the largest value, in a list")
            elif found is not None:
                made[name] = (found[0], found[1])
        return made

    def _positions(self, given: Any, path: str, mechanism: Mechanism | None) -> Any:
        if mechanism is None:
            return None
        if isinstance(given, str):
            try:
                return mechanism.positions(given)
            except InputError as error:
                self.report.add(
                    path, f"'{given}'", "the name of a position of the model, or a table by joint", str(error)
                )
                return None
        return read_coordinates(self.values, given, "q", mechanism.description, path)

    def _goal(self, given: Any, path: str, mechanism: Mechanism | None) -> Any:
        """Return positions, or where a frame is to be."""
        if not isinstance(given, dict) or "frame" not in given:
            return self._positions(given, path, mechanism)
        self.values.unknown_keys(given, GOAL, path)
        frame = self.values.text(given, "frame", path)
        if ("point" in given) == ("pose" in given):
            self.report.add(
                path, "point and pose" if "pose" in given else "neither", "point or pose of the frame"
            )
            return None
        if not self._frame(frame, f"{path}.frame", mechanism):
            return None
        if "point" in given:
            point = self._numbers(given["point"], "m m m", f"{path}.point")
            return None if point is None else FramePoint(str(frame), np.array(point))
        pose = given["pose"]
        if not isinstance(pose, dict):
            self.report.add(
                f"{path}.pose",
                short_text(pose),
                'a table such as {xyz = [1, 0, 0], rpy = ["90 deg", 0, 0]}',
            )
            return None
        self.values.unknown_keys(pose, ("xyz", "rpy"), f"{path}.pose")
        xyz = self._numbers(pose.get("xyz", [0, 0, 0]), "m m m", f"{path}.pose.xyz")
        rpy = self._numbers(pose.get("rpy", [0, 0, 0]), "rad rad rad", f"{path}.pose.rpy")
        return None if xyz is None or rpy is None else FramePose(str(frame), Pose(xyz, rpy).matrix())

    def _duration(self, given: Any) -> Any:
        if isinstance(given, list):
            found = self._numbers(given, "s s", "task.duration")
            good = found is not None and 0 < found[0] <= found[1]
        else:
            found = self._numbers([given], "s", "task.duration")
            good = found is not None and found[0] > 0
        if found is not None and not good:
            self.report.add(
                "task.duration", short_text(given), "a time above 0, or the least and the largest"
            )
        return None if found is None else found if len(found) > 1 else found[0]

    def _cost(self, given: Any) -> Any:
        if given in ("effort", "time"):
            return given
        if not isinstance(given, dict) or not given:
            self.report.add(
                "task.cost",
                short_text(given),
                '"effort", "time" or weights such as {time = 1.0, effort = 1e-4}',
            )
            return None
        self.values.unknown_keys(given, tuple(ALL_COSTS), "task.cost")
        for name, weight in given.items():
            if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < np.inf:
                self.report.add(f"task.cost.{name}", short_text(weight), "a number, not negative")
        return given

    def _actuators(self, given: Any, mechanism: Mechanism | None) -> tuple[str, ...]:
        if not isinstance(given, list) or not all(isinstance(j, str) for j in given):
            self.report.add("task.actuators", short_text(given), "a list of joints with motors")
            return ()
        return tuple(j for k, j in enumerate(given) if self._joint(j, f"task.actuators[{k}]", mechanism))

    def _joint(self, joint: str, path: str, mechanism: Mechanism | None) -> bool:
        if mechanism is not None and joint not in mechanism.joint_names:
            hint = did_you_mean(joint, mechanism.joint_names)
            self.report.add(path, f"no joint '{joint}'", "the name of a joint", hint)
            return False
        return True

    def _by_joint(self, given: Any, units: tuple[str, str], path: str, mechanism: Mechanism | None) -> Any:
        """Return limits by joint, or one for all joints that turn."""
        if not isinstance(given, dict):
            found = self._numbers([given], units[:1], path)
            self._positive(found, given, path)
            return None if found is None else found[0]
        made = {}
        for joint, number in given.items():
            if not self._joint(joint, f"{path}.{joint}", mechanism) or mechanism is None:
                continue
            rates = coordinate_units(mechanism.description, "v")[mechanism.v_slice(joint)]
            slides = bool(rates) and rates[0] == "m/s"
            found = self._numbers([number], units[slides:][:1], f"{path}.{joint}")
            self._positive(found, number, f"{path}.{joint}")
            if found is not None:
                made[joint] = found[0]
        return made

    def _positive(self, found: tuple[float, ...] | None, given: Any, path: str) -> None:
        if found is not None and not min(found) > 0:
            self.report.add(path, short_text(given), "a number above 0")

    def _solve(self) -> dict[str, Any]:
        table = self.table("solve")
        self.values.unknown_keys(table, [f.name for f in SOLVE], "solve")
        made: dict[str, Any] = {}
        for key, given in table.items():
            if key not in [f.name for f in SOLVE]:
                continue
            if key == "scheme":
                try:
                    made[key] = scheme(str(given)).name
                except InputError as error:
                    for finding in error.findings:
                        self.report.add("solve.scheme", short_text(given), finding.expected)
                continue
            field = next(f for f in SOLVE if f.name == key)
            if field.kind == "flag":
                if isinstance(given, bool):
                    made[key] = given
                else:
                    self.report.add(f"solve.{key}", short_text(given), "true or false")
                continue
            whole = field.kind == "integer"
            found = self._numbers([given], "s" if key == "time_limit" else "-", f"solve.{key}")
            least = field.least == 0
            if found is not None and (
                not (found[0] >= 0 if least else found[0] > 0) or (whole and not isinstance(given, int))
            ):
                expected = f"a {'whole ' if whole else ''}number{', not negative' if least else ' above 0'}"
                self.report.add(f"solve.{key}", short_text(given), expected)
            elif found is not None:
                made[key] = int(found[0]) if whole else found[0]
        return made

    # shapes

    def _obstacle(self, table: dict[str, Any], path: str, mechanism: Mechanism | None) -> Clear | None:
        made = self._shape(table, path, OBSTACLES, ("name", "hulls", "margin"))
        hulls = table.get("hulls")
        if not isinstance(hulls, list) or not hulls or not all(isinstance(h, dict) for h in hulls):
            found = "no hulls" if hulls is None else short_text(hulls)
            at = path if hulls is None else f"{path}.hulls"
            self.report.add(
                at, found, 'hulls, the bodies that keep clear, such as [{body = "boom", radius = 0.2}]'
            )
            return None
        held = [self._hull(h, f"{path}.hulls[{k}]", mechanism) for k, h in enumerate(hulls)]
        margin = self._numbers([table.get("margin", 0.0)], "m", f"{path}.margin")
        if made is None or margin is None or any(h is None for h in held):
            return None
        return Clear(made, tuple(h for h in held if h is not None), margin[0])

    def _apart(self, table: dict[str, Any], path: str, mechanism: Mechanism | None) -> Apart | None:
        """Return hulls of the mechanism itself that keep apart."""
        self.values.unknown_keys(table, APART, path)
        held = []
        for key in ("first", "second"):
            if not isinstance(given := table.get(key), dict):
                found = f"no {key}" if given is None else short_text(given)
                self.report.add(path, found, f'{key} = {{body = "wrist", radius = 0.1}}')
                return None
            held.append(self._hull(given, f"{path}.{key}", mechanism))
        margin = self._numbers([table.get("margin", 0.0)], "m", f"{path}.margin")
        if margin is None or any(h is None for h in held):
            return None
        return self._make(Apart, path, first=held[0], second=held[1], margin=margin[0])

    def _hull(self, table: dict[str, Any], path: str, mechanism: Mechanism | None) -> Hull | None:
        units = {f.name: f.units() for f in fields_of(Hull) if f.numeric}
        self.values.unknown_keys(table, ("body", "balls", *units), path)
        body = self.values.text(table, "body", path)
        good = self._frame(body, f"{path}.body", mechanism)
        numbers = {"start": [0, 0, 0], "end": table.get("start", [0, 0, 0])} | {
            k: v for k, v in table.items() if k in units
        }
        if "radius" not in numbers:
            self.report.add(path, "no radius", "radius [m]")
            return None
        found = {key: self._numbers(numbers[key], unit, f"{path}.{key}") for key, unit in units.items()}
        balls = table.get("balls", 5 if "end" in table else 1)
        if any(x is None for x in found.values()) or not good:
            return None
        return self._make(Hull, path, body=body, balls=balls, **{k: _one(x) for k, x in found.items()})

    def _keep(self, table: dict[str, Any], path: str, mechanism: Mechanism | None) -> Any:
        frame = self.values.text(table, "frame", path)
        good = self._frame(frame, f"{path}.frame", mechanism)
        made = self._shape(table, path, KEEPS, ("frame",))
        return made if good else None

    def _shape(
        self,
        table: dict[str, Any],
        path: str,
        kinds: dict[str, type],
        more: tuple[str, ...],
    ) -> Any:
        kind = table.get("type")
        if kind not in kinds:
            found = "no type" if kind is None else short_text(kind)
            at = path if kind is None else f"{path}.type"
            self.report.add(
                at, found, f"one of {', '.join(kinds)}", did_you_mean(str(kind), kinds) if kind else ""
            )
            return None
        fields = [f for f in fields_of(kinds[kind]) if f.numeric]
        self.values.unknown_keys(table, ("type", *more, *(f.name for f in fields)), path)
        before, held = len(self.report.findings), {}
        for f in fields:
            if f.name in table:
                held[f.name] = _one(self._numbers(table[f.name], f.units(), f"{path}.{f.name}"))
            elif f.required:
                self.report.add(path, f"no {f.name}", f"{f.name} [{f.unit}] of a {kind}")
        for key in ("name", "frame"):
            if key in more and key in table:
                held[key] = self.values.text(table, key, path)
        if len(self.report.findings) > before or ("frame" in more and not held.get("frame")):
            return None
        return self._make(kinds[kind], path, **held)

    def _make(self, cls: type, path: str, **held: Any) -> Any:
        try:
            return cls(**held)
        except (InputError, TypeError) as error:
            if isinstance(error, InputError):
                self.report.add_error(path, error)
            else:
                self.report.add(path, str(error), "numbers that make sense")
            return None

    def _frame(self, frame: str | None, path: str, mechanism: Mechanism | None) -> bool:
        if frame is None or mechanism is None:
            return False
        known = [*mechanism.body_names, *mechanism.frame_names, "ground"]
        if frame not in known:
            self.report.add(
                path, f"no frame '{frame}'", "the name of a body or frame", did_you_mean(frame, known)
            )
            return False
        return True

    def _numbers(self, given: Any, units: str | Sequence[str], path: str) -> tuple[float, ...] | None:
        each = _units(units) if isinstance(units, str) else list(units)
        listed = given if isinstance(given, list) or len(each) > 1 else [given]
        found = self.values.numbers.vector(listed, each, path)
        if found is None:
            return None
        plain = values_of(found)
        if not np.isfinite(plain).all():
            self.report.add(path, short_text(given), "finite numbers")
            return None
        return plain


def _units(units: str) -> list[str]:
    """Return units that are written one after another."""
    return units.split()


def _one(numbers: tuple[float, ...] | None) -> Any:
    return numbers[0] if numbers is not None and len(numbers) == 1 else numbers
