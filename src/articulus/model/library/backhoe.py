"""A backhoe with its three cylinders and the four-bar linkage of its bucket, all as bodies."""

from __future__ import annotations

import math

import numpy as np

from articulus.model.mechanism import (
    Body,
    Connection,
    Cylindrical,
    Description,
    Frame,
    Joint,
    Limits,
    LoopJoint,
    Pose,
    Prismatic,
    Revolute,
    Spherical,
)

BOOM, DIPPER, BUCKET = (2.6, 40.0), (1.8, -70.0), (0.9, -140.0)
"""Assumed: length [m], and angle over the horizontal at q = 0 [deg]."""
HINGE = (0.4, 0.6)
"""Assumed: hinge of the boom on the tower, forward and up [m]."""
EYES = {
    "boom": (("tower", (0.75, 0.25)), ("boom", (1.1, -0.2))),
    "dipper": (("boom", (0.9, 0.35)), ("dipper", (-0.4, 0.1))),
    "bucket": (("dipper", (0.25, 0.3)), ("dipper", (1.45, 0.38))),
}
"""Assumed: body and place of the eyes of barrel and rod [m], along the link from its hinge and to its left; the rod of the bucket's
cylinder ends at the pin of the two couplers, given along the dipper at q = 0."""
COUPLER_1, COUPLER_2 = (1.52, 0.03), (0.3, 100.0)
"""Assumed: hinge of the first coupler on the dipper [m]; distance of the second one's hinge from that of the bucket [m], and its
angle from the dipper at q = 0 [deg]."""
MASS = {"tower": 300.0, "boom": 350.0, "dipper": 200.0, "bucket": 180.0, "coupler1": 10.0, "coupler2": 15.0}
"""Assumed [kg]."""
CYLINDERS = {"boom": (60.0, 30.0), "dipper": (45.0, 22.0), "bucket": (40.0, 20.0)}
"""Assumed: masses of barrel and rod [kg]."""
STROKE = {"boom": (-0.4, 0.24), "dipper": (-0.4, 0.18), "bucket": (-0.15, 0.38)}
"""Assumed: limits of the rods [m]: boom -10 to 70 deg and dipper -10 to -110 deg over the horizontal, 125 deg of the bucket."""
DAMPING = 10e3
"""Viscous friction of the boom's cylinder that fitted the measured motion, with 15e3 [N s/m]."""
Z = (0.0, 0.0, 1.0)


