"""Expressions of the signals of a run as functions of its state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
from casadi import MX, SX

from articulus.errors import InputError, did_you_mean
from articulus.simulation.loop.functions import ARGUMENTS, System
from articulus.simulation.loop.outputs import Outputs

OF_WORK = ("energy", "projected")
"""Signals that hold integrals, which have tangents only where these are asked for."""


class SignalSymbols:
    """The signals of a run as symbols: s["q"], s["gyro.rate"], s["q.lift"]; the time s.t; the parameters s.p["payload"]."""

    def __init__(self, system: System):
        self._system = system
        self.t = SX.sym("t")
        self.p = {each.name: SX.sym(each.name) for each in system.network.parameters}
        self.found: dict[str, SX] = {}

    def __getitem__(self, name: str) -> SX:
        """Return a signal, (n,), or one entry of it."""
        known = ["q", "v", *self._system.outputs]
        if name in known:
            return self._whole(name)
        for signal in known:
            if str(name).startswith(f"{signal}."):
                columns = Outputs(self._system, [signal]).blank()[signal].columns
                if name in columns and columns.index(name) < self._whole(signal).numel():
                    return self._whole(signal)[columns.index(name)]
                raise InputError(f"figure: no signal '{name}'; {did_you_mean(str(name), columns)}")
        raise InputError(f"figure: no signal '{name}'; {did_you_mean(str(name), known)}")

    def _whole(self, name: str) -> SX:
        if name not in self.found:
            d = self._system.description
            size = {"q": d.nq, "v": d.nv}.get(name) or self._system.size(name)
            self.found[name] = SX.sym(name, size)
        return self.found[name]


def expression(system: System, of: str | Callable[[SignalSymbols], Any]) -> tuple[ca.Function, bool]:
    """Return (c, d, p, w, t, h) -> values of an expression, and whether it rests on integrals of power.

    Parameters
    ----------
    of : str or callable
        A signal or an entry of one, or a function of `SignalSymbols`.
    """
    s = SignalSymbols(system)
    value = s[of] if isinstance(of, str) else _evaluate(of, s)
    names = [name for name in s.found if name not in ("q", "v")]
    reports = system.reporting(names) if names else None
    kind: Any = SX if reports is None or reports.is_a("SXFunction") else MX
    symbols = [kind.sym(name, size) for name, size in zip(ARGUMENTS, system.sizes)]
    c, _, p, _, t, _ = symbols
    values = {name: c[system.places[name]] for name in "qv"}
    values |= dict(zip(names, reports.call(symbols))) if reports is not None else {}
    inner = ca.Function(
        "figure",
        [s.t, ca.vertcat(SX(0, 1), *s.p.values()), *s.found.values()],
        [ca.densify(SX(ca.vec(value)))],
    )
    out: Any = inner.call([t, p, *(values[name] for name in s.found)])
    made = ca.Function("figure", symbols, ca.cse(out) if kind is SX else out, list(ARGUMENTS), ["y"])
    return made, any(name in OF_WORK for name in names)


def _evaluate(of: Callable[[SignalSymbols], Any], s: SignalSymbols) -> SX:
    """Return what a function of the signals gives; raise InputError for what is no expression."""
    try:
        value = SX(of(s))
    except (NotImplementedError, TypeError) as reason:
        raise InputError(
            f"figure: {reason}; expected a function of the signals, such as lambda s: s['q.lift'] ** 2, of CasADi operations"
        ) from reason
    loose = [x.name() for x in ca.symvar(value) if not _require_owner(x, s)]
    if loose:
        raise InputError(
            f"figure: found the symbol '{loose[0]}', which is no signal, parameter or time of this run"
        )
    return value


def _require_owner(symbol: SX, s: SignalSymbols) -> bool:
    return bool(ca.depends_on(ca.vertcat(s.t, *s.p.values(), *s.found.values()), symbol))
