"""Where a linear model comes from: a file of one, a study, a model file or a library model."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from articulus.errors import InputError
from articulus.linear import LinearModel
from articulus.simulation.loop.linear_model import signal_of
from articulus.simulation.loop.outputs import Outputs
from articulus.simulation.running.loop import Loop, begin_states
from articulus.simulation.running.settings import RunSettings
from articulus.study.components import load_model
from articulus.study.linear.model_file import (
    OperatingModel,
    is_linear_model,
    read_linear_model,
    replace_model,
)
from articulus.study.reader import is_study, read_study


@dataclass(frozen=True)
class PlantSource:
    """What is to be linearized, and where.

    Parameters
    ----------
    model : str
        Path of a linear model, a study or a model file from the folder, or the name of a library model.
    folder : Path
    options : dict
        Arguments of a library model.
    inputs, outputs : tuple of str
        Signals or their entries, see `Loop.linearize`. Without inputs: commands of the actuators, or joint forces where there
        are none. Without outputs: q, v and all signals.
    at : float [s] or None
        Time of a study about whose state the model is; its start if not given.
    trim : bool
        About a state that constant commands hold, found near the one given.
    """

    model: str
    folder: Path = Path()
    options: Mapping[str, Any] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    at: float | None = None
    trim: bool = False

    @property
    def name(self) -> str:
        """A name for files: that of the model without its ending."""
        return Path(self.model).name.removesuffix(".json").removesuffix(".toml").removesuffix(".linear")

    def load(self) -> OperatingModel:
        """Return the linear model with its operating point."""
        found = self._load()
        return found if found.model.name else replace_model(found, found.model.rename(name=self.name))

    def _load(self) -> OperatingModel:
        path = self.folder / self.model
        if is_linear_model(path):
            return self._of_file(path)
        if is_study(path):
            return self._of_study(path)
        loop = Loop(load_model(self.model, self.folder, **self.options))
        if self.at is not None:
            raise InputError(
                f"{self.model}: found a time, at = {self.at:g} s, for a model; expected none: only a study has one"
            )
        return self.about(loop, None, None, {}, RunSettings(1e-3))

    def _of_file(self, path: Path) -> OperatingModel:
        if self.trim or self.at is not None or self.options:
            raise InputError(
                f"{self.model}: found trim, at or options for the file of a linear model; expected none of them"
            )
        held = read_linear_model(path)
        chosen = held.model.select(self.inputs or None, self.outputs or None)
        inputs, outputs = (np.array([held.value(n) for n in x]) for x in (chosen.inputs, chosen.outputs))
        return OperatingModel(chosen, inputs, outputs, held.q)

    def _of_study(self, path: Path) -> OperatingModel:
        if self.options:
            raise InputError(f"{self.model}: found options for a study; expected them in the study")
        study = read_study(path)
        q, v, settings, params = study.q0, study.v0, study.settings, study.params
        if self.at is None or self.at == settings.t0:
            return self.about(study.loop, q, v if np.any(v) else None, params, settings)
        if not settings.t0 < self.at <= settings.t_end:
            raise InputError(
                f"{self.model}: found the time {self.at:g} s; expected one of the study, from {settings.t0:g} to {settings.t_end:g} s"
            )
        run = study.loop.run(dataclasses.replace(settings, outputs=None), q, v, params=params)
        if self.trim:
            row = int(np.flatnonzero(run.t <= self.at + 1e-9 * abs(self.at))[-1])
            return self.about(study.loop, run.q[row], None, params, settings, float(run.t[row]))
        model = run.linearize(at=self.at, inputs=self._inputs(study.loop), outputs=self.outputs or None)
        row = int(np.flatnonzero(run.t == model.t)[0])
        known = {c: x for s in run.signals.values() for c, x in zip(s.columns, np.atleast_1d(s.values[row]))}
        return OperatingModel(model, np.zeros(len(model.inputs)), _at(model.outputs, known), run.q[row])

    def _inputs(self, loop: Loop) -> tuple[str, ...]:
        return self.inputs or (("u",) if loop.system.network.driven else ("tau",))

    def about(
        self,
        loop: Loop,
        q: Any,
        v: Any,
        params: Mapping[str, Any],
        settings: RunSettings,
        t: float | None = None,
    ) -> OperatingModel:
        """Return the linear model of a loop about a state, or about one near it that commands hold."""
        t, step, inputs = settings.t0 if t is None else t, settings.step, self._inputs(loop)
        outputs = self.outputs or None
        states: Mapping[str, np.ndarray] = {}
        commands: Mapping[str, float] = {}
        if not self.trim:
            model = loop.linearize(
                q, v, t=t, step=step, params=params, inputs=inputs, outputs=outputs, fixed=settings.fixed
            )
            held = loop
        else:
            found = loop.trim(q, v, t=t, step=step, params=params, fixed=settings.fixed)
            model = found.linearize(inputs, outputs)
            held, states, q, v = found.loop, found.states, found.q, found.v
            kind = "u" if loop.system.network.driven else "tau"
            commands = {f"{kind}.{name}": value for name, value in zip(found.commands, found.u)}
        known = _signals_at(held, q, v, params, t, step, states, model.outputs)
        held_inputs = np.array([commands.get(name, 0.0) for name in model.inputs])
        position = _at([f"q.{name}" for name in loop.mechanism.q_names], known)
        return OperatingModel(model, held_inputs, _at(model.outputs, known), position)


def _at(names: Sequence[str], known: Mapping[str, Any]) -> np.ndarray:
    return np.array([float(known[name]) for name in names])


def _signals_at(
    loop: Loop,
    q: Any,
    v: Any,
    params: Mapping[str, Any],
    t: float,
    step: float,
    states: Mapping[str, np.ndarray],
    outputs: Sequence[str],
) -> dict[str, float]:
    """Return the entries of q, v and the signals of some outputs at a state, by name; `states` are those of components."""
    setup = loop.setup(RunSettings(t + step, t, step), q, v, params, True)
    system = setup.system
    c, d, p = begin_states(setup)
    for name, value in states.items():
        for places, rows in ((system.places, c), (system.held_places, d)):
            if name in places:
                rows[0, places[name]] = value
    whole = dict.fromkeys(signal_of(name, (*system.outputs, "q", "v")) for name in outputs)
    signals = Outputs(system, tuple(n for n in whole if n in system.outputs)).signals(
        np.hstack([c, d])[:, None], p, np.zeros((1, 1, system.nw)), np.array([t]), step, True
    )
    return {name: float(x) for s in signals.values() for name, x in zip(s.columns, np.ravel(s.values))}


def linear_plant(found: OperatingModel, period: float | None) -> LinearModel:
    """Return the model, sampled if a period is given and it is not."""
    from articulus.control import sample

    if period is None or found.model.period == period:
        return found.model
    if found.model.period is not None:
        raise InputError(
            f"period: found {period:g} s for a model that is sampled with {found.model.period:g} s; expected the same"
        )
    return sample(found.model, period)
