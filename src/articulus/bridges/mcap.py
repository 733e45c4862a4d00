"""Runs as MCAP logs with the schemas that Foxglove knows, and measured MCAP logs as columns.

Schemas: foxglove.FrameTransforms, foxglove.SceneUpdate (JSON Schema of the public Foxglove schemas, the fields that are written here);
joint states and signals have schemas of their own, with units in the descriptions. Times are nanoseconds from the start of the run.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import articulus
from articulus.bridges.drawn import DrawnSolid, solids_of
from articulus.bridges.extra import require
from articulus.browser.poses import body_poses
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError
from articulus.model.files.storage import StrPath, replacing
from articulus.model.mechanism import GROUND
from articulus.model.mechanism.pose import quaternion_of
from articulus.simulation.results import Run
from articulus.simulation.running.watching import RunPart

NANO = 1e9
MOST_BYTES = 1 << 28
"""Size of a record of a log that is read."""
NUMBER = {"type": "number"}
TIME = {
    "type": "object",
    "title": "time",
    "properties": {"sec": {"type": "integer"}, "nsec": {"type": "integer"}},
}
VECTOR = {"type": "object", "properties": dict.fromkeys("xyz", NUMBER)}
QUATERNION = {"type": "object", "properties": dict.fromkeys("xyzw", NUMBER)}
COLOR = {"type": "object", "properties": dict.fromkeys("rgba", NUMBER)}
POSE = {"type": "object", "properties": {"position": VECTOR, "orientation": QUATERNION}}


def _list(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "object", "properties": dict(properties)}}


_TEXT = {"type": "string"}
TRANSFORM = {
    "timestamp": TIME,
    "parent_frame_id": _TEXT,
    "child_frame_id": _TEXT,
    "translation": VECTOR,
    "rotation": QUATERNION,
}
_SHAPE = {"pose": POSE, "size": VECTOR, "color": COLOR}
_TRIANGLES = {
    "pose": POSE,
    "points": _list(dict.fromkeys("xyz", NUMBER)),
    "color": COLOR,
    "indices": {"type": "array", "items": {"type": "integer"}},
}
ENTITY = {
    "timestamp": TIME, "frame_id": _TEXT, "id": _TEXT, "lifetime": {"type": "object", "title": "duration", "properties": TIME["properties"]},
    "frame_locked": {"type": "boolean"}, "metadata": _list({"key": _TEXT, "value": _TEXT}),
    "arrows": _list({}), "cubes": _list(_SHAPE), "spheres": _list(_SHAPE),
    "cylinders": _list({**_SHAPE, "bottom_scale": NUMBER, "top_scale": NUMBER}), "lines": _list({}), "triangles": _list(_TRIANGLES), "texts": _list({}), "models": _list({}),
}  # fmt: skip
LISTS = ("arrows", "cubes", "spheres", "cylinders", "lines", "triangles", "texts", "models")


def save_mcap(run: Run, path: StrPath) -> None:
    """Write a single run as an MCAP log: frames over time, shapes, joint states, and every signal as a topic of its own.

    It opens in Foxglove as it is: `/tf` and `/scene` in a 3D panel with the fixed frame "ground", `/signals/...` in plots. Parts of
    flexible bodies that bend are drawn unbent. Needs the extra `mcap`.

    Parameters
    ----------
    run : Run
        One run, not a batch.
    path : path of the file
        Written whole or not at all.
    """
    if run.batch is not None:
        raise InputError("save_mcap: found a batch of runs; expected one run, such as run.single(0)")
    writer_module = require("mcap.writer", "save_mcap", "mcap")
    with replacing(path) as place, place.open("wb") as file:
        writer = writer_module.Writer(file)
        writer.start(profile="", library=f"articulus {articulus.__version__}")
        _Log(writer).write(run)
        writer.finish()


class _Log:
    """Channels and messages of one run."""

    def __init__(self, writer: Any):
        self.writer = writer

    def channel(self, topic: str, name: str, properties: Mapping[str, Any], description: str = "") -> int:
        schema = {"type": "object", "title": name, "description": description, "properties": dict(properties)}
        number = self.writer.register_schema(
            name=name, encoding="jsonschema", data=json.dumps(schema).encode()
        )
        return int(self.writer.register_channel(topic=topic, message_encoding="json", schema_id=number))

    def message(self, channel: int, time: int, content: Mapping[str, Any]) -> None:
        data = json.dumps(content, allow_nan=False).encode()
        self.writer.add_message(channel_id=channel, log_time=time, publish_time=time, data=data)

    def samples(self, run: Run | RunPart, begin: float, scene: bool = True) -> None:
        """Write everything of a run, or of a part of it, but what it is; times count from `begin`."""
        times = [round(NANO * t) for t in run.t - begin]
        if scene:
            self._scene(run.mechanism, times[0])
        self._frames(run, times)
        self._joints(run, times)
        for name in run.signals:
            self._signal(run, name, times)

    def write(self, run: Run) -> None:
        self.samples(run, min(0.0, float(run.t[0])))
        self.writer.add_metadata(
            name="articulus",
            data={
                "mechanism": run.mechanism.name,
                "status": run.status.name.lower(),
                "version": articulus.__version__,
            },
        )

    def _frames(self, run: Run | RunPart, times: list[int]) -> None:
        channel = self.channel("/tf", "foxglove.FrameTransforms", {"transforms": _list(TRANSFORM)})
        poses = body_poses(run.mechanism, run.q)
        for k, time in enumerate(times):
            if not np.isfinite(poses[k]).all():
                continue
            moved = [
                {
                    "timestamp": _stamp(time),
                    "parent_frame_id": GROUND,
                    "child_frame_id": body,
                    "translation": dict(zip("xyz", pose[:3].tolist())),
                    "rotation": dict(zip("wxyz", pose[3:].tolist())),
                }
                for body, pose in zip(run.mechanism.body_names, poses[k], strict=True)
            ]
            self.message(channel, time, {"transforms": moved})

    def _scene(self, mechanism: Mechanism, time: int) -> None:
        channel = self.channel(
            "/scene", "foxglove.SceneUpdate", {"deletions": _list({}), "entities": _list(ENTITY)}
        )
        entities = [_entity(body, drawn, time) for body, drawn in solids_of(mechanism).items() if drawn]
        self.message(channel, time, {"deletions": [], "entities": entities})

    def _joints(self, run: Run | RunPart, times: list[int]) -> None:
        names = {"position": "q", "velocity": "v", "effort": "tau"}
        there = {word: run.signals[s] for word, s in names.items() if s in run.signals}
        arrays = {word: {"type": "array", "items": NUMBER} for word in there}
        properties = {
            "timestamp": TIME,
            **{f"{word}_names": {"type": "array", "items": _TEXT} for word in there},
            **arrays,
        }
        channel = self.channel(
            "/joint_states", "articulus.JointStates", properties, "rad or m, rad/s or m/s, N m or N"
        )
        for k, time in enumerate(times):
            state: dict[str, Any] = {"timestamp": _stamp(time)}
            for word, signal in there.items():
                state |= {f"{word}_names": list(signal.labels), word: _finite(signal.values[k])}
            self.message(channel, time, state)

    def _signal(self, run: Run | RunPart, name: str, times: list[int]) -> None:
        signal = run.signals[name]
        labels = [label or "value" for label in signal.labels]
        properties = {label: {**NUMBER, "description": unit} for label, unit in zip(labels, signal.units)}
        channel = self.channel(f"/signals/{name}", f"articulus.{name}", properties, signal.meaning)
        for k, time in enumerate(times):
            self.message(channel, time, dict(zip(labels, _finite(signal.values[k]))))


def _stamp(time: int) -> dict[str, int]:
    return {"sec": time // 10**9, "nsec": time % 10**9}


def _finite(values: np.ndarray) -> list[float | None]:
    """Return numbers; JSON has none for what is not finite."""
    return [x if np.isfinite(x) else None for x in values.tolist()]


def _entity(body: str, drawn: list[DrawnSolid], time: int) -> dict[str, Any]:
    out: dict[str, Any] = {
        "timestamp": _stamp(time), "frame_id": body, "id": body, "lifetime": _stamp(0), "frame_locked": True, "metadata": [],
        **{kind: [] for kind in LISTS},
    }  # fmt: skip
    for solid in drawn:
        for kind, primitive in _primitives(solid):
            out[kind].append(primitive)
    return out


def _primitives(solid: DrawnSolid) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give what Foxglove draws for a solid: a capsule is a cylinder and two balls."""
    color = dict(zip("rgba", solid.color))
    x, y, z = solid.size.tolist()
    common = {"pose": _pose(solid.pose), "color": color}
    if solid.kind == "box":
        yield "cubes", {**common, "size": {"x": x, "y": y, "z": z}}
    elif solid.kind == "ellipsoid":
        yield "spheres", {**common, "size": {"x": x, "y": y, "z": z}}
    elif solid.kind in ("cylinder", "capsule"):
        straight = z - x if solid.kind == "capsule" else z
        yield (
            "cylinders",
            {**common, "size": {"x": x, "y": y, "z": straight}, "bottom_scale": 1.0, "top_scale": 1.0},
        )
        for side in (-0.5, 0.5) if solid.kind == "capsule" else ():
            end = solid.pose.copy()
            end[:3, 3] += side * straight * solid.pose[:3, 2]
            yield "spheres", {"pose": _pose(end), "color": color, "size": {"x": x, "y": x, "z": x}}
    elif solid.vertices is not None and solid.triangles is not None:
        points = [dict(zip("xyz", p)) for p in solid.vertices.astype(float).tolist()]
        yield "triangles", {**common, "points": points, "indices": solid.triangles.ravel().tolist()}


