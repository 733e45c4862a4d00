"""Denavit-Hartenberg tables: serial chains from four numbers per joint, and back.

Both conventions place frames of links with z along the joint axes and x along their common normals. The motion from one link
frame to the next is

    modified (Craig):  Rx(alpha) Tx(a) Rz(theta) Tz(d),   link frame i on axis i; row i leads from axis i-1 to axis i
    standard (Paul):   Rz(theta) Tz(d) Tx(a) Rx(alpha),   link frame i on axis i+1; row i turns about axis i
    wong:              as modified, with d = -b of the table

The joint variable is added to theta (revolute) or d (prismatic).

Sources: Denavit & Hartenberg 1955; Craig 1989, ch. 3 (modified); Wong 1991, eq. 3.40 and table 3.4, whose offsets b have the
opposite sign.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

import numpy as np

from articulus.declared import quantity, text
from articulus.errors import Finding, InputError, ModelError, did_you_mean
from articulus.model.mechanism.body import GROUND, Body, six_of
from articulus.model.mechanism.connection import Connection, Limits
from articulus.model.mechanism.description import Description
from articulus.model.mechanism.joint import Fixed, Prismatic, Revolute
from articulus.model.mechanism.numbers import (
    Number,
    Vector,
    as_number,
    as_numbers,
    three,
    value_of,
    values_of,
)
from articulus.model.mechanism.pose import Pose

Convention = Literal["standard", "modified", "wong"]

CONVENTIONS: tuple[str, ...] = get_args(Convention)

TYPES = {"revolute": Revolute, "prismatic": Prismatic}

PARALLEL = 1e-9
"""Sine of the angle between two axes below which they count as parallel: their common normal is lost in rounding."""


@dataclass(frozen=True)
class DHPlace:
    """Where a joint is between two link frames, by the four numbers of a convention.

    Parameters
    ----------
    convention : "standard", "modified" or "wong"
    a, alpha, d, theta : numbers [m, rad, m, rad]
    """

    convention: str = text("standard, modified or wong")
    a: Number = quantity("m", "distance of the axes along their common normal", default=0.0)
    alpha: float = quantity("rad", "angle of twist between the axes", default=0.0)
    d: Number = quantity("m", "offset along the joint axis at position zero", default=0.0)
    theta: float = quantity("rad", "angle about the joint axis at position zero", default=0.0)

    def __post_init__(self) -> None:
        require_convention(self.convention)
        for key, conversion in (("a", as_number), ("d", as_number), ("alpha", _angle), ("theta", _angle)):
            _convert(self, key, conversion)

    def poses(self) -> tuple[Pose, Pose]:
        """Return where the joint frame is in the frame of the link before and in that of its own link."""
        if self.convention == "standard":
            back = Pose(xyz=(-self.a, *_turned_back(self.alpha, self.d)), quaternion=_about_x(-self.alpha))
            return Pose(quaternion=_about_z(self.theta)), back
        d = -self.d if self.convention == "wong" else self.d
        s, c = _sine_cosine(self.alpha)
        turn = _product(_about_x(self.alpha), _about_z(self.theta))
        return Pose(xyz=(self.a, -s * d, c * d), quaternion=turn), Pose()


@dataclass(frozen=True)
class DHRow:
    """A joint and the link behind it.

    Parameters
    ----------
    a, alpha, d, theta : numbers [m, rad, m, rad]
        Length, twist, offset, angle of the row; `d` (prismatic) or `theta` (revolute) at joint position zero.
    type : "revolute" or "prismatic"
    name, link : str
        Names of the joint and of the body behind it; `joint<i>`, `link<i>` if empty.
    mass : number [kg]
    com : three numbers [m]
        Center of mass in the link frame of the convention.
    inertia : three or six numbers [kg m^2]
        Ixx, Iyy, Izz (, Ixy, Ixz, Iyz) about the center of mass, axes of the link frame.
    massless : str
        Why the link may have no mass, as of a body.
    limits : Limits
        Ranges of position, speed and effort of the joint; positions without the offset in the row.
    armature, damping, coulomb, stiffness, rest : numbers
        As of a joint (see `Connection`).
    """

    a: Number = quantity("m", "distance of the axes along their common normal", default=0.0)
    alpha: float = quantity("rad", "angle of twist between the axes", default=0.0)
    d: Number = quantity("m", "offset along the joint axis at position zero", default=0.0)
    theta: float = quantity("rad", "angle about the joint axis at position zero", default=0.0)
    type: str = "revolute"
    name: str = ""
    link: str = ""
    mass: Number = quantity("kg", "mass of the link", default=0.0)
    com: Vector = quantity("m", "center of mass in the link frame", size="3", default=(0.0, 0.0, 0.0))
    inertia: Vector = quantity("kg m^2", "inertia about the center of mass", size="6", default=(0.0,) * 6)
    massless: str = ""
    limits: Limits = field(default_factory=Limits)
    armature: Vector = quantity("kg m^2 or kg", "inertia added at the joint", size="nv", default=())
    damping: Vector = quantity("N m s/rad or N s/m", "viscous friction", size="nv", default=())
    coulomb: Vector = quantity("N m or N", "dry friction", size="nv", default=())
    stiffness: Vector = quantity("N m/rad or N/m", "linear spring", size="nv", default=())
    rest: Vector = quantity("rad or m", "position at which the spring is free", size="nv", default=())

    def __post_init__(self) -> None:
        if self.type not in TYPES:
            raise InputError(
                Finding(
                    "DHRow.type",
                    repr(self.type),
                    "revolute or prismatic",
                    did_you_mean(str(self.type), TYPES),
                )
            )
        conversions = {"a": as_number, "d": as_number, "mass": as_number, "com": three, "inertia": six_of}
        conversions |= dict.fromkeys(("armature", "damping", "coulomb", "stiffness", "rest"), as_numbers)
        for key, conversion in conversions.items():
            _convert(self, key, conversion)
        for key in ("alpha", "theta"):
            _convert(self, key, _angle)

    def poses(self, convention: Convention) -> tuple[Pose, Pose]:
        """Return where the joint frame is in the frame of the link before and in that of its own link."""
        return DHPlace(convention, self.a, self.alpha, self.d, self.theta).poses()


@dataclass(frozen=True)
class DHTable:
    """A serial chain as a Denavit-Hartenberg table.

    Parameters
    ----------
    rows : tuple of DHRow
    convention : "standard", "modified" or "wong"
    base : Pose
        Where the frame before the first row is, in ground.
    tool : Pose
        Where the frame "tool" is in the last link frame.
    """

    rows: tuple[DHRow, ...]
    convention: Convention
    base: Pose = field(default_factory=Pose)
    tool: Pose = field(default_factory=Pose)

    def __post_init__(self) -> None:
        require_convention(self.convention)

    def __str__(self) -> str:
        lines = [f"{'joint':<20}{'alpha [deg]':>13}{'a [m]':>13}{'d [m]':>13}{'theta [deg]':>13}"]
        for i, row in enumerate(self.rows, 1):
            numbers = (math.degrees(row.alpha), value_of(row.a), value_of(row.d), math.degrees(row.theta))
            lines.append(f"{row.name or f'joint{i}':<20}" + "".join(f"{x + 0.0:>13.6g}" for x in numbers))
        return "\n".join(lines)


def require_convention(convention: Any) -> None:
    """Raise InputError unless it is one of `CONVENTIONS`."""
    if convention not in CONVENTIONS:
        raise InputError(
            Finding(
                "convention",
                repr(convention),
                "'standard' (Paul: link frame i on axis i+1), 'modified' (Craig: on axis i) or 'wong'",
                "Robot makers mostly print the standard one (a row turns about z, then shifts along the new x).",
            )
        )


def table_of(rows: DHTable | Sequence[DHRow | Mapping[str, Any]], convention: Any) -> DHTable:
    """Return the table of rows that may be dicts; raise InputError with the number of a wrong one."""
    if isinstance(rows, DHTable):
        if convention not in (None, rows.convention):
            raise InputError(
                Finding("convention", repr(convention), f"{rows.convention!r}, that of the table, or none")
            )
        return rows
    require_convention(convention)
    out = []
    for i, row in enumerate(rows, 1):
        try:
            out.append(row if isinstance(row, DHRow) else _row(row))
        except InputError as error:
            raise error.within(f"row {i}") from None
    if not out:
        raise InputError(Finding("rows", "none", "a row for each joint"))
    return DHTable(tuple(out), convention)


def _row(row: Any) -> DHRow:
    if not isinstance(row, Mapping):
        raise InputError(
            Finding(
                "",
                repr(row),
                "a DHRow or a dict such as {'alpha': 1.57, 'a': 0, 'd': 0.1}",
                "Name the numbers.",
            )
        )
    known = [f.name for f in fields(DHRow)]
    for key in row:
        if key not in known:
            raise InputError(
                Finding(str(key), "an unknown key", "a known key", did_you_mean(str(key), known))
            )
    return DHRow(**row)


def add_rows(mechanism: Any, table: DHTable) -> None:
    """Add the links and joints of a table and the frame "tool" to a `MechanismBuilder`."""
    parent, lead = GROUND, table.base.matrix()
    for i, row in enumerate(table.rows, 1):
        link, name = row.link or f"link{i}", row.name or f"joint{i}"
        at, child_at = row.poses(table.convention)
        if i == 1 and not table.base.is_identity:
            at = Pose.from_matrix(lead @ at.matrix())
        mechanism.body(link, row.mass, row.com, row.inertia, row.massless)
        axis = TYPES[row.type](axis=(0.0, 0.0, 1.0))
        numbers = {key: getattr(row, key) for key in ("armature", "damping", "coulomb", "stiffness", "rest")}
        mechanism.joint(name, axis, parent, link, at, child_at, limits=row.limits, **numbers)
        parent = link
    mechanism.frame("tool", parent, table.tool)


# from a mechanism to its table


def to_table(d: Description, convention: Convention, tip: str) -> DHTable:
    """Return the table of a serial chain of hinges and slides; `tip` is a frame or body on the last link, or empty.

    Raises
    ------
    ModelError
        Names the joint, loop or body that no table holds.
    """
    require_convention(convention)
    chain = _require_chain(d)
    places = _neutral_places(d)
    axes = [_axis_line(places, c) for c in chain]
    end = _tip_frame(d, places, chain, tip) if tip else None
    frames = _link_frames(axes, end)
    before, base = np.eye(4), np.eye(4)
    size = max(max(float(np.abs(frame[:3, 3]).max()) for frame in frames), np.finfo(float).tiny)
    if _four_numbers(frames[0], size) is None:
        before = base = frames[0]
    rows, links = [], []
    for c, frame in zip(chain, frames):
        numbers = _four_numbers(np.linalg.inv(before) @ frame, size)
        if numbers is None:  # the frames are made for it
            raise ModelError(
                Finding(f"joint '{c.name}'", "axes that rounding separates", "a chain of exact axes")
            )
        rows.append(numbers)
        links.append(frame)
        before = frame
    if convention == "standard":
        base, rows, links = _shift_lengths(base, rows, links)
    sign = -1.0 if convention == "wong" else 1.0
    table = [
        replace(_with_inertia(d, places, c, link), alpha=alpha, a=a, d=sign * offset, theta=theta)
        for c, link, (alpha, a, offset, theta) in zip(chain, links, rows)
    ]
    tool = np.eye(4) if end is None else np.linalg.inv(links[-1]) @ end
    return DHTable(tuple(table), convention, Pose.from_matrix(_clean(base)), Pose.from_matrix(_clean(tool)))


def _require_chain(d: Description) -> list[Connection]:
    """Return the moving joints from ground outwards, or raise ModelError where no table describes the mechanism."""
    for what, things in (("constraint", d.constraints), ("coupling", d.couplings)):
        if things:
            name = getattr(things[0], "name", getattr(things[0], "joint", ""))
            raise ModelError(
                Finding(f"{what} '{name}'", "a closed or coupled mechanism", "an open serial chain")
            )
    if d.parameters:
        raise ModelError(
            Finding(
                f"parameter '{d.parameters[0].name}'",
                "a named parameter",
                "numbers alone",
                "Replace it by a number.",
            )
        )
    chain: list[Connection] = []
    carrier = {GROUND: GROUND}
    for c in d.connections:
        if isinstance(c.joint, Fixed):
            carrier[c.child] = carrier[c.parent]
            continue
        if not isinstance(c.joint, (Revolute, Prismatic)):
            raise ModelError(
                Finding(
                    f"joint '{c.name}'",
                    f"type {c.joint.type_name}",
                    "revolute or prismatic: a row has one variable",
                )
            )
        if c.rotor is not None:
            raise ModelError(
                Finding(
                    f"joint '{c.name}'", "a geared rotor", "none: a row does not hold it", "Use armature."
                )
            )
        before = carrier[chain[-1].child] if chain else GROUND
        if carrier[c.parent] != before:
            raise ModelError(
                Finding(
                    f"joint '{c.name}'",
                    f"parent '{c.parent}'",
                    f"'{before}': a table is one chain without branches",
                )
            )
        carrier[c.child] = c.child
        chain.append(c)
    if not chain:
        raise ModelError(Finding(f"mechanism '{d.name}'", "no moving joint", "at least one"))
    for body in d.bodies:
        if body.modes is not None:
            raise ModelError(Finding(f"body '{body.name}'", "a flexible body", "rigid links"))
    return chain


def _neutral_places(d: Description) -> dict[str, np.ndarray]:
    """Return the pose of every body in ground at q = 0."""
    places = {GROUND: np.eye(4)}
    for c in d.connections:
        places[c.child] = places[c.parent] @ c.at.matrix() @ np.linalg.inv(c.child_at.matrix())
    return places


def _axis_line(places: Mapping[str, np.ndarray], c: Connection) -> tuple[np.ndarray, np.ndarray]:
    """Return a point and the direction of the joint's axis in ground."""
    frame = places[c.parent] @ c.at.matrix()
    assert isinstance(c.joint, (Revolute, Prismatic))
    return frame[:3, 3], frame[:3, :3] @ np.array(values_of(c.joint.axis))