def backhoe() -> Description:
    """Return a backhoe: tower, boom, dipper, bucket, two couplers, and barrel and rod of three cylinders.

    Link frames have x forward and y up at q = 0, where everything is closed; z is the axis of the hinges. `swing` turns the tower,
    slides `boom_rod`, `dipper_rod` and `bucket_rod` are what actuators drive. Joints are those of the source: revolute, cylindrical
    and spherical ones in every loop so that no constraint is redundant. 17 velocities, 13 constraint rows, four degrees of freedom.

    Source: Yae, Hwang & Chern 1989 (bodies, joints, friction of the boom's cylinder); all dimensions and masses are assumed.
    """
    tip = {"boom": _along(BOOM), "dipper": _along(DIPPER), "bucket": _along(BUCKET)}
    hinge = {"tower": np.zeros(2), "boom": np.array(HINGE)}
    hinge["dipper"] = hinge["boom"] + tip["boom"]
    hinge["bucket"] = hinge["dipper"] + tip["dipper"]
    angle = {"tower": 0.0, "boom": BOOM[1], "dipper": DIPPER[1], "bucket": BUCKET[1]}

    def place(body: str, local: tuple[float, float]) -> np.ndarray:
        return hinge[body] + _rotate(local, angle[body])

    def joint(name: str, kind: Joint, parent: str, child: str, at: np.ndarray, **more: object) -> Connection:
        return Connection(name, kind, parent, child, _pose(at - hinge[parent]), **more)  # type: ignore[arg-type]

    upright = Pose((0.0, 0.0, 0.0), (math.pi / 2, 0.0, 0.0))
    bodies = [Body("tower", MASS["tower"], (0.1, 0.4, 0.0), (15.0, 15.0, 15.0, 0.0, 0.0, 0.0))]
    joints = [Connection("swing", Revolute((0.0, 1.0, 0.0)), "ground", "tower", upright)]
    for parent, link in (("tower", "boom"), ("boom", "dipper"), ("dipper", "bucket")):
        bodies.append(_link(link, MASS[link], tip[link]))
        joints.append(joint(link, Revolute(Z), parent, link, hinge[link]))
    ends, loops = {}, []
    for name, (barrel, rod) in EYES.items():
        start, end = place(*barrel), place(*rod)
        hinge[f"{name}_cylinder"], ends[name] = start, end
        bodies += _cylinder(name, end - start)
        joints.append(joint(f"{name}_barrel", Cylindrical(Z), barrel[0], f"{name}_cylinder", start))
        low, high = STROKE[name]
        joints.append(
            Connection(
                f"{name}_rod",
                Prismatic(_unit(end - start)),
                f"{name}_cylinder",
                f"{name}_piston",
                damping=(DAMPING,) if name == "boom" else (),
                limits=Limits((low,), (high,)),
            )
        )
    for name in ("boom", "dipper"):
        at = _pose(ends[name] - hinge[name]), _pose(ends[name] - hinge[f"{name}_cylinder"])
        loops.append(LoopJoint(f"{name}_eye", Spherical(), name, f"{name}_piston", *at))
    hinge["coupler1"], hinge["coupler2"] = place("dipper", COUPLER_1), ends["bucket"]
    last = hinge["bucket"] + _rotate((COUPLER_2[0], 0.0), DIPPER[1] + COUPLER_2[1])
    bodies.append(_link("coupler1", MASS["coupler1"], hinge["coupler2"] - hinge["coupler1"]))
    bodies.append(_link("coupler2", MASS["coupler2"], last - hinge["coupler2"]))
    joints.append(joint("coupler1", Spherical(), "dipper", "coupler1", hinge["coupler1"]))
    joints.append(joint("coupler2", Revolute(Z), "coupler1", "coupler2", hinge["coupler2"]))
    at = _pose(ends["bucket"] - hinge["coupler1"]), _pose(ends["bucket"] - hinge["bucket_cylinder"])
    loops.append(LoopJoint("bucket_eye", Spherical(), "coupler1", "bucket_piston", *at))
    at = _pose(last - hinge["bucket"]), _pose(last - hinge["coupler2"])
    loops.append(LoopJoint("bucket_link", Cylindrical(Z), "bucket", "coupler2", *at))
    return Description.build(
        "backhoe",
        tuple(bodies),
        tuple(joints),
        (Frame("bucket_tip", "bucket", _pose(tip["bucket"])),),
        source="Yae, Hwang & Chern 1989: bodies, joints, friction of the boom's cylinder; all dimensions and masses are assumed",
        constraints=tuple(loops),
    )


def _along(link: tuple[float, float]) -> np.ndarray:
    return _rotate((link[0], 0.0), link[1])


def _rotate(local: tuple[float, float], degrees: float) -> np.ndarray:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([c * local[0] - s * local[1], s * local[0] + c * local[1]])


def _pose(at: np.ndarray) -> Pose:
    return Pose((float(at[0]), float(at[1]), 0.0))


def _unit(direction: np.ndarray) -> tuple[float, float, float]:
    x, y = direction / np.linalg.norm(direction)
    return float(x), float(y), 0.0


def _link(name: str, mass: float, reach: np.ndarray, start: float = 0.0, end: float = 1.0) -> Body:
    """Return a uniform bar over a part of the line from the origin to `reach`, a tenth of its length thick."""
    length = (end - start) * float(np.linalg.norm(reach))
    across, along = mass * length**2 / 12, mass * (0.1 * length) ** 2 / 6
    x, y, _ = _unit(reach)
    less = across - along
    inertia = (across - less * x * x, across - less * y * y, across, -less * x * y, 0.0, 0.0)
    middle = 0.5 * (start + end) * reach
    return Body(name, mass, (float(middle[0]), float(middle[1]), 0.0), inertia)


def _cylinder(name: str, reach: np.ndarray) -> list[Body]:
    """Return barrel and rod, each over six tenths of the distance of the eyes; both frames are at the eye of the barrel."""
    barrel, rod = CYLINDERS[name]
    return [
        _link(f"{name}_cylinder", barrel, reach, 0.0, 0.6),
        _link(f"{name}_piston", rod, reach, 0.4, 1.0),
    ]
