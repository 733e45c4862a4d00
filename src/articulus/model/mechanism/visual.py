"""What a body looks like: simple solids and meshes of triangles, fixed to its frame. The equations know nothing of them."""

from __future__ import annotations

import abc
import dataclasses
import functools
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from articulus.errors import Finding, InputError
from articulus.model.mechanism.expression import Varying
from articulus.model.mechanism.numbers import (
    as_number,
    convert,
    not_finite,
    parameters_in,
    quantity,
    three,
    values_of,
)
from articulus.model.mechanism.pose import Pose

MAX_TRIANGLES = 1_000_000
"""Most triangles of a mesh."""
LARGEST = 1e9
"""Largest length and coordinate [m]: what single precision, with which pictures are drawn, can square."""

_COLOR = re.compile(r"#(?:[0-9a-f]{2}){3,4}")


@dataclass(frozen=True, kw_only=True)
class Visual(abc.ABC):
    """A shape that is drawn for a body.

    Parameters
    ----------
    at : Pose, three numbers [m] or a 4 x 4 matrix
        Pose in the body frame; numbers only, no parameters.
    color : str
        "#rrggbb", or "#rrggbbaa" for a translucent one; that of the body if not given.

    Attributes
    ----------
    type_name : str
        Name in model files.
    """

    in_file = "visual"

    type_name: ClassVar[str]
    at: Pose = dataclasses.field(default=Pose(), metadata={"meaning": "pose in the body frame"})
    color: str = dataclasses.field(
        default="",
        metadata={"meaning": "`#rrggbb`, or `#rrggbbaa` for a translucent one; without it the body's"},
    )

    def __post_init__(self) -> None:
        convert(self, at=_fixed, color=_color)

    @abc.abstractmethod
    def bounds(self) -> np.ndarray:
        """Return the two corners of the box around it, in its own axes, (2, 3) [m]."""

    def corners(self) -> np.ndarray:
        """Return the eight corners of the box around it in the body frame, (8, 3) [m]."""
        X = self.at.matrix()
        return box_corners(self.bounds()) @ X[:3, :3].T + X[:3, 3]

    def rename(self, name: Callable[[str], str]) -> Visual:
        """Return the same shape where bodies have other names."""
        return self

    def move(self, X: np.ndarray) -> Visual:
        """Return the same shape on a body in which this one's body has the pose X, (4, 4)."""
        return dataclasses.replace(self, at=Pose.from_matrix(X @ self.at.matrix()))


@dataclass(frozen=True)
class Box(Visual):
    """A box about its origin.

    Parameters
    ----------
    size : three numbers [m]
        Lengths along x, y, z.
    """

    type_name: ClassVar[str] = "box"
    size: tuple[float, ...] = quantity("m", "lengths along x, y, z", size="3")

    def __post_init__(self) -> None:
        super().__post_init__()
        convert(self, size=_lengths)

    def bounds(self) -> np.ndarray:
        return _about_origin(0.5 * np.array(self.size))


@dataclass(frozen=True)
class Cylinder(Visual):
    """A cylinder about z, its middle in the origin.

    Parameters
    ----------
    radius, length : float [m]
    """

    type_name: ClassVar[str] = "cylinder"
    radius: float = quantity("m", "radius")
    length: float = quantity("m", "length along z, from the one flat end to the other")

    def __post_init__(self) -> None:
        super().__post_init__()
        convert(self, radius=_length, length=_length)

    def bounds(self) -> np.ndarray:
        return _about_origin(np.array([self.radius, self.radius, 0.5 * self.length]))


@dataclass(frozen=True)
class Capsule(Visual):
    """A cylinder about z with a half ball on each end, its middle in the origin.

    Parameters
    ----------
    radius, length : float [m]
        `length` is that of the cylinder, without the half balls.
    """

    type_name: ClassVar[str] = "capsule"
    radius: float = quantity("m", "radius")
    length: float = quantity("m", "length along z between the centers of the two half balls")

    def __post_init__(self) -> None:
        super().__post_init__()
        convert(self, radius=_length, length=_length)

    def bounds(self) -> np.ndarray:
        return _about_origin(np.array([self.radius, self.radius, 0.5 * self.length + self.radius]))


@dataclass(frozen=True)
class Sphere(Visual):
    """A ball about its origin.

    Parameters
    ----------
    radius : float [m]
    """

    type_name: ClassVar[str] = "sphere"
    radius: float = quantity("m", "radius")

    def __post_init__(self) -> None:
        super().__post_init__()
        convert(self, radius=_length)

    def bounds(self) -> np.ndarray:
        return _about_origin(np.full(3, self.radius))


