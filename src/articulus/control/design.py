"""`Design`: a controller and the closed loop that was checked; what every design method returns."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from articulus.control.analysis.stable import depth, stable_poles
from articulus.control.connect import close
from articulus.control.sampling import sample
from articulus.errors import InputError, NumericalError
from articulus.linear import LinearModel
from articulus.numerics.lyapunov import Lyapunov

if TYPE_CHECKING:
    from articulus.simulation.loop.components.linear_controller import LinearController


@dataclass(frozen=True)
class Check:
    """One thing that was checked: what, the value found, the bound, whether it holds, or why that could not be judged."""

    what: str
    found: float
    bound: float
    passed: bool
    not_judged: str = ""

    @property
    def verdict_html(self) -> str:
        """The verdict for a table in HTML."""
        if self.not_judged:
            return f"not judged: {html.escape(self.not_judged)}"
        return "ok" if self.passed else "<b>fails</b>"

    def __str__(self) -> str:
        numbers = f"{self.what}: {self.found:.6g} (bound {self.bound:.6g})"
        if self.not_judged:
            return f"---- {numbers}, not judged: {self.not_judged}"
        return f"{'ok  ' if self.passed else 'FAIL'} {numbers}"


@dataclass(frozen=True, eq=False)
class Design:
    """A controller, from measured outputs of the plant to its commands, sign included: u = K(s) y.

    Each family of methods has its own class of designs with what it achieved: costs, gains, norms, as fields.

    Parameters
    ----------
    method : str
        Which made it.
    plant : LinearModel
    controller : LinearModel
        Its inputs are names of the plant's outputs, its outputs names of the plant's inputs. `design.controller.to_control()` is a
        python-control system with the same sign: connect it with `control.feedback(P, K, +1)`.
    closed : LinearModel
        The closed loop; inputs and outputs are the plant's.
    checks : tuple of Check
    """

    method: str
    plant: LinearModel
    controller: LinearModel
    closed: LinearModel
    checks: tuple[Check, ...] = ()

    @property
    def figures(self) -> dict[str, Any]:
        """What the method achieved, by name: the fields of its family."""
        common = {f.name for f in fields(Design)}
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in common}

    def component(self, *, period: float | None = None, **fields: Any) -> LinearController:
        """Return the controller as a component for `simulate` and `Loop`.

        Parameters
        ----------
        period : float [s]
            At which a continuous controller is sampled, by the trapezoidal rule; a sampled one keeps its own.
        **fields
            Of `LinearController`: the operating point y0 and u0, other names of signals and commands, the component's name.
        """
        from articulus.simulation.loop.components.linear_controller import LinearController

        controller = (
            self.controller
            if period is None or period == self.controller.period
            else sample(self.controller, period, "trapezoidal")
        )
        return LinearController.of(controller, **({"name": self.method.replace(" ", "_")} | fields))

    @property
    def poles(self) -> np.ndarray:
        """Poles of the closed loop [rad/s]."""
        return self.closed.poles

    def __iter__(self) -> Iterator[Any]:
        """Raise InputError: a design is one object, not a tuple of matrices as in MATLAB."""
        raise InputError(
            f"{self.method}: found a design taken apart, as `K, S, E = {self.method}(...)`; expected `design = {self.method}(...)` and its "
            f"parts: design.{', design.'.join([*map(str, self.figures), 'controller', 'closed', 'poles'])}"
        )

    def __str__(self) -> str:
        lines = [
            f"{self.method}: {len(self.controller.A)} states, {', '.join(self.controller.inputs[:6])} -> {', '.join(self.controller.outputs[:6])}"
        ]
        lines += [
            f"  {name} = {_short(value)}"
            for name, value in self.figures.items()
            if value is None
            or isinstance(value, (str, bool, int, float, np.generic))  # not arrays, not models
        ]
        return "\n".join(lines + [f"  {check}" for check in self.checks])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(c.what)}</td><td>{c.found:.6g}</td><td>{c.bound:.6g}</td><td>{c.verdict_html}</td></tr>"
            for c in self.checks
        )
        head = html.escape(str(self).split("\n  ok")[0]).replace("\n", "<br>")
        return (
            f"<p>{head}</p><table><tr><th>check</th><th>found</th><th>bound</th><th></th></tr>{rows}</table>"
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class GainDesign(Design):
    """A design by a matrix of gains.

    Parameters
    ----------
    gain : array, (commands, states or outputs)
        u = -gain x.
    """

    gain: np.ndarray


@dataclass(frozen=True, eq=False, kw_only=True)
class RegulatorDesign(GainDesign):
    """A linear-quadratic regulator.

    Parameters
    ----------
    cost : array, (n, n)
        Solution X of the Riccati equation: the least cost from a state is x'Xx.
    """

    cost: np.ndarray


D = TypeVar("D", bound=Design)


def named_controller(
    plant: LinearModel, matrices: Sequence[Any], u: np.ndarray, y: np.ndarray, name: str
) -> LinearModel:
    """Return a controller (A, B, C, D) from the outputs y of a plant to its inputs u, with the plant's names and period."""
    A, B, C, D = (np.asarray(m, dtype=float) for m in matrices)
    return LinearModel(
        A,
        B,
        C,
        D,
        states=tuple(f"k.{i}" for i in range(len(A))),
        inputs=tuple(plant.outputs[i] for i in y),
        outputs=tuple(plant.inputs[i] for i in u),
        input_units=tuple(plant.output_units[i] for i in y),
        output_units=tuple(plant.input_units[i] for i in u),
        period=plant.period,
        name=name,
    )


def static(D: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return (A, B, C, D) of a gain."""
    return np.zeros((0, 0)), np.zeros((0, D.shape[1])), np.zeros((len(D), 0)), D


def check_design(
    family: type[D],
    method: str,
    plant: LinearModel,
    controller: LinearModel,
    u: np.ndarray,
    y: np.ndarray,
    figures: Mapping[str, Any],
    checks: Sequence[Check] = (),
    *,
    stable: bool = True,
    flow: Lyapunov | None = None,
) -> D:
    """Return the design, of a family with its figures, with its closed loop; raise NumericalError unless the loop is stable and every check holds.

    u and y are the numbers of the plant's inputs and outputs that the controller is connected to. A method that has warned of an
    unstable loop, because its user chose what makes it so, says `stable=False`: then the failed check stays in the report.
    A method that knows the Schur form of the closed loop gives its `flow`; that the loop is stable is shown with the loop itself.
    """
    closed = close(plant, controller, u, y)
    values, inside = stable_poles(closed.A, plant.period, flow=flow)
    margin = _margin(values, plant.period)
    is_stable = bool(inside.all())
    # nearer than rounding counts as on the boundary
    near = 0.0 if is_stable else float(depth(values[~inside], plant.period).max(initial=0.0))
    found = (
        Check(
            "largest real part of the poles" if plant.period is None else "largest pole in size",
            margin,
            (0.0 if plant.period is None else 1.0) - near,
            is_stable,
        ),
        *checks,
    )
    design = family(method, plant, controller, closed, found, **figures)
    failing = [check for check in found[0 if stable else 1 :] if not check.passed]
    if failing:
        failed = "; ".join(map(str, failing))
        raise NumericalError(
            f"{method}: the controller was computed, but its closed loop fails: {failed}", result=design
        )
    return design


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)


def _margin(values: np.ndarray, period: float | None) -> float:
    return float(
        max(values.real if period is None else np.abs(values), default=-np.inf if period is None else 0.0)
    )
