"""Frequencies of the two-link flexible arm, and the laws of its equations."""

import numpy as np

from articulus.beams import Chain, Element

BRACKET = 1e5
MOTOR = 5.415


def arm(bending: float, in_element: float = 0.5) -> Chain:
    """Return the arm of the paper's table.

    Parameters
    ----------
    bending : float [N m^2]
        Of the links.
    in_element : float
        Part of the mass of the bracket and motor at joint 2 that is spread over the bracket; the rest sits at the joint.
    """
    first = (
        _piece(0.0635, 0.545, BRACKET),
        *_link(0.504, 0.640, bending),
        _piece(0.107, in_element * MOTOR, BRACKET),
    )
    second = (_piece(0.104, 0.830, BRACKET), *_link(0.489, 0.313, bending))
    return Chain((first, second), points={len(first): (1 - in_element) * MOTOR})


def compute() -> dict:
    flexible = arm(100.0)
    joints = flexible.joints
    straight = flexible.position(np.zeros(flexible.nodes))[:, 0]
    fixed = [_hertz(arm(100.0, part), joints) for part in (0.0, 0.5, 1.0)]
    turning, *_ = flexible.energy(np.zeros(flexible.nodes), np.ones(flexible.nodes))
    return {
        "length [m]": straight[-1],
        "hub to joint 2 [m]": straight[joints[1]],
        "moment of inertia about the hub, straight [kg m^2]": 2 * turning,
        "joints fixed: first frequency, reported [Hz]": fixed[2][0],
        "joints fixed: first frequency, motor at the joint and in its bracket [Hz]": [
            fixed[0][0],
            fixed[2][0],
        ],
        "joints fixed: second frequency [Hz]": fixed[1][1],
        "joints fixed: EI = 1000 over EI = 100": _hertz(arm(1000.0), joints)[0] / fixed[1][0],
        "joints free: modes of zero frequency": np.sum(_hertz(flexible, [])[:3] < 1e-2),
        "energy: largest change in 0.2 s": swing(flexible),
    }


def swing(chain: Chain) -> float:
    """Return the largest relative change of energy of a free swing with bent elbow [-]."""
    start = np.where(np.arange(chain.nodes) < chain.joints[1], 1.2, 0.3)
    _, theta, rates = chain.simulate(0.2, 400, start, 2 * np.ones(chain.nodes), rho_inf=1.0)
    total = np.sum(chain.energy(theta, rates), axis=0)
    return float(np.ptp(total) / total[0])


def _hertz(chain: Chain, held: list[int]) -> np.ndarray:
    return chain.modes(held)[0] / (2 * np.pi)


def _piece(length: float, mass: float, bending: float) -> Element:
    return Element(length, bending, mass / length)


def _link(length: float, mass: float, bending: float) -> tuple[Element, ...]:
    return (_piece(length / 3, mass / 3, bending),) * 3