def _body_of(d: Description, name: str) -> str:
    frames = {f.name: f.body for f in d.frames}
    if name in frames:
        return frames[name]
    if name in {b.name for b in d.bodies}:
        return name
    known = [*frames, *(b.name for b in d.bodies)]
    raise InputError(f"to_dh: no body or frame '{name}'; {did_you_mean(name, known)}")


def _pose_on_body(d: Description, name: str) -> np.ndarray:
    return next((f.at.matrix() for f in d.frames if f.name == name), np.eye(4))


def _tip_frame(
    d: Description, places: Mapping[str, np.ndarray], chain: Sequence[Connection], tip: str
) -> np.ndarray:
    """Return the pose of the tip in ground; its z axis ends the chain as one more joint axis would."""
    body = _body_of(d, tip)
    moved = {c.child: c for c in d.connections}
    while body in moved and isinstance(moved[body].joint, Fixed):
        body = moved[body].parent
    if body != chain[-1].child:
        raise InputError(
            Finding(
                f"to_dh: tip '{tip}'",
                f"it moves with '{body}'",
                f"a body or frame on the last link '{chain[-1].child}'",
            )
        )
    return places[_body_of(d, tip)] @ _pose_on_body(d, tip)


def _link_frames(axes: list[tuple[np.ndarray, np.ndarray]], end: np.ndarray | None) -> list[np.ndarray]:
    """Return the modified link frames at q = 0: z along axis i, x along the common normal to axis i+1.

    Between parallel axes the normal through the origin of the frame before is taken, so that no offset arises. The last
    frame is that of the tip if it stands on the last axis; without a tip it keeps the x direction of the one before.
    """
    lines = [*axes, (end[:3, 3], end[:3, 2])] if end is not None else axes
    size = max(float(np.ptp([p for p, _ in lines], axis=0).max()), np.finfo(float).tiny)
    frames: list[np.ndarray] = []
    near = np.zeros(3)
    x_before = np.array([1.0, 0.0, 0.0])
    for i, (p, z) in enumerate(axes):
        if end is not None and i + 1 == len(axes) and _stands_on(end, p, z, size):
            origin, x = p + z * (z @ (end[:3, 3] - p)), _across(z, end[:3, 0])
        elif i + 1 < len(lines):
            origin, x = _normal_to(p, z, *lines[i + 1], near, x_before, size)
        else:
            origin, x = p + z * (z @ (near - p)), _across(z, x_before)
        frame = np.eye(4)
        frame[:3, :3] = np.stack([x, np.cross(z, x), z], axis=1)
        frame[:3, 3] = origin
        frames.append(frame)
        near, x_before = origin, x
    return frames


