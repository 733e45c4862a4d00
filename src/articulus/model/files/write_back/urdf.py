"""Changed numbers into a URDF text."""

from __future__ import annotations

import numpy as np

from articulus.errors import Finding, ModelError
from articulus.model.files.urdf.writer import rpy_of
from articulus.model.files.write_back.changes import Changes
from articulus.model.files.write_back.xml_edit import XmlText
from articulus.model.mechanism.body import Body
from articulus.model.mechanism.numbers import value_of, values_of
from articulus.model.mechanism.pose import Pose

SIX = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
CARRIED = {"damping": "damping", "coulomb": "friction"}


def urdf_with(text: str, name: str, found: Changes) -> str:
    """Return the text with the changes; raise ModelError for what a URDF does not hold."""
    xml = XmlText(text, name)
    for body, (_, new) in found.bodies.items():
        _inertial(xml, _only(xml, name, "link", body), new)
    for joint in {*found.fields, *found.frames}:
        at = _only(xml, name, "joint", joint)
        connection = found.new[joint]
        if joint in found.frames:
            pose = f"{_words(values_of(connection.at.xyz))}", f"{_words(rpy_of(connection.at.rotation()))}"
            _child(xml, at, "origin", dict(zip(("xyz", "rpy"), pose)))
        odd = [f for f in found.fields.get(joint, ()) if f not in CARRIED]
        if odd:
            raise ModelError(
                Finding(
                    f"{name}: joint {joint}",
                    f"another {', '.join(odd)}",
                    "damping or coulomb friction: a URDF holds no more",
                )
            )
        numbers = {
            CARRIED[f]: _words((values_of(getattr(connection, f)) or (0.0,))[:1])
            for f in found.fields.get(joint, ())
        }
        if numbers:
            _child(xml, at, "dynamics", numbers)
    return xml.text()


def _only(xml: XmlText, name: str, tag: str, called: str) -> int:
    found = [
        i
        for i in xml.find(tag, called)
        if (p := xml.places[i].parent) is not None and xml.places[p].tag == "robot"
    ]
    if len(found) != 1:
        raise ModelError(
            Finding(
                f"{name}: {tag} {called}",
                f"{len(found)} elements of this name",
                "one in the file; a xacro file is not changed",
            )
        )
    return found[0]


def _child(xml: XmlText, at: int, tag: str, values: dict[str, str]) -> None:
    there = xml.child(at, tag)
    if there is not None:
        xml.set(there, values)
    else:
        xml.insert(at, f"<{tag} " + " ".join(f'{k}="{v}"' for k, v in values.items()) + "/>")


def _inertial(xml: XmlText, link: int, body: Body) -> None:
    """Set mass, center of mass and inertia; the axes of the inertia stay those of the file."""
    at = xml.child(link, "inertial")
    com, mass = values_of(body.com), value_of(body.mass)
    if at is None:
        six = " ".join(f'{k}="{x!r}"' for k, x in zip(SIX, values_of(body.inertia)))
        xml.insert(
            link,
            f'<inertial><origin xyz="{_words(com)}"/><mass value="{mass!r}"/><inertia {six}/></inertial>',
        )
        return
    origin = xml.child(at, "origin")
    words = xml.places[origin].attributes.get("rpy", "0 0 0").split() if origin is not None else ["0"] * 3
    R = Pose(rpy=tuple(map(float, words))).rotation()
    inertia = R.T @ np.asarray(body.inertia_matrix(), float) @ R
    numbers = [inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    _child(xml, at, "origin", {"xyz": _words(com)})
    _child(xml, at, "mass", {"value": repr(mass)})
    _child(xml, at, "inertia", {k: repr(float(x)) for k, x in zip(SIX, numbers)})


def _words(values: object) -> str:
    return " ".join(repr(float(x)) for x in values)  # type: ignore[attr-defined]
