"""Joint types, one file each. `ALL_JOINTS` is the list that readers, documentation and tests go by."""

from articulus.mechanism.joint.base import Joint
from articulus.mechanism.joint.cylindrical import Cylindrical
from articulus.mechanism.joint.fixed import Fixed
from articulus.mechanism.joint.free import Free
from articulus.mechanism.joint.helical import Helical
from articulus.mechanism.joint.planar import Planar
from articulus.mechanism.joint.prismatic import Prismatic
from articulus.mechanism.joint.revolute import Revolute
from articulus.mechanism.joint.spherical import Spherical
from articulus.mechanism.joint.universal import Universal

ALL_JOINTS: tuple[type[Joint], ...] = (
    Fixed,
    Revolute,
    Prismatic,
    Helical,
    Cylindrical,
    Universal,
    Spherical,
    Planar,
    Free,
)

__all__ = [
    "ALL_JOINTS",
    "Cylindrical",
    "Fixed",
    "Free",
    "Helical",
    "Joint",
    "Planar",
    "Prismatic",
    "Revolute",
    "Spherical",
    "Universal",
]
