"""Named parameters and gains of a loop that minimize a figure of its runs under limits on others."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from articulus.design.methods import Minimizer, QuadraticSteps
from articulus.design.objectives import AtMost, Objective
from articulus.design.program import DesignProgram, Optimum, Point
from articulus.design.restarts import best_of
from articulus.errors import InputError, NumericalError, did_you_mean
from articulus.numerics.streams import stream
from articulus.simulation.running.loop import Loop
from articulus.study.study import Study


@dataclass(frozen=True, eq=False)
class CoDesign:
    """Parameters of a loop that minimize a figure of its runs under limits; derivatives are the exact ones of `Loop.gradient`.

    Parameters
    ----------
    loop : Loop
    variables : dict of parameter name to (lower, upper)
        Those with a positive lower bound are varied by their logarithms.
    objective : str, callable, figure or Objective
        Minimized, as the mean over the samples.
    subject_to : tuple of AtMost
        Kept by every sample.
    t_end : float [s]
        End time of the runs.
    q0, v0 : array or dict
        As those of `simulate`.
    samples : tuple of dicts
        Values of other parameters: operating points, uncertain samples. One run each.
    settings : dict
        Further ones of `simulate`: step, sample, method, seed.
    present : dict of parameter name to number
        Where the first start is, if not at the values that the loop has.
    """

    loop: Loop
    variables: Mapping[str, tuple[float, float]]
    objective: Any
    subject_to: tuple[AtMost, ...]
    t_end: float
    q0: Any = None
    v0: Any = None
    samples: tuple[Mapping[str, float], ...] = ({},)
    settings: Mapping[str, Any] = field(default_factory=dict)
    present: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = self.loop.parameters
        if not self.variables or not self.samples:
            raise InputError("optimize: found no variables or no samples; expected at least one of each")
        for name in (*self.variables, *(n for s in self.samples for n in s)):
            if name not in known:
                raise InputError(
                    f"optimize: found no parameter '{name}'; expected {', '.join(known) or 'a loop with parameters'}; "
                    f"{did_you_mean(name, known)}"
                )
        for name in self.variables:
            if any(name in s for s in self.samples):
                raise InputError(f"optimize: '{name}' is a variable and in a sample; expected one of the two")
        names = [x.name for x in self.subject_to]
        if len(set(names)) < len(names):
            raise InputError(f"optimize: limits {names}; expected names of their own")

    @property
    def program(self) -> DesignProgram:
        """The minimization."""
        lower, upper = (np.array([b[k] for b in self.variables.values()], dtype=float) for k in (0, 1))
        many = len(self.samples) > 1
        limits = tuple(
            f"{x.name} in sample {k + 1}" if many else x.name
            for x in self.subject_to
            for k in range(len(self.samples))
        )
        scale = np.maximum(np.abs(lower), np.abs(upper))
        return DesignProgram(
            tuple(self.variables),
            lower,
            upper,
            self.evaluate,
            limits,
            lower > 0,
            np.where(scale > 0, scale, 1.0),
        )

    def evaluate(self, x: np.ndarray) -> Point:
        """Return the figures of a design with their derivatives; one without figures where a run fails."""
        names = list(self.variables)
        aim = Objective.of(self.objective)
        figures = [*(term.figure for term in aim.terms), *(c.figure for c in self.subject_to)]
        first, count = len(aim.terms), len(self.samples)
        values, slopes = np.empty((count, len(figures))), np.empty((count, len(figures), x.size))
        try:
            for k, sample in enumerate(self.samples):
                found = self.loop.gradient(
                    figures, self.t_end, self.q0, self.v0, by=names, params={**sample, **dict(zip(names, x))}, **self.settings
                )  # fmt: skip
                values[k], slopes[k] = [g.value for g in found], [g.gradient for g in found]
        except NumericalError:
            values[:] = np.nan
        rows = len(self.subject_to) * count
        if not np.isfinite(values).all():
            return Point(np.inf, np.zeros(x.size), np.full(rows, np.inf), np.zeros((rows, x.size)), False)
        totals = [aim.total(v[:first], s[:first]) for v, s in zip(values, slopes)]
        allowed = np.repeat([c.limit for c in self.subject_to], count)
        toward = np.repeat([c.sign for c in self.subject_to], count) / np.abs(allowed)
        return Point(
            float(np.mean([value for value, _ in totals])),
            np.mean([slope for _, slope in totals], axis=0),
            (values[:, first:].T.ravel() - allowed) * toward,
            slopes[:, first:].swapaxes(0, 1).reshape(rows, x.size) * toward[:, None],
        )

    def minimize(
        self,
        starts: int | np.ndarray | Sequence[np.ndarray] = 1,
        seed: int = 0,
        method: Minimizer | None = None,
    ) -> Optimum:
        """Return the best design.

        Parameters
        ----------
        starts : int or arrays, (variables,)
            A number: the present values of the parameters, and random ones within the bounds.
        seed : int
            Seed of random starts.
        method : Minimizer
            `QuadraticSteps` if not given.

        Warns
        -----
        DoubtfulResult
            If limits cannot be kept (which), or if starts end at different designs.
        """
        program = self.program
        rows = self._starts(program, starts, seed) if isinstance(starts, int) else np.atleast_2d(starts)
        return best_of(program, rows, method or QuadraticSteps(tolerance=1e-8))

    def sweep(self, name: str, values: Sequence[float], method: Minimizer | None = None) -> list[Optimum]:
        """Return the best designs for values of one limit, or of a parameter that is no variable, such as the size of a disturbance; each begun at the one before."""
        known = [x.name for x in self.subject_to]
        others = [p for p in self.loop.parameters if p not in self.variables]
        if name not in (*known, *others):
            raise InputError(
                f"sweep: found no limit '{name}'; expected {', '.join((*known, *others))}; {did_you_mean(name, [*known, *others])}"
            )
        out: list[Optimum] = []
        for value in values:
            if name in known:
                limits = tuple(
                    dataclasses.replace(x, limit=value) if x.name == name else x for x in self.subject_to
                )
                problem = dataclasses.replace(self, subject_to=limits)
            else:
                problem = dataclasses.replace(self, samples=tuple({**s, name: value} for s in self.samples))
            out.append(problem.minimize(1 if not out else out[-1].x[None], method=method))
        return out

    def _starts(self, program: DesignProgram, count: int, seed: int) -> np.ndarray:
        if count < 1:
            raise InputError(f"optimize: found {count} starts; expected at least one")
        own = {p.name: p.value for p in self.loop.system.network.parameters} | dict(self.present)
        first = program.inside([own[name] for name in self.variables])
        ends = program.to_scaled(program.lower), program.to_scaled(program.upper)
        if count > 1 and not np.isfinite(ends).all():
            raise InputError("optimize: random starts need finite bounds; set them, or pass your own starts")
        random = stream(seed)
        more = [program.from_scaled(random.uniform(*ends)) for _ in range(count - 1)]
        return np.array([first, *more])


def optimize(
    study: Loop | Study,
    variables: Mapping[str, tuple[float, float]],
    minimize: Any,
    subject_to: Sequence[AtMost] = (),
    *,
    t_end: float | None = None,
    q0: Any = None,
    v0: Any = None,
    samples: Sequence[Mapping[str, float]] = ({},),
    starts: int | np.ndarray = 1,
    seed: int = 0,
    method: Minimizer | None = None,
    **settings: Any,
) -> Optimum:
    """Return the parameters of a loop or study that minimize a figure of its runs under limits on others; see `CoDesign`.

    Parameters
    ----------
    study : Loop or Study
        A study brings its end, step, initial state and values of parameters.
    variables : dict of parameter name to (lower, upper)
    minimize : str, callable, figure or Objective
        As `Loop.gradient` takes it: "q.lift" at the end, `Rms("q.hook")`, `lambda s: s.p["boom"]`; or an `Objective` of several figures.
    subject_to : sequence of AtMost
    t_end : float [s]
        Needed for a loop.
    q0, v0, settings :
        As those of `simulate`.
    samples : sequence of dicts
        Values of other parameters: operating points and uncertain samples, all at once; the objective is their mean, limits hold in each.
    starts : int or arrays
        Number of starts, the first from the present values, others random within the bounds; or the starts.
    seed : int
        Seed of random starts.
    method : Minimizer
    """
    loop, present = study, {}
    if isinstance(study, Study):
        loop, q0, v0 = study.loop, study.q0 if q0 is None else q0, study.v0 if v0 is None else v0
        t_end = study.settings.t_end if t_end is None else t_end
        settings = {
            "step": study.settings.step,
            "sample": study.settings.sample,
            "method": study.settings.method,
        } | settings
        present = {k: v for k, v in study.params.items() if k in variables}
        samples = [{k: v for k, v in study.params.items() if k not in variables} | dict(s) for s in samples]
    if not isinstance(loop, Loop):
        raise InputError(f"optimize: found {type(loop).__name__}; expected a Loop or a Study")
    if t_end is None:
        raise InputError("optimize: found no end of the runs; expected t_end [s]")
    problem = CoDesign(
        loop,
        dict(variables),
        minimize,
        tuple(subject_to),
        t_end,
        q0,
        v0,
        tuple(dict(s) for s in samples),
        settings,
        present,
    )
    return problem.minimize(starts, seed, method)
