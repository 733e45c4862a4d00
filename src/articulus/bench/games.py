"""Rows of learning: environments on the Ant, HalfCheetah and Humanoid of Gymnasium beside MuJoCo's own steps, and JAX beside our call."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from articulus.bench.models import chain
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort
from articulus.bench.timing import Contender, race
from articulus.model.load import load

LANES = 256
ROWS = 4096
"""States of a call of JAX."""
RESET = 1000
"""Steps after which a game of MuJoCo begins again."""


SOLE = 0.027
"""Radius of the two capsules of a foot [m]."""


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
    feet : bool
        Whether two hinges and two capsules take the place of each foot of the file, and steps are MuJoCo's default ones of 5 ms.
    bar : float
        Moves of ours in the time of a peer's; nothing where the row only informs.
    """

    name: str
    file: str
    step: float
    frames: int
    start: tuple[float, ...]
    feet: bool = False
    bar: float | None = 8

    @property
    def path(self) -> Path:
        """Place of the file."""
        import gymnasium

        return Path(str(gymnasium.__file__)).parent / "envs" / "mujoco" / "assets" / self.file

    def text(self) -> str:
        """Return the model as MJCF."""
        return _with_feet(self.path.read_text()) if self.feet else self.path.read_text()


GAMES = (
    Game("Ant-v5", "ant.xml", 5e-4, 100, (1, 0, 0, 0, 0, 0, 0.75, 0, 1, 0, -1, 0, -1, 0, 1)),
    Game("HalfCheetah-v5", "half_cheetah.xml", 1e-3, 50, (0,) * 9),
    Game("Humanoid-v5", "humanoid.xml", 1e-3, 15, (1, 0, 0, 0, 0, 0, 1.4, *(0,) * 17), bar=None),
    Game(
        "humanoid with ankles and feet", "humanoid.xml", 1e-3, 15, (1, 0, 0, 0, 0, 0, 1.4, *(0,) * 21), feet=True, bar=None,
    ),
)  # fmt: skip
PUBLISHED = "published elsewhere for MuJoCo's own humanoid of 27: 1.8 million steps/s on 64 cores, 2.7 million on a GPU"


def _with_feet(text: str) -> str:
    """Return Gymnasium's humanoid with 27 degrees of freedom: two hinges in each ankle, a motor for each, two capsules as a sole."""
    root = ElementTree.fromstring(text)
    option, motors = root.find("option"), root.find("actuator")
    assert option is not None
    assert motors is not None
    option.attrib.clear()
    option.set("timestep", "0.005")
    for side in ("right", "left"):
        foot = root.find(f".//body[@name='{side}_foot']")
        assert foot is not None
        for old in foot.findall("geom"):
            foot.remove(old)
        foot.set("pos", "0 0 -0.36")
        for axis, name in (("0 1 0", "y"), ("1 0 0", "x")):
            ElementTree.SubElement(
                foot, "joint", name=f"{side}_ankle_{name}", type="hinge", axis=axis, range="-50 50", damping="1", stiffness="4", armature="0.006"
            )  # fmt: skip
            ElementTree.SubElement(
                motors, "motor", name=f"{side}_ankle_{name}", joint=f"{side}_ankle_{name}", gear="20"
            )
        for y in (-0.03, 0.03):
            ElementTree.SubElement(
                foot, "geom", type="capsule", size=str(SOLE), fromto=f"-0.07 {y / 2} -0.02 0.14 {y} -0.02"
            )
    return ElementTree.tostring(root, encoding="unicode")


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
    from articulus.bridges.gym import make_vec

    mechanism = load(game.text() if game.feet else game.path)
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
    theirs = _mujoco(game)
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
        bar=None if game.bar is None else FigureLimit(game.bar),
        note=f"{told}; {PUBLISHED}" if game.feet else told,
    )
    yield row(
        f"environment, {game.name}, over its bare steps",
        peer="bare steps",
        peer_us=bare,
        value=mine / bare,
        bar=FigureLimit(1.15, at_least=False),
    )


def _mujoco(game: Game) -> Callable[[], Any]:
    """Return what a step of an environment around MuJoCo takes at least: its steps and the state as one array."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(game.text())
    frames = round(game.step * game.frames / model.opt.timestep)
    data = mujoco.MjData(model)
    low, high = model.actuator_ctrlrange.T
    actions = itertools.cycle(np.random.default_rng(0).uniform(low, high, (64, model.nu)))
    count = itertools.count()

    def step() -> np.ndarray:
        if next(count) % RESET == 0:
            mujoco.mj_resetData(model, data)
        data.ctrl[:] = next(actions)
        mujoco.mj_step(model, data, frames)
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
