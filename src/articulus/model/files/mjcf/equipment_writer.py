"""Devices and named states as actuators, sensors and keyframes of MJCF."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from articulus.model.mechanism import (
    Connection,
    Description,
    Device,
    Free,
    Joint,
    NamedState,
    Pose,
    value_of,
)
from articulus.model.mechanism.edit.compensation import shares

ON_SITE = {"rate_gyro": "gyro", "accelerometer": "accelerometer", "velocimeter": "velocimeter"}
OF_FRAME = {"frame_pose": "framepos", "frame_velocity": "framelinvel", "frame_acceleration": "framelinacc"}
SHAPINGS = ("saturation", "first_order")

Axis = tuple[str, Joint, Connection, slice]


class EquipmentWriter:
    """Makes the sections of actuators, sensors and keyframes.

    Parameters
    ----------
    description : Description
    site_at : callable
        Returns the site of a body or frame, made under a given name where there is none.
    refused : list of str
        What cannot be carried.

    Attributes
    ----------
    centers : dict of str to float
        Frames at centers of mass that gravity compensation made, with the share of the weight that is taken off.
    """

    def __init__(self, description: Description, site_at: Callable[..., str], refused: list[str]):
        self.d, self.site_at, self.refused = description, site_at, refused
        self.centers = shares(description)

    def compensation(self, body: str) -> float:
        """Return the share of a body's weight that is taken off."""
        return self.centers.get(f"{body}_com", 0.0)

    def places(self) -> Iterator[str]:
        """Yield the bodies that devices sit on."""
        for device in self.d.equipment.devices:
            held = dict(device.values)
            if "frame" in held:
                yield self.d.carrier(held["frame"])[0]
            if device.type == "force_sensor":
                yield from (c.child for c in self.d.connections if c.name == held["joint"])

    def sections(self, tendon: ET.Element) -> tuple[ET.Element, ET.Element]:
        """Return <actuator> and <sensor>; drives of several joints add tendons."""
        actuator, sensor = ET.Element("actuator"), ET.Element("sensor")
        for device in self.d.equipment.devices:
            if device.type in (*SHAPINGS, "linear_drive"):
                self._actuator(device, actuator, tendon)
            elif device.type != "frame_wrench" or dict(device.values)["frame"] not in self.centers:
                self._sensor(device, sensor)
        return actuator, sensor

    def _actuator(self, device: Device, section: ET.Element, tendon: ET.Element) -> None:
        shapings, behind = [], device
        while behind.type in SHAPINGS:
            shapings.append(behind)
            behind = dict(behind.values)["actuator"]
        if [s.type for s in shapings] not in ([], ["saturation"], ["first_order"], list(SHAPINGS)) or (
            behind.type != "linear_drive"
        ):
            self._refuse(device)
            return
        defaults = {"offset": 0.0, "stiffness": 0.0, "damping": 0.0, "gain": 1.0, **dict(behind.values)}
        bias = _text(defaults["offset"], -defaults["stiffness"], -defaults["damping"])
        out = ET.SubElement(
            section, "general", name=device.name, gaintype="fixed", gainprm=_text(defaults["gain"])
        )
        out.attrib |= {"biastype": "affine", "biasprm": bias} if bias != _text(0.0, -0.0, -0.0) else {}
        self._transmission(out, device.name, defaults, tendon)
        for shaping in shapings:
            values = dict(shaping.values)
            if shaping.type == "first_order":
                out.attrib |= {"dyntype": "filter", "dynprm": repr(1.0 / values["bandwidth"])}
            else:
                self._bounds(out, "ctrl", device, values["lower"], values["upper"])
        if "lower" in defaults or "upper" in defaults:
            self._bounds(out, "force", device, defaults.get("lower", -np.inf), defaults.get("upper", np.inf))

    def _bounds(self, out: ET.Element, kind: str, device: Device, lower: float, upper: float) -> None:
        if not np.isfinite([lower, upper]).all():
            self.refused.append(f"a bound on one side only of component '{device.name}'")
        out.attrib |= {f"{kind}limited": "true", f"{kind}range": _text(lower, upper)}

    def _transmission(self, out: ET.Element, name: str, held: dict[str, Any], tendon: ET.Element) -> None:
        joints = (held["joints"],) if isinstance(held["joints"], str) else held["joints"]
        ratios = held.get("ratios", (1.0,))
        ratios = (ratios,) if isinstance(ratios, float) else ratios
        ratios = ratios * len(joints) if len(ratios) == 1 else ratios
        if len(joints) == 1:
            out.attrib |= {"joint": joints[0], "gear": _text(ratios[0])}
            return
        fixed = ET.SubElement(tendon, "fixed", name=f"{name}.tendon")
        for joint, ratio in zip(joints, ratios):
            ET.SubElement(fixed, "joint", joint=joint, coef=repr(float(ratio)))
        out.set("tendon", f"{name}.tendon")

    def _sensor(self, device: Device, section: ET.Element) -> None:
        held = dict(device.values)
        if device.type in ON_SITE:
            site = self.site_at(held["frame"], f"{device.name}.site")
            ET.SubElement(section, ON_SITE[device.type], name=device.name, site=site)
        elif device.type in OF_FRAME:
            kind = "site" if any(f.name == held["frame"] for f in self.d.frames) else "xbody"
            seen = {"objtype": kind, "objname": held["frame"]}
            ET.SubElement(section, OF_FRAME[device.type], {"name": device.name, **seen})
        elif device.type == "joint_sensor" and len(held["joints"]) == 1:
            ET.SubElement(section, "jointpos", name=device.name, joint=held["joints"][0])
        elif device.type == "force_sensor":
            at = next(c for c in self.d.connections if c.name == held["joint"])
            place = held.get("frame") or at.child
            pose = None if held.get("frame") else at.child_at
            if self.d.carrier(place)[0] != at.child:
                self._refuse(device)
            site = self.site_at(place, f"{device.name}.site", pose)
            ET.SubElement(section, "force", name=device.name, site=site)
        else:
            self._refuse(device)

    def _refuse(self, device: Device) -> None:
        self.refused.append(f"component '{device.name}' of type '{device.type}'")

    # keyframes

    def keyframes(self, axes: list[Axis]) -> ET.Element:
        """Return <keyframe>; `axes` are MuJoCo's joints in their order."""
        out = ET.Element("keyframe")
        for state in self.d.equipment.states:
            q, v = self._all_joints(state)
            element = ET.SubElement(out, "key", name=state.name)
            positions, velocities = list[float](), list[float]()
            for _, joint, c, dofs in axes:
                here, rate = q[c.name], v[c.name]
                if isinstance(joint, Free):
                    R = Pose(quaternion=tuple(here[:4])).rotation()
                    here, rate = (*here[4:], *here[:4]), (*(R @ np.array(rate[3:])), *rate[:3])
                elif c.joint.nq == c.joint.nv:
                    here, rate = here[dofs], rate[dofs]
                positions += here
                velocities += rate
            element.set("qpos", _text(*positions))
            element.set("qvel", _text(*velocities))
            self._commands(element, state)
        return out

    def _commands(self, element: ET.Element, state: NamedState) -> None:
        drives = [d.name for d in self.d.equipment.devices if d.type in (*SHAPINGS, "linear_drive")]
        if state.commands:
            given = dict(state.commands)
            element.set("ctrl", _text(*(given.get(name, 0.0) for name in drives)))

    def _all_joints(self, state: NamedState) -> tuple[dict[str, tuple], dict[str, tuple]]:
        """Return position and velocity of every joint; those that follow others are where the others put them."""
        q = {c.name: tuple(map(float, c.joint.neutral())) for c in self.d.connections}
        v = {c.name: (0.0,) * c.joint.nv for c in self.d.connections}
        q |= {joint: held for joint, held in state.positions if joint in q}
        v |= {joint: held for joint, held in state.velocities if joint in v}
        for c in self.d.couplings:
            q[c.joint] = (float(c.position([q[name][0] for name in c.to], value_of)),)
        return q, v


def _text(*held: Any) -> str:
    return " ".join(repr(float(x)) for x in held)