def _stands_on(frame: np.ndarray, p: np.ndarray, z: np.ndarray, size: float) -> bool:
    """Return whether the z axis of a frame is the line (p, z)."""
    off = np.cross(z, frame[:3, 3] - p)
    return bool(np.linalg.norm(frame[:3, 2] - z) < PARALLEL and np.linalg.norm(off) < 1e-9 * size)


def _normal_to(
    p: np.ndarray,
    z: np.ndarray,
    other: np.ndarray,
    w: np.ndarray,
    near: np.ndarray,
    x_before: np.ndarray,
    size: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the foot on the line (p, z) and the direction of its common normal with the line (other, w)."""
    n = np.cross(z, w)
    sine = float(np.linalg.norm(n))
    if sine < PARALLEL:
        foot = p + z * (z @ (near - p))
        across = other - foot
        across = across - z * (z @ across)
        length = float(np.linalg.norm(across))
        return foot, across / length if length > 1e-12 * size else _across(z, x_before)
    # feet of the common normal: p + s z and other + t w
    between = other - p
    s, t = np.linalg.solve(np.array([[1.0, -(z @ w)], [z @ w, -1.0]]), np.array([z @ between, w @ between]))
    foot = p + s * z
    gap = other + t * w - foot
    x = n / sine
    length = float(gap @ x)
    # axes that meet have two normals: the one nearer to the x before, so that angles are small
    backwards = length < 0 if abs(length) > 1e-12 * size else x @ x_before < 0
    return foot, -x if backwards else x


def _across(z: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the unit vector across z that is nearest to x, or some unit vector across z where x lies along it."""
    for candidate in (x, *np.eye(3)):
        across = candidate - z * (z @ candidate)
        length = float(np.linalg.norm(across))
        if length > 1e-6:
            return across / length
    raise AssertionError("one of three axes is not along z")


def _four_numbers(X: np.ndarray, size: float) -> tuple[float, float, float, float] | None:
    """Return alpha, a, d, theta of a pose Rx(alpha) Tx(a) Rz(theta) Tz(d) in a chain of this size, None where there are none."""
    R, p = X[:3, :3], X[:3, 3]
    alpha = math.atan2(-R[1, 2], R[2, 2])
    s, c = math.sin(alpha), math.cos(alpha)
    if abs(R[0, 2]) > 1e-9 or abs(p[1] * c + p[2] * s) > 1e-9 * size:
        return None
    numbers = alpha, float(p[0]), float(p[2] * c - p[1] * s), math.atan2(-R[0, 1], R[0, 0])
    return (
        _rounded_angle(numbers[0]),
        _zero(numbers[1], size),
        _zero(numbers[2], size),
        _rounded_angle(numbers[3]),
    )


def _shift_lengths(
    base: np.ndarray, rows: list[Any], links: list[np.ndarray]
) -> tuple[np.ndarray, list[Any], list[np.ndarray]]:
    """Return base, rows and link frames of the standard convention: lengths and twists move to the row before."""
    leads = [_lead(alpha, a) for alpha, a, _, _ in rows] + [np.eye(4)]
    after = [(alpha, a) for alpha, a, _, _ in rows[1:]] + [(0.0, 0.0)]
    out = [(alpha, a, d, theta) for (alpha, a), (_, _, d, theta) in zip(after, rows)]
    return base @ leads[0], out, [link @ lead for link, lead in zip(links, leads[1:])]


def _lead(alpha: float, a: float) -> np.ndarray:
    s, c = _sine_cosine(alpha)
    X = np.eye(4)
    X[1:3, 1:3] = [[c, -s], [s, c]]
    X[0, 3] = a
    return X


def _with_inertia(d: Description, places: Mapping[str, np.ndarray], c: Connection, link: np.ndarray) -> DHRow:
    """Return the row's joint and the inertia of all that moves with its link, in the link frame."""
    parts = _rigid_group(d, c.child)
    masses = np.array([value_of(b.mass) for b in parts])
    to_link = [np.linalg.inv(link) @ places[b.name] for b in parts]
    points = np.array([X[:3, :3] @ np.array(values_of(b.com)) + X[:3, 3] for b, X in zip(parts, to_link)])
    com = masses @ points / masses.sum() if masses.any() else np.zeros(3)
    J = np.zeros((3, 3))
    for b, X, m, p in zip(parts, to_link, masses, points - com):
        J += X[:3, :3] @ b.inertia_matrix() @ X[:3, :3].T + m * (p @ p * np.eye(3) - np.outer(p, p))
    six = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    massless = "" if masses.any() or J.any() else next((b.massless for b in parts if b.massless), "")
    numbers = {
        key: getattr(c, key) for key in ("armature", "damping", "coulomb", "stiffness", "rest", "limits")
    }
    return DHRow(
        type=c.joint.type_name,
        name=c.name,
        link=c.child,
        mass=float(masses.sum()),
        com=tuple(map(float, com)),
        inertia=tuple(map(float, six)),
        massless=massless,
        **numbers,
    )


def _rigid_group(d: Description, body: str) -> list[Body]:
    """Return the body and all that is attached to it by fixed joints alone."""
    names = {body}
    for c in d.connections:
        if isinstance(c.joint, Fixed) and c.parent in names:
            names.add(c.child)
    return [b for b in d.bodies if b.name in names]


# numbers


def _convert(row: DHRow | DHPlace, key: str, conversion: Any) -> None:
    try:
        object.__setattr__(row, key, conversion(getattr(row, key)))
    except InputError as error:
        raise error.within(f"{type(row).__name__}.{key}", key) from None


def _angle(x: Any) -> float:
    """Return an angle as a plain number; its sine is written into constant rotations."""
    number = as_number(x)
    if not isinstance(number, float):
        raise InputError(
            Finding("", repr(x), "a plain number [rad]", "Named parameters can be lengths and masses.")
        )
    return number


def _sine_cosine(angle: float) -> tuple[float, float]:
    """Return sine and cosine, exact at multiples of 90 degrees as far as the angle is."""
    s, c = math.sin(angle), math.cos(angle)
    return (0.0 if abs(s) < 1e-15 else s), (0.0 if abs(c) < 1e-15 else c)


def _about_x(angle: float) -> tuple[float, float, float, float]:
    return math.cos(angle / 2), math.sin(angle / 2), 0.0, 0.0


def _about_z(angle: float) -> tuple[float, float, float, float]:
    return math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2)


def _product(x: Sequence[float], z: Sequence[float]) -> tuple[float, float, float, float]:
    """Return the product of a turn about x and one about z."""
    return x[0] * z[0], x[1] * z[0], -x[1] * z[3], x[0] * z[3]


def _turned_back(alpha: float, d: Number) -> tuple[Any, Any]:
    """Return y and z of the joint frame's origin in a standard link frame: -Rx(-alpha) (0, 0, d)."""
    s, c = _sine_cosine(alpha)
    return -s * d, -c * d


def _rounded_angle(angle: float) -> float:
    """Return the angle without the rounding of a multiple of 90 degrees."""
    count = round(angle / (math.pi / 2))
    quarter = (2 if count == -2 else count) * (math.pi / 2)
    return quarter + 0.0 if abs(math.sin((angle - quarter) / 2)) < 1e-12 else angle


def _zero(length: float, size: float) -> float:
    return 0.0 if abs(length) < 1e-14 * size else length


def _clean(X: np.ndarray) -> np.ndarray:
    """Return a pose whose last row is exact."""
    return np.concatenate([X[:3], [[0.0, 0.0, 0.0, 1.0]]])