@dataclass(frozen=True)
class Ellipsoid(Visual):
    """An ellipsoid about its origin.

    Parameters
    ----------
    radii : three numbers [m]
        Half axes along x, y, z.
    """

    type_name: ClassVar[str] = "ellipsoid"
    radii: tuple[float, ...] = quantity("m", "half axes along x, y, z", size="3")

    def __post_init__(self) -> None:
        super().__post_init__()
        convert(self, radii=_lengths)

    def bounds(self) -> np.ndarray:
        return _about_origin(np.array(self.radii))


@dataclass(frozen=True)
class Strut(Visual):
    """A telescope between two bodies, such as a hydraulic cylinder: from the origin of `at` to a point of another body.

    Parameters
    ----------
    body : str
        Body at its other end.
    end : three numbers [m]
        Its other end, in the frame of that body.
    radius : float [m]
        Radius of the barrel; the rod is about half as thick.
    """

    type_name: ClassVar[str] = "strut"
    body: str = dataclasses.field(metadata={"meaning": "body at its other end"})
    end: tuple[float, ...] = quantity("m", "its other end, in the frame of that body", size="3")
    radius: float = quantity("m", "radius of the barrel")

    def __post_init__(self) -> None:
        super().__post_init__()
        convert(self, end=_point, radius=_length)
        if not isinstance(self.body, str):
            raise InputError(Finding("Strut.body", repr(self.body), "the name of a body", field="body"))

    def bounds(self) -> np.ndarray:
        return _about_origin(np.full(3, self.radius))

    def rename(self, name: Callable[[str], str]) -> Strut:
        return dataclasses.replace(self, body=name(self.body))


@dataclass(frozen=True, eq=False, repr=False)
class Mesh(Visual):
    """Triangles. Arrays are copied, kept in single precision and cannot be written to.

    Parameters
    ----------
    vertices : array, (n, 3) [m]
    triangles : array of int, (m, 3)
        Vertices of each, counted from zero, counter-clockwise seen from outside; at most a million.
    colors : array of bytes, (m, 3), or None
        Red, green and blue of each triangle; without them all have the color of the whole.
    """

    type_name: ClassVar[str] = "mesh"
    vertices: np.ndarray
    triangles: np.ndarray
    colors: np.ndarray | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        convert(self, vertices=_vertices, triangles=_triangles, colors=_colors)
        if self.colors is not None and len(self.colors) != len(self.triangles):
            raise InputError(
                Finding(
                    "Mesh.colors",
                    f"{len(self.colors)} colors",
                    f"{len(self.triangles)}, one per triangle",
                    field="colors",
                )
            )
        if not 0 <= self.triangles.min() <= self.triangles.max() < len(self.vertices):
            raise InputError(
                Finding(
                    "Mesh.triangles",
                    f"the vertex {self.triangles.max()}",
                    f"0 to {len(self.vertices) - 1}, one of the {len(self.vertices)} vertices",
                    field="triangles",
                )
            )

    def bounds(self) -> np.ndarray:
        return self._bounds

    @functools.cached_property
    def _bounds(self) -> np.ndarray:
        return _read_only(np.array([self.vertices.min(axis=0), self.vertices.max(axis=0)], dtype=float))

    def scale(self, scale: Sequence[float]) -> Mesh:
        """Return the mesh with x, y, z multiplied by three factors; mirrored triangles still face outwards."""
        factors = np.array(scale, dtype=float)
        order = [0, 1, 2] if np.prod(np.sign(factors)) > 0 else [0, 2, 1]
        return dataclasses.replace(self, vertices=self.vertices * factors, triangles=self.triangles[:, order])

    @functools.cached_property
    def geometry(self) -> str:
        """Return a hash of vertices, triangles and their colors: meshes with equal ones differ at most in pose and color."""
        digest = hashlib.sha256(self.vertices.tobytes())
        digest.update(self.triangles.tobytes())
        digest.update(b"" if self.colors is None else self.colors.tobytes())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        mine = isinstance(other, Mesh) and (self.at, self.color) == (other.at, other.color)
        return mine and self.geometry == other.geometry  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((self.at, self.color, self.geometry))

    def __repr__(self) -> str:
        return f"<Mesh of {len(self.triangles)} triangles>"


ALL_VISUALS: tuple[type[Visual], ...] = (Box, Cylinder, Capsule, Sphere, Ellipsoid, Strut, Mesh)


