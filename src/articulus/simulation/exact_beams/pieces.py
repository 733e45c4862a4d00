"""A beam cut into nodes and elements: their constant numbers."""

from __future__ import annotations

import dataclasses

import numpy as np

from articulus.simulation.exact_beams import element, node
from articulus.simulation.exact_beams.beam import Beam

Array = np.ndarray


@dataclasses.dataclass(frozen=True)
class Pieces:
    """Elements, springs between two nodes, and nodes, rigid bodies.

    Attributes
    ----------
    undeformed : array, (elements, 6)
        Logarithm of the pose of each element's second node as seen from the first, without load.
    lengths : array, (elements,) [m]
    stiffness : array, (elements, 6, 6)
    inertia : array, (nodes, 6, 6)
        Inertia of each node in its own axes, angular part first.
    """

    undeformed: Array
    lengths: Array
    stiffness: Array
    inertia: Array

    @staticmethod
    def of(beam: Beam) -> Pieces:
        """Return the pieces of a beam."""
        d0 = element.strains()(beam.poses[:-1].copy(), beam.poses[1:].copy())
        lengths = np.linalg.norm(d0[:, 3:], axis=1)
        return Pieces(d0, lengths, _stiffness(beam, d0, lengths), _inertia(beam, d0, lengths))


def _stiffness(beam: Beam, undeformed: Array, lengths: Array) -> Array:
    known: dict[bytes, Array] = {}
    out = []
    for d0, h, section in zip(undeformed, lengths, beam.sections):
        key = np.round(d0, 13).tobytes() + section.compliance.tobytes()
        if key not in known:
            known[key] = element.stiffness(d0, h, section.compliance)
        out.append(known[key])
    return np.array(out)


def _inertia(beam: Beam, undeformed: Array, lengths: Array) -> Array:
    """Return the inertia of every node; see `node` for the quadrature."""
    mass, moment, turning = np.zeros(beam.nodes), np.zeros((beam.nodes, 3)), np.zeros((beam.nodes, 3, 3))
    for k, (d0, h, section) in enumerate(zip(undeformed, lengths, beam.sections)):
        rotary = np.diag(section.rotary)
        for end, inwards in ((k, 1), (k + 1, -1)):
            mass[end] += section.mass * h / 2
            moment[end] += inwards * section.mass * h * d0[3:] / 12
            turning[end] += rotary * h / 2
    out = np.array([node.inertia(*each) for each in zip(mass, moment, turning)])
    for body in beam.bodies:
        out[body.node] += node.inertia(body.mass, body.mass * body.center, body.inertia)
    return out
