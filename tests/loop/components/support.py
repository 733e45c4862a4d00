"""A small loop for tests: mechanisms of one and two joints, a system's functions at numbers, and plain RK4 steps."""

from __future__ import annotations

import casadi as ca
import numpy as np

import articulus as art
from articulus.model.mechanism import value_of
from articulus.simulation.loop.component import Component
from articulus.simulation.loop.equations import Network
from articulus.simulation.loop.functions import System


def slider(mass: float = 2.0, gravity: float = 0.0) -> art.Mechanism:
    """Return a mass on a prismatic joint `lift` along z."""
    m = art.Mechanism("slider", gravity=(0, 0, gravity))
    m.body("carriage", mass=mass, inertia=(1.0, 1.0, 1.0))
    m.joint("lift", art.Prismatic(axis=(0, 0, 1)), parent="ground", child="carriage")
    return m


def wheel(inertia: float = 0.5) -> art.Mechanism:
    """Return a wheel on a revolute joint `spin` about z, no gravity."""
    m = art.Mechanism("wheel", gravity=(0, 0, 0))
    m.body("disc", mass=1.0, inertia=(inertia, inertia, inertia))
    m.joint("spin", art.Revolute(axis=(0, 0, 1)), parent="ground", child="disc")
    return m


def floater() -> art.Mechanism:
    """Return a body on a free joint `base`."""
    m = art.Mechanism("floater")
    m.body("hull", mass=3.0, com=(0.1, 0.0, -0.2), inertia=(0.3, 0.4, 0.5))
    m.joint("base", art.Free(), parent="ground", child="hull")
    return m


class Loop:
    """A mechanism with components, worked out with numbers by CasADi's own machine."""

    def __init__(self, mechanism: art.Mechanism, *components: Component):
        self.network = Network(mechanism.description, components)
        self.system = System(self.network)
        self.c, self.d = self.system.c0.copy(), self.system.d0.copy()
        self.p = np.array([value_of(p) for p in self.network.parameters])
        self.w = np.zeros(self.system.nw)
        self.t, self.h, self.step = 0.0, 0.01, 0
        self._found: dict[str, ca.Function] = {}

    def put(self, **states: object) -> Loop:
        """Set continuous states, such as q, v, or "<component>.<state>" with __ for the dot."""
        for name, value in states.items():
            self.c[self.system.places[name.replace("__", ".")]] = value
        return self

    def _arguments(self) -> list:
        return [self.c, self.d, self.p, self.w, self.t, self.h]

    def rate(self, name: str) -> np.ndarray:
        """Return the time derivative of a continuous state now."""
        return np.array(self.system.rhs(*self._arguments())).ravel()[self.system.places[name]]

    def signal(self, name: str) -> np.ndarray:
        """Return a signal now, also "u", "tau" and "vdot"."""
        if name not in self._found:
            self._found[name] = self.system.with_acceleration(
                "signal", [self.system.outputs[name]], ["value"]
            )
        return np.array(self._found[name](*self._arguments())).ravel()

    def state(self, name: str) -> np.ndarray:
        return self.c[self.system.places[name]]

    def update(self) -> Loop:
        """Let the sampled components work that are due."""
        for u in self.system.updates:
            if self.step % round(u.period / self.h) == 0:
                self.d = np.array(u.function(*self._arguments())).ravel()
        return self

    def run(self, t_end: float, h: float, *signals: str) -> dict[str, np.ndarray]:
        """Return signals, states and time at every step of RK4 until t_end."""
        self.h = h
        log: dict[str, list] = {name: [] for name in ("t", "q", "v", *signals)}
        for _ in range(round(t_end / h) + 1):
            self.update()
            log["t"].append(self.t)
            for name in ("q", "v"):
                log[name].append(self.state(name).copy())
            for name in signals:
                log[name].append(self.signal(name))
            self._advance()
        return {name: np.array(values) for name, values in log.items()}

    def _advance(self) -> None:
        h, t, c = self.h, self.t, self.c
        f = lambda at, x: np.array(self.system.rhs(x, self.d, self.p, self.w, at, h)).ravel()  # noqa: E731
        k1 = f(t, c)
        k2 = f(t + h / 2, c + h / 2 * k1)
        k3 = f(t + h / 2, c + h / 2 * k2)
        k4 = f(t + h, c + h * k3)
        self.c = c + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        self.step += 1
        self.t = self.step * h


def function_of_time(expression: object) -> ca.Function:
    """Return t -> expression(t)."""
    t = ca.SX.sym("t")
    return ca.Function("f", [t], [ca.vertcat(expression(t))], ["t"], ["y"])  # type: ignore[operator]
