"""Lanes of a task: each a game of its own, all moved in native code together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from articulus.bridges.gym.task import ArrayFunction, GymTask
from articulus.errors import InputError
from articulus.kernel.recurrence import NEVER

UNBEGUN = -1
"""Moves of a game before it begins."""


class Lanes:
    """States of many games.

    Parameters
    ----------
    task : GymTask
    count : int

    Attributes
    ----------
    x, p : arrays, (lanes, nx), (lanes, 2 + np)
        States and parameters; p[:, 0] is the time [s].
    moves : array of int, (lanes,)
        Moves of each game so far.
    observation, reward, over : arrays
        After the last move.
    """

    def __init__(self, task: GymTask, count: int):
        if count < 1:
            raise InputError(f"gym: {count} lanes; expected at least 1")
        self.task, self.count = task, count
        one, look = task.stepped, task.look
        engine, system = one.engine, one.system
        self.x = np.zeros((count, engine.nx))
        self.p = np.zeros((count, 2 + system.np))
        self.action = np.zeros((count, len(task.names)))
        self.moves = np.full(count, UNBEGUN, dtype=np.int64)
        self.failed = np.full(count, NEVER)
        self._before = np.zeros_like(self.x)
        self._w = np.zeros((count, task.frames, system.nw))
        self._log = np.zeros((count, 1, engine.logged))
        engine.prepare(count)
        self._march = engine.on(
            self.x, self.p, self._w, self.failed, self._log, first=0, every=max(task.frames, 1)
        )
        self._look = look.bind(self.x, self._before, self.p, self.action)
        outputs = self._look.outputs
        self.observation, self._reward, self._over, self._read = (
            outputs[0],
            outputs[1],
            outputs[2],
            outputs[3:],
        )
        self._places = 2 + task.places
        self._low, self._high = task.limits
        self._move_time = task.duration

    def begin(self, which: Sequence[int] | np.ndarray, rngs: Sequence[np.random.Generator]) -> None:
        """Begin new games in some lanes, each with its generator."""
        for i in which:
            self.x[i], self.p[i] = self.task.begin(rngs[i])
        self.moves[which], self.failed[which] = 0, NEVER
        self.action[which] = 0.0
        self._before[which] = self.x[which]

    def look(self) -> np.ndarray:
        """Return what is seen now, (lanes, n)."""
        self.p[:, 0] -= self._move_time  # the expressions look back from the end of a move
        self._look()
        self.p[:, 0] += self._move_time
        return self.observation

    def move(
        self, actions: np.ndarray, rngs: Sequence[np.random.Generator]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return observations, rewards and ends after a move of all lanes."""
        if actions.shape != self.action.shape:
            raise InputError(
                f"gym: actions of shape {actions.shape}; expected (lanes, actions) = {self.action.shape}: {', '.join(self.task.names)}"
            )
        if (self.moves == UNBEGUN).any():
            raise InputError("gym: a move before the game began; expected reset() first")
        np.clip(actions, self._low, self._high, out=self.action)
        self.p[:, self._places] = self.action
        if self._w.size:
            for w, rng in zip(self._w, rngs):
                w[...] = rng.standard_normal(w.shape)
        self._before[...] = self.x
        self._march(0, self.task.frames)
        self._look()
        self.p[:, 0] += self._move_time
        self.moves += 1
        reward, over = self._reward.reshape(self.count), self._over.reshape(self.count) > 0
        if isinstance(self.task.reward, ArrayFunction):
            given = dict(zip(self.task.reward.signals, self._read)) | {"action": self.action}
            reward = np.broadcast_to(np.asarray(self.task.reward.function(given), dtype=float), (self.count,))
        broken = self.failed >= 0
        if broken.any():  # the state before it failed is kept
            reward, over = np.where(broken, 0.0, reward), over | broken
        return self.observation, np.array(reward), over
