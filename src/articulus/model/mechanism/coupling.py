"""A joint that follows other joints: mimic joints, gears, racks, fixed tendons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from articulus.errors import Finding, InputError, did_you_mean, unlike
from articulus.model.mechanism.expression import Varying, text_of
from articulus.model.mechanism.joint import Joint
from articulus.model.mechanism.numbers import Number, Vector, as_number, as_numbers, convert, quantity

ONE = (1.0,)


@dataclass(frozen=True)
class Coupling:
    """The position of a joint is a function of the positions of other joints; all of them have one degree of freedom.

    With one joint in `to` the position is offset + ratio q, or, with `polynomial`, c0 + c1 q + c2 q^2 + ...; with several
    it is offset + ratio_1 q_1 + ratio_2 q_2 + ... . The coupled joint is no coordinate of the mechanism: q and v are those
    of the other joints, and forces in the coupled joint act through its ratio. No Lagrange multiplier is needed.

    Parameters
    ----------
    joint : str
        Joint that follows.
    to : str or sequence of str
        Joint or joints that it follows; they may follow others.
    ratio : number, or one per joint in `to` [rad/rad, m/rad, rad/m or m/m]
        Speed of the coupled joint over the speed of the other: -2 for a gear pair with half as many teeth on the
        coupled wheel, the pitch radius for a rack that follows a pinion.
    offset : number [rad or m]
        Position of the coupled joint where the others are at zero.
    polynomial : numbers c0, c1, ...
        In place of ratio and offset, for one joint in `to`; c_k in the unit of the coupled joint over that of the other
        to the power k.
    """

    joint: str = field(metadata={"names_table": True})
    to: tuple[str, ...] = field(metadata={"meaning": "joint or joints that it follows"})
    ratio: Vector = quantity(
        "m/m, rad/rad, m/rad or rad/m",
        "speed over that of each joint that it follows",
        size="any",
        default=ONE,
    )
    offset: Number = quantity(
        "rad or m", "position where the joints that it follows are at zero", default=0.0
    )
    polynomial: Vector = quantity(
        "that of the joint over that of the other to the power k",
        "c0, c1, c2, ... in place of ratio and offset",
        size="any",
        default=(),
    )

    def __post_init__(self) -> None:
        convert(self, to=_names, ratio=as_numbers, offset=as_number, polynomial=as_numbers)
        if not isinstance(self.joint, str):
            raise InputError(
                Finding("Coupling.joint", repr(self.joint), "the name of a joint", field="joint")
            )
        if self.ratio == ONE:
            object.__setattr__(self, "ratio", ONE * len(self.to))

    def position(self, followed: Sequence[Any], number: Callable[[Number], Any]) -> Any:
        """Return the position of the coupled joint [rad or m].

        Parameters
        ----------
        followed : sequence
            Positions of the joints in `to`, numbers or symbols.
        number : callable
            Makes a number or symbol of a number of the model.
        """
        if self.polynomial:
            total = number(self.polynomial[-1])
            for c in reversed(self.polynomial[:-1]):
                total = number(c) + total * followed[0]
            return total
        return sum((number(r) * q for r, q in zip(self.ratio, followed)), number(self.offset))

    def formula(self) -> str:
        """Return the position as a text, such as "0.2 - 3 finger1"."""
        if self.polynomial:
            terms = [
                (c, f"{self.to[0]}^{k}" if k > 1 else self.to[0] * k) for k, c in enumerate(self.polynomial)
            ]
        else:
            terms = [(self.offset, ""), *zip(self.ratio, self.to)]
        shown = [_term(number, name) for number, name in terms if isinstance(number, Varying) or number]
        return " + ".join(shown).replace("+ -", "- ") or "0"

    def findings(self, where: str, joints: Mapping[str, Joint]) -> Iterator[Finding]:
        """Yield what is wrong with the coupling in a mechanism with these joints."""
        for key, name in (("joint", self.joint), *(("to", name) for name in self.to)):
            at = where if key == "joint" else f"{where}.to"
            if name not in joints:
                yield Finding(at, repr(name), "the name of a joint", did_you_mean(str(name), joints))
            elif joints[name].nv != 1:
                kind = joints[name]
                found = f"'{name}', a {kind.type_name} joint with {kind.nv} degrees of freedom"
                yield Finding(at, found, "a joint with one degree of freedom")
        if not self.to:
            yield Finding(f"{where}.to", "no joint", "the joint that it follows")
        if len(set(self.to)) < len(self.to):
            yield Finding(f"{where}.to", f"{list(self.to)}", "each joint once", "Add their ratios.")
        if self.joint in self.to:
            yield Finding(f"{where}.to", f"'{self.joint}', the coupled joint itself", "other joints")
        if len(self.ratio) != len(self.to):
            yield Finding(
                f"{where}.ratio", f"{len(self.ratio)} numbers", f"{len(self.to)}, one per joint in `to`"
            )
        if self.polynomial and (len(self.to) != 1 or self.ratio != ONE or self.offset != 0.0):
            yield Finding(
                f"{where}.polynomial",
                "a polynomial together with several joints, a ratio or an offset",
                "the polynomial alone, of one joint",
                "Its first two coefficients are offset and ratio.",
            )


def _term(number: Number, name: str) -> str:
    if isinstance(number, Varying):
        return f"({text_of(number)}) {name}".strip()
    sign = "-" if number < 0 else ""
    return f"{sign}{name}" if name and abs(number) == 1 else f"{number:.6g} {name}".strip()


def _names(to: Any) -> tuple[str, ...]:
    names = (to,) if isinstance(to, str) else tuple(to) if isinstance(to, (list, tuple)) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise unlike("the name of a joint or several names", repr(to))
    return names


def in_order(couplings: Sequence[Coupling]) -> tuple[list[Coupling], list[Coupling]]:
    """Return the couplings such that each comes after those that it follows, and those that form or follow a cycle."""
    left, done = list(couplings), list[Coupling]()
    while left:
        waiting = {c.joint for c in left}
        ready = [c for c in left if not waiting & set(c.to)]
        if not ready:
            break
        done += ready
        left = [c for c in left if c not in ready]
    return done, left


def coupling_findings(couplings: Sequence[Coupling], joints: Mapping[str, Joint]) -> Iterator[Finding]:
    """Yield what is wrong with the couplings of a mechanism."""
    seen: set[str] = set()
    for c in couplings:
        where = f"coupling.{c.joint}"
        if c.joint in seen:
            yield Finding(where, f"a second coupling of joint '{c.joint}'", "one coupling per joint")
        seen.add(c.joint)
        yield from c.findings(where, joints)
    _, cyclic = in_order([c for c in couplings if c.joint not in c.to])
    if cyclic:
        names = " , ".join(f"'{c.joint}' follows {', '.join(repr(n) for n in c.to)}" for c in cyclic)
        yield Finding(
            f"coupling.{cyclic[0].joint}",
            f"a cycle: {names}",
            "couplings that end at joints that follow none",
            "One joint of a gear train stays free: leave its coupling out.",
        )
