"""Rows of learning: environments on the Ant, HalfCheetah and Humanoid of Gymnasium beside MuJoCo's own steps, and JAX beside our call."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from articulus.bench.models import chain
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort
from articulus.bench.timing import Contender, race
from articulus.model.load import load

LANES = 256
ROWS = 4096
"""States of a call of JAX."""
FRAME_SKIP = 5
"""Steps of MuJoCo in a step of these environments of Gymnasium."""
RESET = 1000
"""Steps after which a game of MuJoCo begins again."""


@dataclass(frozen=True)
class Game:
    """A file of Gymnasium as a task of ours.

    Parameters
    ----------
    name : str
        Of Gymnasium's environment.
    file : str
    step : float [s]
        Ours.
    frames : int
        Steps in a move.
    start : tuple of float
        Position at the beginning.
    """

    name: str
    file: str
    step: float
    frames: int
    start: tuple[float, ...]


GAMES = (
    Game("Ant-v5", "ant.xml", 5e-4, 100, (1, 0, 0, 0, 0, 0, 0.75, 0, 1, 0, -1, 0, -1, 0, 1)),
    Game("HalfCheetah-v5", "half_cheetah.xml", 1e-3, 50, (0,) * 9),
    Game("Humanoid-v5", "humanoid.xml", 1e-3, 15, (1, 0, 0, 0, 0, 0, 1.4, *(0,) * 17)),
)


def environments(effort: Effort) -> Iterator[Measurement]:
    """Yield a move of one lane of `VectorEnvironment` beside the steps of MuJoCo in Gymnasium's environment, random actions, one core."""
    if not all(importlib.util.find_spec(name) for name in ("gymnasium", "mujoco")):
        yield Measurement(
            "environment, one move of a lane", 0, note="gymnasium or mujoco is not installed: skipped"
        )
        return
    for game in GAMES:
        yield from _game(game, effort)


def _game(game: Game, effort: Effort) -> Iterator[Measurement]:
    import gymnasium

    from articulus.bridges.gym import make_vec

    assets = Path(str(gymnasium.__file__)).parent / "envs" / "mujoco" / "assets"
    mechanism = load(assets / game.file)
    ours = make_vec(
        mechanism, LANES, step=game.step, frames=game.frames, q0=game.start, noise=0.1, time_limit=1000,
        observations=("q", "v"), reward=lambda s: s["v"][0],
    )  # fmt: skip
    ours.reset(seed=0)
    rng = np.random.default_rng(0)
    space = ours.single_action_space
    actions = itertools.cycle(rng.uniform(space.low, space.high, (64, LANES, *space.shape)))
    failed = [0]

    def move() -> None:
        info = ours.step(next(actions))[4]
        failed[0] += int(np.sum(info.get("failed", 0)))

    lanes = ours.lanes
    march: Callable[[], None] = lambda: lanes._march(0, game.frames)  # noqa: E731
    theirs = _mujoco(str(assets / game.file), game)
    move()
    mine, bare, peer = race(
        [Contender("articulus", move, LANES), Contender("bare", march, LANES), Contender("MuJoCo", theirs)],
        effort.seconds,
    )
    row = partial(Measurement, n=mechanism.nv, ours_us=mine)
    told = f"{LANES} lanes, {game.frames} steps of {1e3 * game.step:g} ms a move; {failed[0]} games failed"
    yield row(
        f"environment, {game.name}, one move of a lane",
        peer="MuJoCo's steps",
        peer_us=peer,
        value=peer / mine,
        bar=FigureLimit(8) if game.file != "humanoid.xml" else None,
        note=told,
    )
    yield row(
        f"environment, {game.name}, over its bare steps",
        peer="bare steps",
        peer_us=bare,
        value=mine / bare,
        bar=FigureLimit(1.15, at_least=False),
    )


def _mujoco(path: str, game: Game) -> Callable[[], Any]:
    """Return what a step of an environment around MuJoCo takes at least: its five steps and the state as one array."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(path)
    data = mujoco.MjData(model)
    low, high = model.actuator_ctrlrange.T
    actions = itertools.cycle(np.random.default_rng(0).uniform(low, high, (64, model.nu)))
    count = itertools.count()

    def step() -> np.ndarray:
        if next(count) % RESET == 0:
            mujoco.mj_resetData(model, data)
        data.ctrl[:] = next(actions)
        mujoco.mj_step(model, data, FRAME_SKIP)
        return np.concatenate([data.qpos, data.qvel])

    return step


def jax_calls(effort: Effort) -> Iterator[Measurement]:
    """Yield forward dynamics of 7 revolutes called by JAX over our own call, a batch of 4096."""
    title = f"JAX, forward dynamics, batch of {ROWS}, over our call"
    model = chain(7)
    if not importlib.util.find_spec("jax"):
        yield Measurement(title, model.nv, note="jax is not installed: skipped")
        return
    import jax

    from articulus.bridges.jax import wrap

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        states = [np.ascontiguousarray(x[:ROWS]) for x in model.states(ROWS)]
        held = [jax.numpy.asarray(x) for x in states]
        compiled = jax.jit(wrap(model.mechanism, "forward_dynamics"))
        gap = float(np.abs(np.asarray(compiled(*held)) - model.mechanism.forward_dynamics(*states)).max())
        ours, plain = race(
            [
                Contender("JAX", lambda: compiled(*held).block_until_ready(), ROWS),
                Contender("articulus", lambda: model.mechanism.forward_dynamics(*states), ROWS),
            ],
            effort.seconds,
        )
    finally:
        jax.config.update("jax_enable_x64", before)
    yield Measurement(
        title, model.nv, ours_us=ours, peer="our call", peer_us=plain, value=ours / plain,
        bar=FigureLimit(1.2, at_least=False), failed=gap != 0.0, note=f"differ by {gap:.0e}",
    )  # fmt: skip