def _pose(X: np.ndarray) -> dict[str, Any]:
    w, x, y, z = quaternion_of(X[:3, :3])
    return {"position": dict(zip("xyz", X[:3, 3].tolist())), "orientation": {"x": x, "y": y, "z": z, "w": w}}


def read_mcap(place: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return the numbers of the JSON messages of an MCAP log as columns over the times of the log, and their units.

    Columns are called by topic and field: "joint_states.position.lift" where a list of names stands beside a list of numbers, else
    "topic.field". Messages of other encodings are omitted; a log without any JSON message is refused with what it holds. A log that was
    cut off is read as far as it goes.
    """
    reader = require("mcap.reader", "read_record", "mcap")
    error = require("mcap.exceptions", "read_record", "mcap").McapError
    found: dict[str, dict[int, float]] = {}
    units: dict[str, str] = {}
    others: set[str] = set()
    with place.open("rb") as file:
        try:
            messages = reader.NonSeekingReader(file, record_size_limit=MOST_BYTES).iter_messages(
                log_time_order=False
            )
            for schema, channel, message in messages:
                if channel.message_encoding != "json":
                    others.add(channel.message_encoding)
                    continue
                owner = channel.topic.strip("/").removeprefix("signals/").replace("/", ".")
                described = json.loads(schema.data).get("properties", {}) if schema is not None else {}
                for name, value in _fields(json.loads(message.data)):
                    column = f"{owner}.{name}" if name != "value" else owner
                    found.setdefault(column, {})[message.log_time] = value
                    unit = described.get(name, {}).get("description", "")
                    if unit:
                        units[column] = unit
        except (error, ValueError, KeyError, EOFError, struct.error) as reason:
            if not found:
                raise InputError(f"{place}: not an MCAP log that can be read: {reason}") from None
    if not found:
        told = f"messages encoded as {', '.join(sorted(others))}" if others else "no messages"
        raise InputError(f"{place}: found {told}; expected messages encoded as json")
    times = np.array(sorted(set().union(*found.values())), dtype=np.int64)
    columns = {"t": (times - times[0]) / NANO}
    for column, samples in found.items():
        at = np.searchsorted(times, np.fromiter(samples, np.int64))
        columns[column] = np.full(len(times), np.nan)
        columns[column][at] = list(samples.values())
    return columns, {"t": "s", **units}


def _fields(content: Any) -> Iterator[tuple[str, float]]:
    """Give the numbers of a message with their names."""
    if not isinstance(content, dict):
        return
    for key, value in content.items():
        if key in ("timestamp", "header"):
            continue
        if isinstance(value, bool):
            continue
        if isinstance(value, (int, float)):
            yield key, float(value)
        elif value is None:
            yield key, np.nan
        elif isinstance(value, dict):
            yield from ((f"{key}.{name}", x) for name, x in _fields(value))
        elif (
            isinstance(value, list) and value and all(x is None or isinstance(x, (int, float)) for x in value)
        ):
            names = content.get(f"{key}_names", content.get("name"))
            if not isinstance(names, list) or len(names) != len(value):
                names = list(map(str, range(len(value))))
            yield from ((f"{key}.{n}", np.nan if x is None else float(x)) for n, x in zip(names, value))
