"""A row of four-bar linkages side by side."""

from __future__ import annotations

from articulus.errors import InputError
from articulus.model.mechanism import Body, Connection, Description, Frame, PointOnPoint, Pose, Revolute

LENGTH, MASS = 1.0, 1.0
ACROSS, ALONG = MASS * LENGTH**2 / 12, MASS * LENGTH**2 / 1200


def n_four_bar(n: int = 5) -> Description:
    """Return n four-bar linkages in a row: bars that stand on hinges at x = 0, 1, ..., n, joined by connectors.

    All bars and connectors are slender rods of 1 m and 1 kg in the x-z plane. At q = 0 the bars stand upright and the
    connectors lie level. With all bars level the mechanism is singular: for a moment it has n + 1 degrees of freedom, not one.
    Bar 0 starts with 1 rad/s in the standard problem: v = 1 at every `hinge`, -1 at every `knee`.

    Parameters
    ----------
    n : int
        Number of loops.

    Source: IFToMM library of computational benchmark problems, problem A02.
    """
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise InputError(f"n_four_bar: n = {n!r}; expected an integer of at least 1")
    axis = Revolute((0.0, 1.0, 0.0))
    bodies = [_bar(0)]
    joints = [Connection("hinge0", axis, "ground", "bar0")]
    frames = [_tip(0)]
    for i in range(1, n + 1):
        bodies += [_connector(i), _bar(i)]
        joints += [
            Connection(f"knee{i}", axis, f"bar{i - 1}", f"connector{i}", Pose((0.0, 0.0, LENGTH))),
            Connection(f"hinge{i}", axis, "ground", f"bar{i}", Pose((i * LENGTH, 0.0, 0.0))),
        ]
        frames += [Frame(f"end{i}", f"connector{i}", Pose((LENGTH, 0.0, 0.0))), _tip(i)]
    return Description.build(
        "n_four_bar",
        tuple(bodies),
        tuple(joints),
        tuple(frames),
        source="IFToMM benchmark A02, N-four-bar mechanism; the thickness of the rods (0.1 of their length) is assumed",
        constraints=tuple(PointOnPoint(f"loop{i}", f"tip{i}", f"end{i}") for i in range(1, n + 1)),
    )


def _bar(i: int) -> Body:
    return Body(f"bar{i}", MASS, (0.0, 0.0, LENGTH / 2), (ACROSS, ACROSS, ALONG, 0.0, 0.0, 0.0))


def _connector(i: int) -> Body:
    return Body(f"connector{i}", MASS, (LENGTH / 2, 0.0, 0.0), (ALONG, ACROSS, ACROSS, 0.0, 0.0, 0.0))


def _tip(i: int) -> Frame:
    return Frame(f"tip{i}", f"bar{i}", Pose((0.0, 0.0, LENGTH)))
