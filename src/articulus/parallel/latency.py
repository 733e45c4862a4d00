"""Control laws computed in another order than that of one sample: how late each input reaches the output, and what that does.

A strict schedule samples all inputs together and puts the output out when all is done. A non-strict one runs the tasks round and round in an
order of its own: each reads its inputs when it starts and takes the newest results of the others, so that inputs that matter most can reach
the output early (Orin, Wong & Sadayappan 1989).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from articulus.errors import InputError
from articulus.simulation.loop.components.expression import Expression

Signals = Mapping[str, Callable[[np.ndarray], np.ndarray]]
Law = Callable[[Mapping[str, np.ndarray]], np.ndarray]


@dataclass(frozen=True)
class ControlTask:
    """A task of a control law.

    Attributes
    ----------
    name : str
    time : float
        Duration.
    inputs : tuple of str
        Signals that it reads.
    needs : tuple of str
        Tasks whose results it uses.
    """

    name: str
    time: float
    inputs: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


def nonstrict_delays(tasks: Sequence[ControlTask], order: Sequence[str], output: str) -> dict[str, float]:
    """Return how old each input is when the output comes out, with the tasks run round and round in an order.

    Parameters
    ----------
    tasks : sequence of ControlTask
    order : sequence of str
        Every task once.
    output : str
        Task whose result is the output; it is put out when it is done.

    Returns
    -------
    dict of str to float
        By input, in the unit of the times; the oldest way where an input goes several.
    """
    by_name = _check(tasks, order, output)
    sampled: dict[str, dict[str, float]] = {name: {} for name in by_name}
    now, found = 0.0, dict[str, float]()
    for _ in range(
        len(tasks) + 2
    ):  # by then results of the round before have reached the output along every path
        for name in order:
            task = by_name[name]
            held = dict.fromkeys(task.inputs, now)
            for before in task.needs:
                for signal, at in sampled[before].items():
                    held[signal] = min(at, held.get(signal, at))
            sampled[name] = held
            now += task.time
            if name == output:
                found = {signal: now - at for signal, at in held.items()}
    return found


def run_nonstrict(
    law: Expression, tasks: Sequence[ControlTask], order: Sequence[str], output: str, unit: float
) -> Expression:
    """Return a control law as it acts when its tasks run round and round in an order: inputs read late, the output put out early.

    Parameters
    ----------
    law : Expression
        Memoryless; its inputs are those of the tasks.
    tasks : sequence of ControlTask
        With whole numbers as times.
    order : sequence of str
        Every task once.
    output : str
        Task whose result is the command.
    unit : float
        Duration of one unit of the times, which becomes the law's sampling period [s].

    Returns
    -------
    Expression
        To be used in a loop whose step is `unit` or a part of it; the time is counted from the first output.
    """
    delays = nonstrict_delays(tasks, order, output)
    whole = [*delays.values(), *(task.time for task in tasks)]
    if any(x != round(x) for x in whole):
        raise InputError(f"times {[task.time for task in tasks]}; expected whole numbers of units")
    if set(delays) != set(law.inputs):
        raise InputError(
            f"tasks read {sorted(delays)}, the law {sorted(law.inputs)}; expected the same signals for both"
        )
    return replace(
        law,
        period=unit,
        delays=tuple(int(delays[name]) for name in law.inputs),
        every=int(strict_delay(tasks)),
    )


def strict_delay(tasks: Sequence[ControlTask]) -> float:
    """Return the delay of all inputs when they are sampled together and the output comes out when all is done.

    Parameters
    ----------
    tasks : sequence of ControlTask
    """
    return float(sum(task.time for task in tasks))


def _check(tasks: Sequence[ControlTask], order: Sequence[str], output: str) -> dict[str, ControlTask]:
    by_name = {task.name: task for task in tasks}
    if len(by_name) != len(tasks):
        raise InputError("two tasks have the same name")
    if sorted(order) != sorted(by_name):
        raise InputError(f"order {list(order)}; expected each of {sorted(by_name)} once")
    for task in tasks:
        unknown = [name for name in task.needs if name not in by_name]
        if unknown or not (np.isfinite(task.time) and task.time > 0):
            raise InputError(
                f"task '{task.name}': needs {unknown or 'known tasks'}, time {task.time!r}; expected known tasks and a time above zero"
            )
    if output not in by_name:
        raise InputError(f"output '{output}'; expected one of {sorted(by_name)}")
    return by_name


def mean_square_error(
    law: Law,
    signals: Signals,
    delays: Mapping[str, float],
    period: float,
    shift: float = 0.0,
    points: int = 2048,
) -> float:
    """Return the mean over a period of the square of (law at t - shift) - (law with each input at t - its delay).

    Parameters
    ----------
    law : callable
        From a table of inputs to the output, both arrays over time.
    signals : dict of str to callable
        Inputs over time, periodic.
    delays : dict of str to float
        Delays of each input [s].
    period : float
        [s].
    shift : float
        Delay of the law that it is compared with [s].
    points : int
        Points of the sum, which is exact for harmonics up to half of them.
    """
    if not period > 0:
        raise InputError(f"period = {period!r}; expected a time above zero")
    missing = signals.keys() - delays.keys()
    if missing:
        raise InputError(f"delays lack {sorted(missing)}; expected one for each input")
    t = np.arange(points) * (period / points)
    wanted = law({name: signal(t - shift) for name, signal in signals.items()})
    found = law({name: signal(t - delays[name]) for name, signal in signals.items()})
    return float(np.mean((np.asarray(wanted) - np.asarray(found)) ** 2))


def effective_latency(
    law: Law, signals: Signals, delays: Mapping[str, float], period: float, points: int = 2048
) -> float:
    """Return the delay of the law that comes nearest to what comes out, by the mean square error [s].

    Parameters
    ----------
    law, signals, delays, period, points
        As of `mean_square_error`.

    Returns
    -------
    float
        Between 0 and the period.
    """
    t = np.arange(points) * (period / points)
    wanted = np.asarray(law({name: signal(t) for name, signal in signals.items()}))
    found = np.asarray(law({name: signal(t - delays[name]) for name, signal in signals.items()}))
    match = np.fft.irfft(np.fft.rfft(found) * np.conj(np.fft.rfft(wanted)), points)
    k = int(np.argmax(match))
    left, middle, right = match[k - 1], match[k], match[(k + 1) % points]
    bend = left - 2 * middle + right
    return float((k + (0.5 * (left - right) / bend if bend else 0.0)) * period / points % period)
