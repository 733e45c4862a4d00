"""`Environment` and `VectorEnvironment`: a task as Gymnasium plays it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from articulus.bridges.extra import require
from articulus.bridges.gym.lanes import Lanes
from articulus.bridges.gym.task import GymTask
from articulus.browser.picture import pixels
from articulus.browser.scene import mechanism_size
from articulus.errors import InputError

gymnasium: Any = require("gymnasium", "articulus.bridges.gym", "gym")
vector: Any = require("gymnasium.vector", "articulus.bridges.gym", "gym")
Box: Any = gymnasium.spaces.Box
AutoresetMode: Any = vector.AutoresetMode

SPAN = 1.6
"""Height of pictures over the size of the mechanism."""


def _spaces(task: GymTask) -> tuple[Any, Any]:
    """Return the spaces of observations and of actions of one lane."""
    size = task.look.output_shapes[0][0]
    low, high = task.limits
    return Box(-np.inf, np.inf, (size,), np.float64), Box(low, high, dtype=np.float64)


class Environment(gymnasium.Env):
    """One game: an environment of Gymnasium.

    Parameters
    ----------
    task : GymTask
    render_mode : str
        "rgb_array" or None.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 50}

    def __init__(self, task: GymTask, render_mode: str | None = None):
        _check_render(render_mode)
        self.task, self.render_mode = task, render_mode
        self.metadata = self.metadata | {"render_fps": max(1, round(1 / task.duration))}  # type: ignore[misc]
        self.lanes = Lanes(task, 1)
        self.observation_space, self.action_space = _spaces(task)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict]:
        """Begin a new game."""
        super().reset(seed=seed)
        self.lanes.begin([0], [self.np_random])
        return self.lanes.look()[0].copy(), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Return observation, reward, whether the game is over or cut off, and information after a move."""
        seen, reward, over = self.lanes.move(np.asarray(action, dtype=float)[None], [self.np_random])
        limit = self.task.time_limit
        cut = limit is not None and bool(self.lanes.moves[0] >= limit)
        return seen[0].copy(), float(reward[0]), bool(over[0]), cut, _failures(self.lanes, 0)

    def render(self) -> np.ndarray | None:
        """Return a picture (height, width, 3) of bytes in render mode "rgb_array"."""
        return None if self.render_mode is None else _picture(self.lanes, 0)


class VectorEnvironment(vector.VectorEnv):
    """Many games at once in native code: a vector environment of Gymnasium.

    Parameters
    ----------
    task : GymTask
    lanes : int
        Games.
    autoreset_mode : str or gymnasium.vector.AutoresetMode
        When a game that is over begins again: with the next call of `step` ("NextStep", as in Gymnasium), with the same
        call ("SameStep"; info has "final_obs"), or when `reset` says so ("Disabled", with options={"reset_mask": ...}).
    render_mode : str
        "rgb_array" or None; pictures of all lanes.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 50}

    def __init__(
        self, task: GymTask, lanes: int, autoreset_mode: Any = "NextStep", render_mode: str | None = None
    ):
        _check_render(render_mode)
        self.task, self.num_envs, self.render_mode = task, lanes, render_mode
        self.mode = AutoresetMode(autoreset_mode)
        self.metadata = self.metadata | {  # type: ignore[misc]
            "autoreset_mode": self.mode,
            "render_fps": max(1, round(1 / task.duration)),
        }
        self.lanes = Lanes(task, lanes)
        self.single_observation_space, self.single_action_space = _spaces(task)
        batched = vector.utils.batch_space
        self.observation_space = batched(self.single_observation_space, lanes)
        self.action_space = batched(self.single_action_space, lanes)
        self.generators = [np.random.default_rng() for _ in range(lanes)]
        self._over = np.zeros(lanes, dtype=bool)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin new games, in all lanes or in those of options["reset_mask"]; lane i has the seed `seed` + i, or its own of a list."""
        if seed is not None:
            seeds = (
                [seed + i for i in range(self.num_envs)]
                if isinstance(seed, (int, np.integer))
                else list(seed)
            )
            if len(seeds) != self.num_envs:
                raise InputError(f"gym: {len(seeds)} seeds; expected one for each of {self.num_envs} lanes")
            for i, each in enumerate(seeds):
                if each is not None:
                    self.generators[i] = np.random.default_rng(each)
        mask = (options or {}).get("reset_mask")
        if mask is not None and np.shape(mask) != (self.num_envs,):
            raise InputError(
                f"gym: reset_mask of shape {np.shape(mask)}; expected one truth value for each of {self.num_envs} lanes"
            )
        which = np.arange(self.num_envs) if mask is None else np.flatnonzero(mask)
        self.lanes.begin(which, self.generators)
        self._over[which] = False
        return self.lanes.look().copy(), {}

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Return observations, rewards, whether games are over or cut off, and information after a move of all lanes."""
        waiting = np.flatnonzero(self._over)
        if len(waiting) and self.mode == AutoresetMode.DISABLED:
            raise InputError(
                f"gym: the games of lanes {waiting[:5].tolist()} are over; expected reset(options={{'reset_mask': ...}}) before the next move"
            )
        seen, reward, over = self.lanes.move(np.asarray(actions, dtype=float), self.generators)
        limit = self.task.time_limit
        cut = np.zeros(self.num_envs, bool) if limit is None else self.lanes.moves >= limit
        if len(waiting):  # only begins now: its action counts for nothing
            self.lanes.begin(waiting, self.generators)
            seen = self.lanes.look()
            reward[waiting], over[waiting], cut[waiting] = 0.0, False, False
        failed = self.lanes.failed >= 0
        info: dict[str, Any] = {"failed": failed} if failed.any() else {}
        self._over = over | cut
        if self.mode == AutoresetMode.SAME_STEP and self._over.any():
            ended = np.flatnonzero(self._over)
            final = np.empty(self.num_envs, dtype=object)
            for i in ended:
                final[i] = seen[i].copy()
            info |= {"final_obs": final, "_final_obs": self._over.copy(), "final_info": {}}
            self.lanes.begin(ended, self.generators)
            seen = self.lanes.look()
            self._over = np.zeros(self.num_envs, dtype=bool)
        return seen.copy(), reward, over, cut, info

    def render(self) -> tuple[np.ndarray, ...] | None:
        """Return a picture of every lane in render mode "rgb_array"."""
        if self.render_mode is None:
            return None
        return tuple(_picture(self.lanes, i) for i in range(self.num_envs))


def _check_render(mode: str | None) -> None:
    if mode not in (None, "rgb_array"):
        raise InputError(f"gym: render_mode {mode!r}; expected 'rgb_array' or None")


def _failures(lanes: Lanes, i: int) -> dict[str, Any]:
    return {"failed": True} if lanes.failed[i] >= 0 else {}


def _picture(lanes: Lanes, i: int) -> np.ndarray:
    system = lanes.task.stepped.system
    mechanism = lanes.task.loop.mechanism
    return pixels(mechanism, lanes.x[i, system.places["q"]], SPAN * mechanism_size(mechanism))
