"""Bags of ROS 1 and ROS 2 as columns, without ROS: the package rosbags reads them (extra `rosbags`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from articulus.bridges.extra import require
from articulus.errors import InputError

NANO = 1e9
LEFT_OUT = ("header", "stamp")
"""Fields that are no measurement: times are those of the log."""
DEEPEST = 8
LONGEST_LIST = 256
"""Entries of a list up to which they are columns: pictures and clouds of points are none."""
INDEX = "metadata.yaml"
"""File that makes a folder a bag of ROS 2."""


def is_bag(place: Path) -> bool:
    """Whether a path is a bag: a folder of ROS 2, a file of such a folder, or a .bag of ROS 1."""
    return (place.is_dir() and (place / INDEX).is_file()) or place.suffix.lower() in (".bag", ".db3")


def read_bag(place: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return the numbers of all messages of a bag whose types are known, by topic and field.

    A list `position` beside a list `name` gives a column for each name: "joint_states.position.lift". Units are those that ROS lays down for
    joint states, wrenches, twists and accelerations; others are not known. Times are those of the log [s] from its first message.
    """
    highlevel = require("rosbags.highlevel", "read_record", "rosbags")
    typesys = require("rosbags.typesys", "read_record", "rosbags")
    folder = place.parent if place.suffix.lower() == ".db3" and (place.parent / INDEX).is_file() else place
    found: dict[str, dict[int, float]] = {}
    units: dict[str, str] = {}
    unknown: set[str] = set()
    store = typesys.get_typestore(typesys.Stores.LATEST)
    try:
        with highlevel.AnyReader([folder], default_typestore=store) as reader:
            for connection, time, raw in reader.messages():
                topic = connection.topic.strip("/").replace("/", ".")
                try:
                    message = reader.deserialize(raw, connection.msgtype)
                except (KeyError, typesys.TypesysError):
                    unknown.add(connection.msgtype)
                    continue
                for name, value, unit in _fields(message, connection.msgtype):
                    column = f"{topic}.{name}" if name != "data" else topic
                    found.setdefault(column, {})[time] = value
                    if unit:
                        units[column] = unit
    except (highlevel.AnyReaderError, OSError, ValueError, AssertionError) as reason:
        if not found:
            raise InputError(f"{place}: not a bag that can be read: {reason}") from None
    if not found:
        told = f"messages of the types {', '.join(sorted(unknown))}" if unknown else "no messages"
        raise InputError(f"{place}: found {told}; expected messages with numbers of the types of ROS")
    times = np.array(sorted(set().union(*found.values())), dtype=np.int64)
    columns = {"t": (times - times[0]) / NANO}
    for column, samples in found.items():
        columns[column] = np.full(len(times), np.nan)
        columns[column][np.searchsorted(times, np.fromiter(samples, np.int64))] = list(samples.values())
    return columns, {"t": "s", **units}


UNITS = {
    "Wrench.force": "N", "Wrench.torque": "N m", "Twist.linear": "m/s", "Twist.angular": "rad/s", "Accel.linear": "m/s^2",
    "Accel.angular": "rad/s^2", "Imu.angular_velocity": "rad/s", "Imu.linear_acceleration": "m/s^2", "Pose.position": "m", "Transform.translation": "m",
}  # fmt: skip
"""Units that the message types of ROS lay down, by type and field; those of joint states depend on the joint and are left unknown."""


def _fields(message: Any, kind: str, depth: int = 0) -> Iterator[tuple[str, float, str]]:
    """Give the numbers of a message with their names and, where its type says it, their units."""
    if depth > DEEPEST:
        return
    names = getattr(message, "name", None)
    for key in getattr(message, "__dataclass_fields__", ()):
        value = getattr(message, key)
        if key in LEFT_OUT or key.startswith("__"):
            continue
        own = UNITS.get(f"{str(kind).rpartition('/')[2]}.{key}", "")
        if isinstance(value, (bool, str)):
            continue
        if isinstance(value, (int, float, np.number)):
            yield key, float(value), own
        elif hasattr(value, "__dataclass_fields__"):
            inner = getattr(value, "__msgtype__", "")
            yield from (
                (f"{key}.{name}", x, unit or own) for name, x, unit in _fields(value, inner, depth + 1)
            )
        elif isinstance(value, (np.ndarray, list)) and 0 < len(value) <= LONGEST_LIST:
            if not all(isinstance(x, (int, float, np.number)) for x in value):
                continue
            keys: list[Any] = list(range(len(value)))
            if isinstance(names, list) and len(names) == len(value):
                keys = names
            yield from ((f"{key}.{n}", float(x), "") for n, x in zip(keys, value))
