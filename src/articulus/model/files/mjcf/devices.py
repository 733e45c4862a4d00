"""Actuators, sensors, gravity compensation and keyframes of a compiled MuJoCo model, as devices and named states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from articulus.model.files.mjcf.unsupported import NOT_MEASURED, Omission
from articulus.model.mechanism import GROUND, Description, Device, Equipment, NamedState, Pose

FREE, BALL = 0, 1
"""mjtJoint."""
BY_JOINT, BY_JOINT_IN_PARENT, BY_TENDON = 0, 1, 3
"""mjtTrn."""
NO_DYNAMICS, FILTER, FILTER_EXACT = 0, 2, 3
"""mjtDyn."""
FIXED, AFFINE = 0, 1
"""mjtGain; of mjtBias 0 is none and 1 the same."""
WRAP_JOINT = 1
XBODY, SITE = 2, 6
"""mjtObj."""

ON_FRAME = {"GYRO": "rate_gyro", "ACCELEROMETER": "accelerometer", "VELOCIMETER": "velocimeter"}
ON_FRAME |= {"FRAMEPOS": "frame_pose", "FRAMEQUAT": "frame_pose"}
ON_FRAME |= {"FRAMELINVEL": "frame_velocity", "FRAMEANGVEL": "frame_velocity"}
ON_FRAME |= {"FRAMELINACC": "frame_acceleration", "FRAMEANGACC": "frame_acceleration"}
ON_JOINT = {"JOINTPOS": "joint_sensor", "JOINTVEL": "joint_sensor"}
ON_BODY = {"FORCE": "force_sensor", "TORQUE": "force_sensor"}
KNOWN_ANYWAY = ("CLOCK", "ACTUATORPOS", "ACTUATORFRC")
"""Time, and signals that the components of actuators have by themselves."""


class Names(NamedTuple):
    """Names that the objects of a model have in the mechanism, by their numbers."""

    bodies: list[str]
    sites: list[str]
    joints: list[str]


class Devices:
    """Goes through the actuators and sensors of a model.

    Attributes
    ----------
    equipment : Equipment
    omissions : list of Omission
        What is omitted.
    """

    def __init__(self, model: Any, disabled: set[str], description: Description, names: Names):
        self.model, self.disabled, self.description, self.names = model, disabled, description, names
        self.omissions: list[Omission] = []
        self.take_sign: set[str] = set()
        self.commands: list[tuple[str, int]] = []
        made = [*self._actuators(), *self._sensors(), *self._compensation()]
        self.equipment = Equipment(tuple(made), tuple(self._states()))

    # actuators

    def _actuators(self) -> Iterator[Device]:
        m = self.model
        for i in range(len(m.actuator_trntype)):
            given = m.actuator(i).name
            name = self._free_name(given or f"actuator{i}")
            joints = self._transmission(i)
            why = _why_not(m, i) if joints else "a transmission other than joints of one degree of freedom"
            if why:
                found = f"actuator '{name}' with {why}"
                self.omissions.append(Omission(f"actuator.{given}", found, "omitted actuator"))
                continue
            self.commands.append((name, int(_new_field(m, "actuator_ctrladr", i, i))))
            yield self._filter_command(i, name, joints)

    def _transmission(self, i: int) -> list[tuple[str, float]]:
        """Return the joints that an actuator drives, each with its ratio; none where this cannot be said."""
        m = self.model
        kind, gear, thing = m.actuator_trntype[i], float(m.actuator_gear[i][0]), int(m.actuator_trnid[i][0])
        if kind in (BY_JOINT, BY_JOINT_IN_PARENT):
            return [(self.names.joints[thing], gear)] if m.jnt_type[thing] > BALL else []
        if kind == BY_TENDON:
            return [(self.names.joints[j], gear * ratio) for j, ratio in fixed_tendon(m, thing)]
        return []

    def _filter_command(self, i: int, name: str, joints: list[tuple[str, float]]) -> Device:
        """Return the drive behind its filter and the bounds of its command."""
        m = self.model
        chain = [Device("linear_drive", tuple(self._drive(i, joints)))]
        if m.actuator_dyntype[i] in (FILTER, FILTER_EXACT):
            bandwidth = 1.0 / max(float(m.actuator_dynprm[i][0]), 1e-10)
            chain.append(Device("first_order", (("actuator", chain[-1]), ("bandwidth", bandwidth))))
        control = int(_new_field(m, "actuator_ctrladr", i, i))
        if m.actuator_ctrllimited[control] and "CLAMPCTRL" not in self.disabled:
            lower, upper = map(float, m.actuator_ctrlrange[control])
            chain.append(Device("saturation", (("actuator", chain[-1]), ("lower", lower), ("upper", upper))))
        return Device(chain[-1].type, (("name", name), *chain[-1].values))

    def _drive(self, i: int, joints: list[tuple[str, float]]) -> Iterator[tuple[str, Any]]:
        m = self.model
        yield "joints", tuple(joint for joint, _ in joints)
        yield "ratios", tuple(ratio for _, ratio in joints)
        yield "gain", float(m.actuator_gainprm[i][0])
        if m.actuator_biastype[i] == AFFINE:
            offset, by_position, by_rate = map(float, m.actuator_biasprm[i][:3])
            yield from (("offset", offset), ("stiffness", -by_position), ("damping", -by_rate))
        if m.actuator_forcelimited[i]:
            lower, upper = map(float, m.actuator_forcerange[i])
            yield from (("lower", lower), ("upper", upper))

    # sensors

    def _sensors(self) -> Iterator[Device]:
        import mujoco

        m = self.model
        for i in range(m.nsensor):
            kind = mujoco.mjtSensor(m.sensor_type[i]).name.removeprefix("mjSENS_")
            given = m.sensor(i).name
            name = self._free_name(given or f"{kind.lower()}{i}", "_sensor")
            place = self._place(i, kind)
            if place is not None:
                yield Device(place[0], (("name", name), *place[1]))
            elif kind not in KNOWN_ANYWAY:
                found = f"sensor '{name}' of {kind.lower()}"
                self.omissions.append(Omission(f"sensor.{given}", found, "omitted sensor", NOT_MEASURED))

    def _place(self, i: int, kind: str) -> tuple[str, tuple[tuple[str, Any], ...]] | None:
        """Return the type of a sensor here and what it sits on; None for what has no such place."""
        m, thing = self.model, int(self.model.sensor_objid[i])
        if kind in ON_JOINT and m.jnt_type[thing] > BALL:
            return ON_JOINT[kind], (("joints", (self.names.joints[thing],)),)
        if kind in ON_BODY and (body := self.names.bodies[m.site_bodyid[thing]]) != GROUND:
            joint = self.description.inboard(body).name
            return ON_BODY[kind], (("joint", joint), ("frame", self.names.sites[thing]))
        if kind not in ON_FRAME or m.sensor_refid[i] >= 0:
            return None
        named = {SITE: self.names.sites, XBODY: self.names.bodies}.get(int(m.sensor_objtype[i]))
        return (ON_FRAME[kind], (("frame", named[thing]),)) if named is not None else None

    # what acts without commands

    def _compensation(self) -> Iterator[Device]:
        """Yield a force at the center of mass of every body whose weight is taken off."""
        m = self.model
        for i, frame in compensated_bodies(m, self.disabled, self.names.bodies):
            force = -float(m.body_gravcomp[i] * m.body_mass[i]) * np.array(m.opt.gravity)
            name = self._free_name(f"{self.names.bodies[i]}_gravity_compensation")
            wrench = (0.0, 0.0, 0.0, *map(float, force))
            yield Device("frame_wrench", (("name", name), ("frame", frame), ("wrench", wrench)))

    # keyframes

    def _states(self) -> Iterator[NamedState]:
        m, taken = self.model, set[str]()
        for k in range(m.nkey):
            name = m.key(k).name or f"key{k}"
            while name in taken:
                name += "_"
            taken.add(name)
            held = [self._joint_state(k, j) for j in range(m.njnt)]
            controls = tuple((actuator, float(m.key_ctrl[k][at])) for actuator, at in self.commands)
            positions = tuple((joint, q) for joint, q, _ in held)
            velocities = tuple((joint, v) for joint, _, v in held if any(v))
            yield NamedState(name, positions, velocities, controls if any(u for _, u in controls) else ())

    def _joint_state(self, k: int, j: int) -> tuple[str, tuple[float, ...], tuple[float, ...]]:
        """Return name, position and velocity of a joint; of a free one ours is turned first, in body axes."""
        m, kind = self.model, self.model.jnt_type[j]
        at, dof = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
        nq, nv = {FREE: (7, 6), BALL: (4, 3)}.get(int(kind), (1, 1))
        q, v = np.array(m.key_qpos[k][at : at + nq]), np.array(m.key_qvel[k][dof : dof + nv])
        if kind == FREE:
            q = np.concatenate([q[3:], q[:3]])
            R = Pose(quaternion=tuple(map(float, q[:4]))).rotation()
            v = np.concatenate([v[3:], R.T @ v[:3]])
        return self.names.joints[j], tuple(map(float, q)), tuple(map(float, v))

    def _free_name(self, name: str, suffix: str = "_") -> str:
        while name in self.take_sign:
            name += suffix
        self.take_sign.add(name)
        return name


def compensated_bodies(model: Any, disabled: set[str], bodies: list[str]) -> list[tuple[int, str]]:
    """Return the bodies whose weight is taken off, each with the name of the frame at its center of mass."""
    if "GRAVITY" in disabled:
        return []
    return [(int(i), f"{bodies[i]}_com") for i in np.flatnonzero(model.body_gravcomp)]


def fixed_tendon(model: Any, tendon: int) -> list[tuple[int, float]]:
    """Return the joints of a fixed tendon with their coefficients; nothing for a tendon in space."""
    first = int(model.tendon_adr[tendon])
    wraps = range(first, first + int(model.tendon_num[tendon]))
    if any(model.wrap_type[w] != WRAP_JOINT for w in wraps):
        return []
    total: dict[int, float] = {}
    for w in wraps:
        joint = int(model.wrap_objid[w])
        total[joint] = total.get(joint, 0.0) + float(model.wrap_prm[w])
    return list(total.items())


def _why_not(m: Any, i: int) -> str:
    """Return what in an actuator cannot be said here; empty when all of it can."""
    if m.actuator_dyntype[i] not in (NO_DYNAMICS, FILTER, FILTER_EXACT):
        return "dynamics other than a filter of first order"
    if m.actuator_gaintype[i] != FIXED or m.actuator_biastype[i] > AFFINE:
        return "a force that is not linear in its command"
    if _new_field(m, "actuator_plugin", i, -1) >= 0:
        return "a plugin"
    if np.any(_new_field(m, "actuator_delay", i, 0.0)):
        return "a delay"
    return ""


def _new_field(m: Any, field: str, i: int, otherwise: Any) -> Any:
    """Return an entry of a field that older versions of MuJoCo do not have."""
    held = getattr(m, field, None)
    return otherwise if held is None else held[i]
