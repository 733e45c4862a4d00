"""Quantities of a mechanism as C99."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from articulus.bridges.c import vectors
from articulus.bridges.c.module import Argument, CFunction, CModule, identifier
from articulus.dynamics import quantities
from articulus.dynamics.mechanism import Mechanism
from articulus.dynamics.quantities import QUANTITIES
from articulus.errors import InputError, did_you_mean
from articulus.model.files.storage import StrPath
from articulus.model.mechanism import Description
from articulus.model.mechanism.numbers import value_of
from articulus.simulation.results.signal import force_signal, position_signal, velocity_signal

TESTED = 3
"""States at which the test program of exported C asks every function."""


@dataclass(frozen=True)
class Asked:
    """One quantity of an export.

    Parameters
    ----------
    quantity : str
    frames, wrenches : tuple of str
        Frames that it is about, and frames on which external wrenches act.
    """

    quantity: str
    frames: tuple[str, ...] = ()
    wrenches: tuple[str, ...] = ()

    @staticmethod
    def of(text: str) -> Asked:
        """Return what a text such as "forward_dynamics", "pose:tool" or "forward_dynamics@tool" asks."""
        if not isinstance(text, str):
            raise InputError(f"export of C: found {text!r}; expected the name of a quantity")
        asked, *wrenches = text.split("@")
        quantity, *frames = asked.split(":")
        if quantity not in QUANTITIES:
            raise InputError(f"export of C: no quantity '{quantity}'; {did_you_mean(quantity, QUANTITIES)}")
        return Asked(quantity, tuple(frames), tuple(wrenches))

    @property
    def name(self) -> str:
        """Name of its C function, without the prefix."""
        parts = (self.quantity, *self.frames, *(("under", *self.wrenches) if self.wrenches else ()))
        return "_".join(map(identifier, parts))

    @property
    def meaning(self) -> str:
        """First line of its text in the header."""
        about = f" of {', '.join(self.frames)}" if self.frames else ""
        under = (
            f" under wrenches on {', '.join(self.wrenches)} (moment, force; ground axes) [N m, N]"
            if self.wrenches
            else ""
        )
        return self.quantity.replace("_", " ") + about + under


def export_quantities(
    mechanism: Mechanism,
    asked: Sequence[str],
    folder: StrPath,
    *,
    name: str = "",
    real: str = "double",
) -> list[Path]:
    """Write C99 source of quantities of a mechanism, with header, Makefile and a test program; return the paths.

    Parameters
    ----------
    mechanism : Mechanism
        Its named parameters become a struct.
    asked : sequence of str
        Names of quantities, such as "forward_dynamics"; about frames "pose:tool"; under external wrenches "forward_dynamics@tool".
    folder : path
        Made if need be.
    name : str
        Prefix of all public names and of the files; that of the mechanism if not given.
    real : str
        Type of a number: "double" or "float".

    Raises
    ------
    InputError
        A quantity or frame that does not exist, or a quantity that a closed mechanism does not have.
    """
    module = quantities_module(mechanism, asked, name, real)
    rng = np.random.default_rng(0)
    cases = {f.name: [inputs(mechanism, f, rng) for _ in range(TESTED)] for f in module.functions}
    return module.write(folder, vectors.program(module, cases))


def quantities_module(
    mechanism: Mechanism, asked: Iterable[str], name: str = "", real: str = "double"
) -> CModule:
    """Return the C functions of quantities of a mechanism, not written yet."""
    wanted = dict.fromkeys(Asked.of(text) for text in ([asked] if isinstance(asked, str) else asked))
    if not wanted:
        raise InputError("export of C: found no quantity; expected some, such as forward_dynamics")
    d = mechanism.description
    held = {p.name: (value_of(p), "") for p in d.parameters}
    about = f"Mechanism '{d.name}': {len(d.bodies)} bodies, nq = {d.nq}, nv = {d.nv}"
    module = CModule(name or identifier(d.name), held, real, about)
    for each in wanted:
        mechanism.require_no_constraints(each.quantity)
        function = quantities.compilable(d, each.quantity, each.frames, each.wrenches)
        row = QUANTITIES[each.quantity]
        given = [
            _argument(d, function.name_in(k), function.size_in(k), 0 if function.name_in(k) == "t" else 1)
            for k in range(function.n_in())
        ]
        taken = [
            _argument(d, out, function.size_out(k), rank)
            for k, (out, rank) in enumerate(zip(row.outputs, row.ranks))
        ]
        module.add(function, each.name, each.meaning, given, taken)
    return module


def _argument(d: Description, name: str, size: tuple[int, int], rank: int) -> Argument:
    """Return an input or an output with the names and units of its elements where it goes by coordinates."""
    shape = ((), (size[0],), size)[rank]
    ways = {
        "q": position_signal, "q_end": position_signal, "q_next": position_signal, "v": velocity_signal,
        "tau": force_signal, "bias": force_signal, "gravity": force_signal,
    }  # fmt: skip
    if name in ways and rank == 1:
        count = d.nq if ways[name] is position_signal else d.nv
        signal = ways[name](d, np.zeros((0, count)))
        return Argument(name, shape, signal.labels, signal.units)
    if name == "vdot":
        rates = velocity_signal(d, np.zeros((0, d.nv)))
        return Argument(name, shape, rates.labels, tuple(f"{u}^2" for u in rates.units))
    if name == "t":
        return Argument(name, shape, ("time",), ("s",))
    return Argument(name, shape)


def inputs(mechanism: Mechanism, f: CFunction, rng: np.random.Generator) -> Mapping[str, np.ndarray]:
    """Return inputs of a function at a random state of the mechanism's own size."""
    d, scales = mechanism.description, mechanism.description.scales()
    large, pace = scales.displacement, 1 / scales.time

    def some(size: np.ndarray | float, n: int) -> np.ndarray:
        return rng.uniform(-0.5, 0.5, n) * size

    ways = {
        "q": lambda _: mechanism.integrate_position(mechanism.neutral, some(large, d.nv)),
        "q_end": lambda _: mechanism.integrate_position(mechanism.neutral, some(large, d.nv)),
        "v": lambda _: some(large * pace, d.nv),
        "vdot": lambda _: some(large * pace**2, d.nv),
        "tau": lambda _: some(scales.mass * scales.length**2 * pace**2 / large, d.nv),
        "p": lambda _: np.array([value_of(p) for p in d.parameters]),
        "t": lambda _: np.array(rng.uniform()),
    }
    weight = scales.mass * scales.length * pace**2
    return {
        a.name: np.reshape(ways.get(a.name, lambda n: some(weight, n))(a.size), a.shape) for a in f.inputs
    }
