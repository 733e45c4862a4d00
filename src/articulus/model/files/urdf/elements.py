"""Links and joints of a URDF text, element by element, with every mistake reported where it stands."""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import replace

import numpy as np

from articulus.errors import InputError
from articulus.model.files.report import UNKNOWN, Report
from articulus.model.files.xml_tree import XmlElement
from articulus.model.mechanism import (
    Body,
    Connection,
    Coupling,
    Fixed,
    Free,
    Joint,
    Limits,
    Planar,
    Pose,
    Prismatic,
    Revolute,
)
from articulus.model.mechanism.numbers import LARGEST
from articulus.spatial import exact, frame_with_z

NO_INERTIAL = "no inertial in the URDF"
ZERO_INERTIAL = "an inertial of zero in the URDF"

LIMITS = ("lower", "upper", "velocity", "effort", "soft_lower_limit", "soft_upper_limit")
"""Attributes that may be as large as any number: no limit."""
KNOWN_CHILDREN = {
    "robot": ("link", "joint", "material", "transmission", "gazebo", "sensor", "ros2_control"),
    "link": ("inertial", "visual", "collision", "contact", "sensor"),
    "inertial": ("origin", "mass", "inertia"),
    "joint": (
        "origin",
        "parent",
        "child",
        "axis",
        "calibration",
        "dynamics",
        "limit",
        "mimic",
        "safety_controller",
    ),
    "visual": ("origin", "geometry", "material"),
    "geometry": ("box", "cylinder", "capsule", "sphere", "mesh"),
    "material": ("color", "texture"),
}
KNOWN_ATTRIBUTES = {
    "origin": ("xyz", "rpy", "quat_xyzw"),
    "mass": ("value",),
    "inertia": ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"),
    "axis": ("xyz",),
    "limit": ("lower", "upper", "effort", "velocity"),
    "dynamics": ("damping", "friction"),
    "mimic": ("joint", "multiplier", "offset"),
    "parent": ("link",),
    "child": ("link",),
    "box": ("size",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "sphere": ("radius",),
    "mesh": ("filename", "scale"),
    "color": ("rgba",),
}
JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.A)


