"""Loops as environments of Gymnasium: `make` for one game, `make_vec` for many at once in native code. Needs the extra `gym`."""

from typing import Any

from articulus.bridges.gym.environment import Environment, VectorEnvironment
from articulus.bridges.gym.film import film
from articulus.bridges.gym.registered import IDS, register_all
from articulus.bridges.gym.task import ArrayFunction, GymTask, MoveSymbols, of_arrays


def make(loop: Any, *, render_mode: str | None = None, **task: Any) -> Environment:
    """Return an environment of Gymnasium.

    Parameters
    ----------
    loop : Loop, Mechanism, Study or GymTask
    render_mode : str
        "rgb_array" or None.
    **task
        Fields of `GymTask`: observations, actions, bounds, reward, terminated, randomize, start, noise, time_limit, step, frames, method, q0, v0,
        params.
    """
    return Environment(loop if isinstance(loop, GymTask) else GymTask(loop, **task), render_mode)


def make_vec(
    loop: Any, lanes: int, *, autoreset_mode: Any = "NextStep", render_mode: str | None = None, **task: Any
) -> VectorEnvironment:
    """Return a vector environment of Gymnasium, whose lanes move in native code together; see `make` and `VectorEnvironment`."""
    return VectorEnvironment(
        loop if isinstance(loop, GymTask) else GymTask(loop, **task), lanes, autoreset_mode, render_mode
    )


__all__ = [
    "IDS",
    "ArrayFunction",
    "Environment",
    "GymTask",
    "MoveSymbols",
    "VectorEnvironment",
    "film",
    "make",
    "make_vec",
    "of_arrays",
    "register_all",
]
