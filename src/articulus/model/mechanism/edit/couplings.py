"""What becomes of couplings when joints are held, go, get other names or other sizes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from articulus.errors import InputError
from articulus.model.mechanism.coupling import Coupling
from articulus.model.mechanism.description import Description
from articulus.model.mechanism.numbers import Number, parameters_in, value_of


def held_followers(
    d: Description, positions: Mapping[str, Sequence[float]]
) -> tuple[dict[str, Sequence[float]], tuple[Coupling, ...]]:
    """Return all joints that are held when some are, with their positions, and the couplings that are left.

    A joint all of whose leaders are held is held, too; one with a leader that moves keeps its coupling to that.
    """
    held, left = dict(positions), list[Coupling]()
    for name in positions:
        d.require_independent(name, "with_locked")
    for c in d.couplings:
        still = {name: float(np.ravel(held[name])[0]) for name in c.to if name in held}
        if not still:
            left.append(c)
        elif len(still) == len(c.to):
            held[c.joint] = [_position(c, still)]
        else:
            kept = [(name, r) for name, r in zip(c.to, c.ratio) if name not in still]
            offset = c.offset
            for name, r in zip(c.to, c.ratio):
                offset = offset + r * still[name] if name in still else offset
            names, ratios = zip(*kept)
            left.append(Coupling(c.joint, names, ratios, offset))
    return held, tuple(left)


def _position(c: Coupling, at: Mapping[str, float]) -> float:
    """Return the position of a coupled joint whose leaders are locked."""
    if any(True for _ in parameters_in(c)):
        raise InputError(
            f"locked: joint '{c.joint}' follows a joint that is locked by a coupling with a parameter, so that its position is not "
            "a number; expected plain numbers in that coupling"
        )
    return float(c.position([at[name] for name in c.to], value_of))


def without_joints(couplings: Sequence[Coupling], gone: Collection[str]) -> tuple[Coupling, ...]:
    """Return the couplings that name no removed joint."""
    return tuple(c for c in couplings if not {c.joint, *c.to} & set(gone))


def rename_couplings(couplings: Sequence[Coupling], prefix: str) -> tuple[Coupling, ...]:
    """Return couplings of joints with a prefix before their names."""
    return tuple(
        dataclasses.replace(c, joint=prefix + c.joint, to=tuple(prefix + name for name in c.to))
        for c in couplings
    )


def scaled_couplings(
    d: Description, length: float, times: Callable[[Number, float], Number]
) -> tuple[Coupling, ...]:
    """Return couplings in another unit of length; `times` multiplies a number by a factor."""
    size = {c.name: 1.0 if c.joint.nv != 1 or c.joint.rotational[0] else length for c in d.connections}
    out = []
    for c in d.couplings:
        own, other = size[c.joint], size[c.to[0]]
        out.append(
            dataclasses.replace(
                c,
                ratio=tuple(times(r, own / size[name]) for r, name in zip(c.ratio, c.to))
                if not c.polynomial
                else c.ratio,
                offset=times(c.offset, own),
                polynomial=tuple(times(x, own / other**k) for k, x in enumerate(c.polynomial)),
            )
        )
    return tuple(out)
