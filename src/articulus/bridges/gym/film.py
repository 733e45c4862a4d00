"""A game as a film: an animated PNG that browsers and chat programs play."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from articulus.bridges.gym.environment import Environment
from articulus.browser.picture import animation
from articulus.errors import InputError
from articulus.model.files.storage import StrPath, replacing

FRAMES = 25.0
"""Pictures of a second at most."""


def film(
    env: Any, policy: Callable[[np.ndarray], Any], path: StrPath, *, seed: int | None = None, max_moves: int = 1000
) -> float:  # fmt: skip
    """Play a game and write it as an animated PNG in real time, at most 25 pictures a second; return the sum of its rewards.

    Parameters
    ----------
    env : Environment
        Of `make`, or of `gymnasium.make` with one of our ids.
    policy : function
        Of an observation; returns an action.
    path : path
        Ends in .png; written whole or not at all.
    seed : int
        Of the game.
    max_moves : int
        Moves after which a game that is not over ends.
    """
    inner = getattr(env, "unwrapped", env)
    if not isinstance(inner, Environment):
        raise InputError(f"film: found {env!r}; expected one environment of ours, such as art.gym.make(loop)")
    if Path(path).suffix != ".png":
        raise InputError(f"film: path {str(path)!r}; expected one that ends in .png: an animated picture")
    if max_moves < 1:
        raise InputError(f"film: max_moves {max_moves!r}; expected at least 1")
    lanes, place = inner.lanes, inner.task.stepped.system.places["q"]
    seen, _ = env.reset(seed=seed)
    positions, gained = [lanes.x[0, place].copy()], 0.0
    for _ in range(max_moves):
        seen, reward, over, cut, _ = env.step(policy(seen))
        gained += float(reward)
        positions.append(lanes.x[0, place].copy())
        if over or cut:
            break
    every = max(1, round(1 / (FRAMES * inner.task.duration)))
    shown = [q for q in positions[::every] if np.isfinite(q).all()]
    data = animation(inner.task.loop.mechanism, shown, len(shown) * every * inner.task.duration)
    with replacing(path) as file:
        file.write_bytes(data)
    return gained