def as_visuals(given: Any) -> tuple[Visual, ...]:
    """Return shapes as a tuple; raise InputError when one is none."""
    try:
        found = tuple(given)
    except TypeError:
        raise InputError(Finding("", repr(given), "a list of shapes such as [Box(size=...)]")) from None
    for item in found:
        if not isinstance(item, Visual):
            raise InputError(Finding("", repr(item), "a shape such as Box(size=(1.0, 0.2, 0.2))"))
    return found


def box_corners(ends: np.ndarray) -> np.ndarray:
    """Return the eight corners of a box from two opposite ones (2, 3), (8, 3)."""
    return np.array([[ends[i, 0], ends[j, 1], ends[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])


def color_text(rgba: Sequence[float]) -> str:
    """Return "#rrggbb", or "#rrggbbaa", of red, green, blue and opacity between 0 and 1."""
    text = "#" + "".join(f"{round(255 * min(max(float(x), 0.0), 1.0)):02x}" for x in rgba)
    return text.removesuffix("ff") if len(text) == 9 else text


def _fixed(value: Any) -> Pose:
    pose = Pose.of(value)
    if any(True for _ in parameters_in(pose)):
        raise InputError(Finding("", "a parameter", "plain numbers: a drawing does not change"))
    if any(True for _ in not_finite("", pose)) or max(map(abs, values_of(pose.xyz))) > LARGEST:
        raise InputError(Finding("", f"{pose.xyz}", f"finite numbers up to {LARGEST:g} m"))
    return pose


def _color(text: Any) -> str:
    lower = text.lower() if isinstance(text, str) else ""
    if text != "" and not _COLOR.fullmatch(lower):
        raise InputError(Finding("", repr(text), 'a color such as "#d55e00", or nothing'))
    return lower


def _length(x: Any) -> float:
    number = as_number(x)
    if isinstance(number, Varying) or not 0 < number <= LARGEST:
        raise InputError(Finding("", repr(x), f"a plain number above zero, up to {LARGEST:g} m"))
    return number


def _lengths(x: Any) -> tuple[float, ...]:
    return tuple(map(_length, three(x)))


def _point(x: Any) -> tuple[float, ...]:
    numbers = three(x)
    if any(isinstance(n, Varying) or not abs(n) <= LARGEST for n in numbers):
        raise InputError(Finding("", repr(x), f"three plain numbers, up to {LARGEST:g} m"))
    return values_of(numbers)


def _about_origin(half: np.ndarray) -> np.ndarray:
    return np.array([-half, half])


def _vertices(x: Any) -> np.ndarray:
    found = _array(x, float)
    if not (np.isfinite(found).all() and np.abs(found).max() <= LARGEST):
        raise InputError(Finding("", f"a coordinate beyond {LARGEST:g} m, or none", "finite numbers"))
    if len(found) > 3 * MAX_TRIANGLES:
        raise InputError(Finding("", f"{len(found)} vertices", f"at most {3 * MAX_TRIANGLES}"))
    return _read_only(found.astype(np.float32))


def _triangles(x: Any) -> np.ndarray:
    found = _array(x, np.int64)
    if len(found) > MAX_TRIANGLES:
        raise InputError(Finding("", f"{len(found)} triangles", f"at most {MAX_TRIANGLES}"))
    if found.max() >= 3 * MAX_TRIANGLES or found.min() < 0:
        raise InputError(
            Finding("", f"a vertex {found.min()} or {found.max()}", f"0 to {3 * MAX_TRIANGLES - 1}")
        )
    return _read_only(found.astype(np.int32))


def _colors(x: Any) -> np.ndarray | None:
    if x is None:
        return None
    found = _array(x, np.int64)
    if found.max() > 255 or found.min() < 0:
        raise InputError(Finding("", f"a color of {found.min()} or {found.max()}", "0 to 255"))
    return _read_only(found.astype(np.uint8))


def _array(x: Any, kind: type) -> np.ndarray:
    try:
        found = np.asarray(x)
        right = found.ndim == 2 and found.shape[1] == 3 and len(found) > 0
        if right and (kind is float or np.issubdtype(found.dtype, np.integer)):
            return found.astype(kind, copy=False)
    except (TypeError, ValueError, OverflowError):
        found = np.zeros(())
    numbers = "numbers" if kind is float else "whole numbers"
    raise InputError(Finding("", f"an array of shape {found.shape}", f"(n, 3) {numbers}, n at least 1"))


def _read_only(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array
