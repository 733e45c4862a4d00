"""One sampled controller or estimator of a loop as C99, for the processor of the machine itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.bridges.c import vectors
from articulus.bridges.c.module import Argument, CModule, identifier
from articulus.errors import Finding, InputError, UnsupportedOperation, did_you_mean
from articulus.model.files.storage import StrPath
from articulus.model.mechanism.numbers import value_of
from articulus.simulation.loop.component import Component
from articulus.simulation.loop.equations import Network
from articulus.simulation.loop.functions import System
from articulus.simulation.loop.outputs import Outputs
from articulus.simulation.running import Loop

TESTED = 3
"""Sets of inputs that the test program tries."""


class _Listening(Network):
    """A network that notes which signals a component reads."""

    def __init__(self, *given: Any, **named: Any):
        self.heard: dict[str, list[str]] = {}
        self._now = ""
        super().__init__(*given, **named)

    def _work(self, component: Component) -> None:
        self._now = component.name
        super()._work(component)

    def through(self, signal: str, value: SX) -> SX:
        """Return what is read of a signal."""
        if signal not in ("u", "q", "v", "t") and not signal.startswith(f"{self._now}."):
            self.heard.setdefault(self._now, []).append(signal)
        return super().through(signal, value)


def export_law(
    loop: Loop, component: str, folder: StrPath, *, name: str = "", real: str = "double"
) -> list[Path]:
    """Write C99 source of one sampled component of a loop, with header, Makefile and a test program; return the paths.

    `<name>_step` is called once a period with what the component reads (time, signals of sensors, q and v where it uses them) and what it
    remembered; it gives its command and signals, and what it remembers next (which may go to the same array). `<name>_memory_start` is what
    it remembers at first.

    Parameters
    ----------
    loop : Loop
        Its components say what the signals are.
    component : str
        Name of the component: a controller, an observer, the tracking of a planned motion.
    folder : path
        Made if need be.
    name : str
        Prefix of all public names and of the files; that of the component if not given.
    real : str
        Type of a number: "double" or "float".

    Raises
    ------
    InputError
        There is no such component, or it is not sampled.
    UnsupportedOperation
        It rests on something that no signal gives, such as a state of another component.
    """
    if not isinstance(loop, Loop):
        raise InputError(f"export of C: found {loop!r}; expected a Loop")
    parts = loop.system.network.components
    chosen = next((c for c in parts if c.name == component), None)
    if chosen is None:
        known = [c.name for c in parts]
        raise InputError(f"export of C: no component '{component}'; {did_you_mean(component, known)}")
    if chosen.period is None:
        raise InputError(
            Finding(
                f"component '{component}'", "a continuous component", "a sampled one", "Give it a `period`."
            )
        )
    law = _Law(loop, chosen, tuple(parts))
    module = law.module(name or identifier(component), real)
    rng = np.random.default_rng(0)
    f = module.functions[0]
    held = {"p": law.p0[law.own]}
    cases = [
        {a.name: held.get(a.name, rng.uniform(-0.5, 0.5, a.shape)) for a in f.inputs} for _ in range(TESTED)
    ]
    return module.write(folder, vectors.program(module, {"step": cases}))


class _Law:
    """The map of one sampled component, apart from its loop."""

    def __init__(self, loop: Loop, component: Component, parts: tuple[Component, ...]):
        self.component, d = component, loop.mechanism.description
        heard = _Listening(d, parts)
        self.signals = tuple(dict.fromkeys(heard.heard.get(component.name, ())))
        network = Network(d, parts, ports=self.signals, opened=self.signals)
        self.system = System(network, loop.loops)
        self.update = next(u.function for u in self.system.updates if u.name == component.name)
        places = self.system.held_places
        mine = {n: at for n, at in places.items() if n.startswith(f"{component.name}.")}
        self.memories = {n: at for n, at in mine.items() if n.endswith(" remembered")}
        self.results = {n: at for n, at in mine.items() if n not in self.memories}
        names = [x.name for x in network.parameters]
        self.ports = {
            signal: [names.index(x.name()) for x in ca.vertsplit(network.injected[signal])]
            for signal in self.signals
            if signal in network.injected
        }
        taken = {k for at in self.ports.values() for k in at}
        self.p0 = np.array([value_of(x) for x in network.parameters])
        rows = _rows(mine.values())
        read = _columns(self.update, 2, rows)
        self.own = [k for k in range(len(names)) if k not in taken and k in read]
        self.parameters = {names[k]: (float(self.p0[k]), "") for k in self.own}
        states = _columns(self.update, 0, rows)
        self.states = {
            n: at for n, at in self.system.places.items() if states & set(range(at.start, at.stop))
        }
        self._require(rows)

    def _require(self, rows: Sequence[int]) -> None:
        """Refuse what rests on other things than time, q, v and signals."""
        others = [n for n in self.states if n not in ("q", "v")]
        mine = {k for at in self.memories.values() for k in range(at.start, at.stop)}
        held = _columns(self.update, 1, rows) - mine
        others += [n for n, at in self.system.held_places.items() if held & set(range(at.start, at.stop))]
        if others:
            raise UnsupportedOperation(
                f"export of C: the component '{self.component.name}' rests on {', '.join(others)}, which no signal gives it; expected what reads "
                "time, q, v and signals alone, or the step of the whole loop"
            )

    def module(self, name: str, real: str) -> CModule:
        """Return the C functions."""
        s, period = self.system, float(self.component.period)  # type: ignore[arg-type]
        module = CModule(
            name, self.parameters, real, f"Component '{self.component.name}', once every {period!r} s"
        )
        t, memory = ca.MX.sym("t"), ca.MX.sym("memory", sum(_size(at) for at in self.memories.values()))
        read = {n: ca.MX.sym(n, _size(s.places[n])) for n in self.states}
        ports = {n: ca.MX.sym("signal", len(at)) for n, at in self.ports.items()}
        p = ca.MX.sym("p", len(self.own))
        c, d, every = ca.MX(ca.DM(s.c0)), ca.MX(ca.DM(s.d0)), ca.MX(ca.DM(self.p0))
        for n, symbol in read.items():
            c[s.places[n]] = symbol
        d = _place(d, self.memories, memory)
        for n, at in self.ports.items():
            every[at] = ports[n]
        if self.own:
            every[self.own] = p
        (renewed,) = self.update.call([c, d, every, ca.MX.zeros(s.nw), t, ca.MX(period)])
        results = [renewed[at] for at in self.results.values()]
        remembered = ca.vertcat(ca.MX(0, 1), *(renewed[at] for at in self.memories.values()))
        symbols = [t, memory, *read.values(), *ports.values(), *([p] if self.own else [])]
        function = ca.Function("step", symbols, [remembered, *results])
        module.add(function, "step", f"one period of {period!r} s", self._inputs(), self._outputs())
        start = np.concatenate([np.zeros(0), *(s.d0[at] for at in self.memories.values())])
        if len(start):
            texts = ", ".join(vectors.literal(x, real) for x in start.tolist())
            module.declare(f"extern const {real} {name}_memory_start[{len(start)}];\n")
            module.define(f"const {real} {name}_memory_start[{len(start)}] = {{{texts}}};\n")
        return module

    def _inputs(self) -> list[Argument]:
        blank = Outputs(self.system, list(self.ports)).blank()
        out = [Argument("t", (), ("time",), ("s",))]
        out.append(Argument("memory", (sum(_size(at) for at in self.memories.values()),)))
        out += [
            Argument(n, (_size(self.system.places[n]),), blank[n].labels, blank[n].units) for n in self.states
        ]
        out += [Argument(n, (len(at),), blank[n].labels, blank[n].units) for n, at in self.ports.items()]
        return out + ([Argument("p", (len(self.own),))] if self.own else [])

    def _outputs(self) -> list[Argument]:
        out = [Argument("memory_next", (sum(_size(at) for at in self.memories.values()),))]
        names = self.system.network.command_names
        for n, at in self.results.items():
            kind, _, label = n.removeprefix(f"{self.component.name}.").partition(" ")
            called = label.rpartition(".")[2] or kind
            out.append(Argument(called, (_size(at),), names if kind == "command" else ()))
        return out


def _place(d: Any, places: dict[str, slice], memory: Any) -> Any:
    at = 0
    for where in places.values():
        d[where] = memory[at : at + _size(where)]
        at += _size(where)
    return d


def _size(at: slice) -> int:
    return at.stop - at.start


def _rows(places: Any) -> list[int]:
    return [k for at in places for k in range(at.start, at.stop)]


def _columns(f: ca.Function, argument: int, rows: Sequence[int]) -> set[int]:
    """Return which entries of an argument some rows of the result rest on."""
    pattern = f.jac_sparsity(0, argument)
    wanted = set(rows)
    return {column for row, column in zip(*pattern.get_triplet()) if row in wanted}
