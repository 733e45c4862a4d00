"""Joint types, one file each. `ALL_JOINTS` is the list that readers, documentation and tests go by."""

from articulus.model.mechanism.joint.base import Joint
from articulus.model.mechanism.joint.cylindrical import Cylindrical
from articulus.model.mechanism.joint.fixed import Fixed
from articulus.model.mechanism.joint.free import Free
from articulus.model.mechanism.joint.helical import Helical
from articulus.model.mechanism.joint.planar import Planar
from articulus.model.mechanism.joint.prismatic import Prismatic
from articulus.model.mechanism.joint.revolute import Revolute
from articulus.model.mechanism.joint.spherical import Spherical
from articulus.model.mechanism.joint.universal import Universal

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
