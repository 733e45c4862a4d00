"""Changed numbers into an MJCF text."""

from __future__ import annotations

import numpy as np

from articulus.errors import Finding, ModelError
from articulus.model.files.write_back.changes import Changes
from articulus.model.files.write_back.xml_edit import XmlText
from articulus.model.mechanism.body import Body
from articulus.model.mechanism.connection import Connection
from articulus.model.mechanism.numbers import value_of, values_of
from articulus.model.mechanism.pose import Pose, quaternion_of

TURNS = ("quat", "euler", "axisangle", "xyaxes", "zaxis")
CARRIED = {
    "damping": "damping",
    "coulomb": "frictionloss",
    "armature": "armature",
    "stiffness": "stiffness",
    "rest": "springref",
}


def mjcf_with(text: str, name: str, found: Changes) -> str:
    """Return the text with the changes; raise ModelError for parts that are not in this file."""
    xml = XmlText(text, name)
    for body, (_, new) in found.bodies.items():
        _inertial(xml, _only(xml, name, "body", body), new)
    for joint in found.fields:
        connection = found.new[joint]
        numbers = {
            CARRIED[f]: repr(float((values_of(getattr(connection, f)) or (0.0,))[0]))
            for f in found.fields[joint]
        }
        xml.set(_only(xml, name, "joint", joint), numbers)
    for joint in found.frames:
        _frame(xml, name, found.old[joint], found.new[joint])
    return xml.text()


def _only(xml: XmlText, name: str, tag: str, called: str) -> int:
    found = [i for i in xml.find(tag, called) if xml.places[i].parent is not None]
    if tag == "joint":
        found = [i for i in found if xml.places[xml.places[i].parent].tag == "body"]  # type: ignore[index]
    if len(found) != 1:
        hint = "Is it in a file that is included, or has it no name there?"
        raise ModelError(
            Finding(f"{name}: {tag} {called}", f"{len(found)} elements of this name", "one in the file", hint)
        )
    return found[0]


def _inertial(xml: XmlText, at: int, body: Body) -> None:
    I = np.asarray(body.inertia_matrix(), float)
    full = [I[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    values = {
        "pos": _words(values_of(body.com)),
        "mass": repr(value_of(body.mass)),
        "fullinertia": _words(full),
    }
    there = xml.child(at, "inertial")
    if there is not None:
        xml.set(there, values, drop=("diaginertia", *TURNS))
    else:  # the inertia was that of the shapes
        xml.insert(at, "<inertial " + " ".join(f'{k}="{v}"' for k, v in values.items()) + "/>")


def _frame(xml: XmlText, name: str, old: Connection, new: Connection) -> None:
    """Move the body so that its joint's frame is where it shall be; the joint keeps its place on the body."""
    now, anchor = _matrix(new.at), _matrix(old.child_at)
    at = _only(xml, name, "body", old.child)
    body = now @ np.linalg.inv(anchor)
    turn = quaternion_of(body[:3, :3])
    xml.set(at, {"pos": _words(body[:3, 3]), "quat": _words(turn)}, drop=TURNS[1:])


def _matrix(pose: Pose) -> np.ndarray:
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = pose.rotation(), values_of(pose.xyz)
    return out


def _words(values: object) -> str:
    return " ".join(repr(float(x)) for x in values)  # type: ignore[attr-defined]