class Elements:
    """Reads elements into bodies and connections; every refusal goes to the report, a stand-in takes its place."""

    def __init__(self, report: Report, lines: dict[str, int]):
        self.report = report
        self.lines = lines

    # links

    def link(self, element: XmlElement, name: str) -> Body:
        """Return the body of a <link>; one without mass says why in `massless`."""
        path = f"body.{name}"
        self.check(element, path)
        inertial = self.only(element, "inertial", path)
        if inertial is None:
            return Body(name, massless=NO_INERTIAL)
        self.lines[f"{path}.inertia"] = self.lines[f"{path}.mass"] = inertial.line
        self.check(inertial, path)
        mass = self._mass(inertial, path)
        matrix = self._inertia(inertial, path)
        pose = self.origin(inertial, path)
        if mass == 0 and not any(matrix):
            return Body(name, massless=ZERO_INERTIAL)
        return Body(name, mass, pose.xyz, _rotate_inertia(matrix, pose))

    def _mass(self, inertial: XmlElement, path: str) -> float:
        element = self.only(inertial, "mass", path, required=True)
        return self.number(element, "value", f"{path}.mass", 1.0) if element else 1.0

    def _inertia(self, inertial: XmlElement, path: str) -> tuple[float, ...]:
        element = self.only(inertial, "inertia", path, required=True)
        unity = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
        if element is None:
            return unity
        before = len(self.report.findings)
        names = KNOWN_ATTRIBUTES["inertia"]
        numbers = tuple(self.number(element, key, f"{path}.inertia", 0.0) for key in names)
        return numbers if len(self.report.findings) == before else unity

    # joints

    def joint(self, element: XmlElement, name: str) -> Connection:
        """Return the connection of a <joint>."""
        path = f"joint.{name}"
        self.check(element, path)
        at = self.origin(element, path)
        parent, child = (self._link_name(element, role, path) for role in ("parent", "child"))
        kind = element.attributes.get("type")
        if kind not in JOINT_TYPES:
            self.lines[f"{path}.type"] = element.line
            found = "no type" if kind is None else f"the type '{kind}'"
            self.report.add(f"{path}.type", found, f"one of {', '.join(JOINT_TYPES)}")
            return Connection(name, Fixed(), parent, child, at)
        connection = self._with_joint(element, kind, Connection(name, Fixed(), parent, child, at), path)
        return self._dynamics(element, connection, path)

    def _with_joint(self, element: XmlElement, kind: str, bare: Connection, path: str) -> Connection:
        if kind == "fixed":
            return bare
        if kind == "floating":
            return replace(bare, joint=Free())
        axis = self._axis(element, path)
        if kind == "planar":
            return _in_plane(bare, axis)
        joint: Joint = Prismatic(axis) if kind == "prismatic" else Revolute(axis)
        return replace(bare, joint=joint, limits=self._limits(element, kind, path))

    def _link_name(self, element: XmlElement, role: str, path: str) -> str:
        found = self.only(element, role, path, required=True)
        if found is None:
            return ""
        self.lines[f"{path}.{role}"] = found.line
        if "link" not in found.attributes:
            self.report.add(f"{path}.{role}", f"<{role}> without link", f'<{role} link="..."/>')
        return found.attributes.get("link", "")

    def _axis(self, element: XmlElement, path: str) -> tuple[float, float, float]:
        found = self.only(element, "axis", path)
        if found is None:
            return (1.0, 0.0, 0.0)
        numbers = self.numbers(found, "xyz", 3, f"{path}.axis")
        largest = max(map(abs, numbers), default=1.0)
        if largest == 0:
            self.report.add(f"{path}.axis", "0 0 0", "a direction", "A zero axis has none.")
        if not numbers or largest == 0:
            return (1.0, 0.0, 0.0)
        if math.hypot(*numbers) != 1.0:
            numbers = tuple(x / largest for x in numbers)
            numbers = tuple(x / math.hypot(*numbers) for x in numbers)
        return (numbers[0], numbers[1], numbers[2])

    def _limits(self, element: XmlElement, kind: str, path: str) -> Limits:
        found = self.only(element, "limit", path)
        if found is None:
            if kind != "continuous":
                unit = "rad" if kind == "revolute" else "m"
                self.report.doubt(
                    "missing limit",
                    path,
                    "no <limit>",
                    f"<limit> in a {kind} joint, as the URDF specification demands",
                    f'Add <limit lower="..." upper="..." effort="..." velocity="..."/> [{unit}]'
                    + (", or make it continuous." if kind == "revolute" else "."),
                )
            return Limits()
        where = f"{path}.limits"
        self.lines[where] = found.line
        speed, effort = (self._bound(found, key, where) for key in ("velocity", "effort"))
        if kind == "continuous":
            return Limits(velocity=(speed,), effort=(effort,))
        low, high = (self.number(found, key, where, 0.0, optional=True) for key in ("lower", "upper"))
        return Limits((low,), (high,), (speed,), (effort,))

    def _bound(self, limit: XmlElement, key: str, path: str) -> float:
        """Return a number of a <limit>; infinite, and doubtful, where it is missing."""
        if key not in limit.attributes:
            self.report.doubt(
                "missing limit", path, f"<limit> without {key}", f'{key}="..." with a finite number'
            )
            return math.inf
        return self.number(limit, key, path, 0.0)

    def _dynamics(self, element: XmlElement, connection: Connection, path: str) -> Connection:
        found = self.only(element, "dynamics", path)
        if found is None:
            return connection
        for key in ("damping", "coulomb"):
            self.lines[f"{path}.{key}"] = found.line
        damping = self.number(found, "damping", f"{path}.damping", 0.0, optional=True)
        friction = self.number(found, "friction", f"{path}.coulomb", 0.0, optional=True)
        if connection.joint.nv > 1 and (damping or friction):
            kind = element.attributes["type"]
            self.report.add(
                f"{path}.damping", f"<dynamics> on a {kind} joint", "none: it has no single direction"
            )
        if connection.joint.nv != 1:
            return connection
        return replace(
            connection, damping=(damping,) if damping else (), coulomb=(friction,) if friction else ()
        )

    def mimic(self, element: XmlElement, name: str) -> Coupling:
        """Return the coupling of a <joint> with <mimic>."""
        path = f"coupling.{name}"
        found = self.only(element, "mimic", f"joint.{name}")
        assert found is not None
        self.lines[path] = found.line
        ratio = self.number(found, "multiplier", path, 1.0, optional=True)
        offset = self.number(found, "offset", path, 0.0, optional=True)
        if "joint" not in found.attributes:
            self.report.add(path, "<mimic> without joint", '<mimic joint="..."/>')
        return Coupling(name, (found.attributes.get("joint", ""),), (ratio,), offset)

    # parts

    def origin(self, element: XmlElement, path: str) -> Pose:
        """Return the pose of an <origin>, the identity without one."""
        found = self.only(element, "origin", path)
        if found is None:
            return Pose()
        where = f"{path}.origin"
        xyz = self.numbers(found, "xyz", 3, where, optional=True) or (0.0,) * 3
        rpy = self.numbers(found, "rpy", 3, where, optional=True) or (0.0,) * 3
        xyzw = self.numbers(found, "quat_xyzw", 4, where, optional=True) or (0.0, 0.0, 0.0, 1.0)
        try:
            return Pose(xyz, rpy, (xyzw[3], *xyzw[:3]))
        except InputError as error:
            self.report.add_error(where, error)
            return Pose()

    def only(self, element: XmlElement, tag: str, path: str, required: bool = False) -> XmlElement | None:
        """Return the one child with this tag; more than one is a finding, none too if it is required."""
        found = element.children_with_tag(tag)
        if len(found) > 1:
            self.lines[f"{path}.<{tag}>"] = found[1].line
            self.report.add(f"{path}.<{tag}>", f"a second <{tag}>", f"one in {element}")
        if not found and required:
            self.lines[f"{path}.<{tag}>"] = element.line
            self.report.add(f"{path}.<{tag}>", f"{element} without <{tag}>", f"a <{tag}>")
        if found:
            self.check(found[0], path)
        return found[0] if found else None

    def number(
        self, element: XmlElement, key: str, path: str, stand_in: float, optional: bool = False
    ) -> float:
        """Return one number of an attribute."""
        numbers = self.numbers(element, key, 1, path, optional)
        return numbers[0] if numbers else stand_in

    def numbers(
        self, element: XmlElement, key: str, count: int, path: str, optional: bool = False
    ) -> tuple[float, ...]:
        """Return `count` finite numbers of an attribute; nothing when it is wrong or, being optional, not there."""
        self.lines[path] = element.line
        text = element.attributes.get(key)
        expected = "a finite number" if count == 1 else f"{count} finite numbers"
        if text is None:
            if not optional:
                self.report.add(path, f"<{element.tag}> without {key}", f'{key}="..." with {expected}')
            return ()
        words = text.split()
        largest = math.nextafter(math.inf, 0) if key in LIMITS else LARGEST
        strict = [float(w) for w in words if _NUMBER.fullmatch(w)]
        if len(strict) != len(words) or len(words) != count or not all(abs(x) <= largest for x in strict):
            self.report.add(path, f'{key}="{_short(text)}"', expected, _advice(words, count))
            return ()
        return tuple(strict)

    def check(self, element: XmlElement, path: str) -> None:
        """Report children and attributes whose names are nearly, but not quite, known ones."""
        for child in element.children:
            self._near(child, child.tag, KNOWN_CHILDREN.get(element.tag, ()), path)
        for key in element.attributes:
            self._near(element, key, KNOWN_ATTRIBUTES.get(element.tag, ()), path)

    def _near(self, element: XmlElement, word: str, known: tuple[str, ...], path: str) -> None:
        near = [] if word in known else difflib.get_close_matches(word, known, n=1, cutoff=0.75)
        if near:
            where = f"{path}.{word}"
            self.lines[where] = element.line
            hint = f"did you mean '{near[0]}'?"
            self.report.doubt(UNKNOWN, where, f"the unknown name '{word}'", "a known name", hint)


def _advice(words: list[str], count: int) -> str:
    if len(words) != count:
        return f"There are {len(words)} words in it."
    return "Write it without a unit, with a decimal point; nan and inf are refused."


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _rotate_inertia(numbers: tuple[float, ...], pose: Pose) -> tuple[float, ...]:
    """Return the six inertia numbers of a frame with the orientation of `pose`, in the axes around it."""
    if replace(pose, xyz=(0.0, 0.0, 0.0)).is_identity:
        return numbers
    R = pose.rotation()
    I = R @ Body("", inertia=numbers).inertia_matrix() @ R.T
    return tuple(float(I[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))


def _in_plane(bare: Connection, normal: tuple[float, float, float]) -> Connection:
    """Return a planar joint whose z axis is the normal, on both sides, so that q = 0 leaves the link in place."""
    if normal == (0.0, 0.0, 1.0):
        return replace(bare, joint=Planar())
    turn = np.eye(4)
    turn[:3, :3] = exact(frame_with_z(normal))
    at = Pose.from_matrix(bare.at.matrix() @ turn)
    return replace(bare, joint=Planar(), at=at, child_at=Pose.from_matrix(turn))
