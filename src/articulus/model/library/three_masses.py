"""Three masses in a row on springs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from articulus.structure import Lumped, Spring, Structure

MASSES, STIFFNESSES = (1.0, 2.0, 1.5), (10.0, 20.0, 15.0)


def three_masses() -> Structure:
    """Return three masses of 1, 2 and 1.5 kg between springs of 10 N/m (to the ground), 20 and 15 N/m, that move along x.

    The third has a force "u 3x" and sensors "position 3x", "rate 3x"; D = 0.01 M + 0.02 K.

    Source: the model of three degrees of freedom of Park 1993, table 9.3; the paper gives no data, all numbers are assumed.
    """
    names = ("1", "2", "3")
    springs = [
        Spring(b, a, (k, 0.0, 0.0, 0.0, 0.0, 0.0)) for a, b, k in zip((None, *names), names, STIFFNESSES)
    ]
    masses = [Lumped(name, m) for name, m in zip(names, MASSES)]
    fixed: dict[str | int, Sequence[str]] = dict.fromkeys(names, ("y", "z", "rx", "ry", "rz"))
    out = Structure.assemble(np.zeros((3, 3)), [*masses, *springs], names=names, fixed=fixed)
    out = out.with_rayleigh_damping(0.01, 0.02).with_input("u 3x", "3", {"x": 1.0})
    return out.with_output("position 3x", "3", {"x": 1.0}).with_output("rate 3x", "3", {"x": 1.0}, rate=True)
