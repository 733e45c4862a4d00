"""Numbers, names and poses of the elements of an SDF text, which stand between the tags."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from articulus.model.files.report import Report
from articulus.model.files.xml_tree import XmlElement
from articulus.model.mechanism import Pose
from articulus.model.mechanism.numbers import LARGEST

MODEL = "__model__"
"""The frame of the model itself."""
WORLD = "world"
UNLIMITED = 1e15
"""Limits from here on are none: the format's own default is 1e16."""


class SdfValues:
    """Reads values; what is wrong goes to the report, a stand-in takes its place."""

    def __init__(self, report: Report, lines: dict[str, int]):
        self.report, self.lines = report, lines

    def only(self, element: XmlElement, tag: str, path: str) -> XmlElement | None:
        """Return the one child with a tag; a second one is a finding."""
        found = element.children_with_tag(tag)
        if len(found) > 1:
            self.lines[f"{path}.<{tag}>"] = found[1].line
            self.report.add(f"{path}.<{tag}>", f"a second <{tag}>", f"one in {element}")
        return found[0] if found else None

    def text(self, element: XmlElement, tag: str, path: str) -> str:
        """Return the text of a child; empty where there is none."""
        found = self.only(element, tag, path)
        return "" if found is None else found.text.strip()

    def numbers(
        self, element: XmlElement | None, count: int, path: str, otherwise: tuple[float, ...]
    ) -> tuple[float, ...]:
        """Return the numbers between the tags of an element."""
        if element is None:
            return otherwise
        self.lines[path] = element.line
        words = element.text.split()
        try:
            found = tuple(map(float, words))
        except ValueError:
            found = ()
        if (
            len(found) != count
            or not all(abs(x) <= max(LARGEST, UNLIMITED * 10) or math.isinf(x) for x in found)
            or any(map(math.isnan, found))
        ):
            self.report.add(
                path, f"<{element.tag}>{element.text.strip()[:60]}</{element.tag}>", f"{count} numbers"
            )
            return otherwise
        return found

    def number(self, element: XmlElement | None, tag: str, path: str, otherwise: float) -> float:
        """Return the number of a child."""
        found = None if element is None else self.only(element, tag, path)
        return self.numbers(found, 1, f"{path}.{tag}", (otherwise,))[0]

    def pose(self, element: XmlElement, path: str) -> tuple[np.ndarray, str]:
        """Return the <pose> of an element (4, 4) and the frame that it says it is in, empty for the usual one."""
        found = self.only(element, "pose", path)
        if found is None:
            return np.eye(4), ""
        where = f"{path}.pose"
        kind = found.attributes.get("rotation_format", "euler_rpy")
        count = 7 if kind == "quat_xyzw" else 6
        numbers = self.numbers(found, count, where, (0.0,) * 6 if count == 6 else (0.0,) * 6 + (1.0,))
        if kind == "quat_xyzw":
            x, y, z, w = numbers[3:]
            placed: Any = (
                Pose(numbers[:3], quaternion=(w, x, y, z)) if any(numbers[3:]) else Pose(numbers[:3])
            )
        else:
            scale = math.pi / 180 if found.attributes.get("degrees") in ("true", "1") else 1.0
            placed = Pose(numbers[:3], tuple(scale * angle for angle in numbers[3:]))
        return placed.matrix(), found.attributes.get("relative_to", found.attributes.get("frame", ""))
