"""Task graphs: what has to be computed before what, and how long each part takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from articulus.errors import Finding, InputError, ModelError

Edge = tuple[int, int]


@dataclass(frozen=True, eq=False)
class TaskGraph:
    """Tasks with times, and edges from each task to those that need its result.

    Attributes
    ----------
    names : tuple of str
    times : tuple of float
        Processing time of each task, in any unit; zero or more.
    edges : tuple of (int, int)
        Numbers of a task and of one that needs it, each pair once, without cycles.
    """

    names: tuple[str, ...]
    times: tuple[float, ...]
    edges: tuple[Edge, ...]

    def __post_init__(self) -> None:
        if len(self.names) != len(self.times):
            raise InputError(
                f"found {len(self.names)} names and {len(self.times)} times; expected as many of both"
            )
        bad = [k for k, t in enumerate(self.times) if not (np.isfinite(t) and t >= 0)]
        if bad:
            raise InputError(
                f"time of task '{self.names[bad[0]]}' is {self.times[bad[0]]}; expected zero or more"
            )
        n = len(self.names)
        for a, b in self.edges:
            if not (0 <= a < n and 0 <= b < n and a != b):
                raise InputError(f"edge ({a}, {b}); expected two different tasks among 0 to {n - 1}")
        object.__setattr__(self, "edges", tuple(sorted(set(self.edges))))
        self.order  # noqa: B018 (raises where there is a cycle)

    @staticmethod
    def of(times: Sequence[float], edges: Iterable[Edge], names: Sequence[str] = ()) -> TaskGraph:
        """Return a graph; tasks without names are numbered from 1.

        Parameters
        ----------
        times : sequence of float
        edges : iterable of (int, int)
            Task numbers from 0.
        names : sequence of str
        """
        return TaskGraph(
            tuple(names) or tuple(str(k + 1) for k in range(len(times))),
            tuple(float(t) for t in times),
            tuple((int(a), int(b)) for a, b in edges),
        )

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def successors(self) -> tuple[tuple[int, ...], ...]:
        """Tasks that need each task."""
        found: list[list[int]] = [[] for _ in self.names]
        for a, b in self.edges:
            found[a].append(b)
        return tuple(map(tuple, found))

    @cached_property
    def predecessors(self) -> tuple[tuple[int, ...], ...]:
        """Tasks that each task needs."""
        found: list[list[int]] = [[] for _ in self.names]
        for a, b in self.edges:
            found[b].append(a)
        return tuple(map(tuple, found))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """All tasks, each behind those that it needs."""
        waiting = [len(p) for p in self.predecessors]
        found = [k for k, w in enumerate(waiting) if not w]
        for k in found:
            for s in self.successors[k]:
                waiting[s] -= 1
                if not waiting[s]:
                    found.append(s)
        if len(found) < len(self.names):
            held = next(k for k, w in enumerate(waiting) if w)
            raise ModelError(
                Finding(
                    f"task '{self.names[held]}'",
                    "it waits for its own result",
                    "tasks in an order in which the inputs of each are known",
                    "a loop without an integrator is an equation to solve, not a task",
                )
            )
        return tuple(found)

    @cached_property
    def levels(self) -> tuple[float, ...]:
        """Longest path from each task to the end, its own time included."""
        found = [0.0] * len(self)
        for k in reversed(self.order):
            found[k] = self.times[k] + max((found[s] for s in self.successors[k]), default=0.0)
        return tuple(found)

    @cached_property
    def earliest(self) -> tuple[float, ...]:
        """Earliest start of each task on as many processors as one likes."""
        found = [0.0] * len(self)
        for k in self.order:
            found[k] = max((found[p] + self.times[p] for p in self.predecessors[k]), default=0.0)
        return tuple(found)

    @property
    def critical_path(self) -> float:
        """Time of the longest path: no number of processors is faster."""
        return max(self.levels, default=0.0)

    @property
    def work(self) -> float:
        """Time of all tasks one after another."""
        return sum(self.times)

    @property
    def parallelism(self) -> float:
        """Work over critical path: the largest speed-up there can be."""
        return self.work / self.critical_path if self.critical_path else 1.0

    def lower_bound(self, processors: int) -> float:
        """Return a time that no schedule on so many processors undercuts.

        The largest of critical path, work over processors, and the bound of Fernandez and Bussell: what must run between two times at the
        latest when nothing is later than in a schedule as long as the critical path. Of whole times the next whole number.

        Parameters
        ----------
        processors : int
        """
        require_processors(processors)
        bound = max(self.critical_path, self.work / processors, self._interval_bound(processors))
        whole = all(t == int(t) for t in self.times)
        return float(math.ceil(bound - 1e-9)) if whole else bound

    def _interval_bound(self, processors: int) -> float:
        if not len(self):
            return 0.0
        times = np.asarray(self.times)
        early = np.asarray(self.earliest)
        late = self.critical_path - np.asarray(self.levels)
        marks = np.unique(np.concatenate([early, late + times]))
        if len(marks) > MARKS:
            marks = marks[np.linspace(0, len(marks) - 1, MARKS).astype(int)]
        best = 0.0
        for i, begin in enumerate(marks[:-1]):
            inside_left = np.clip(early + times - begin, 0.0, times)
            for end in marks[i + 1 :]:
                least = np.minimum(np.minimum(inside_left, np.clip(end - late, 0.0, times)), end - begin)
                best = max(best, float(least.sum()) / processors - (end - begin))
        return self.critical_path + best

    def fuse(self) -> TaskGraph:
        """Return the graph in which every task with one successor is one with it where that has one predecessor.

        Nothing that could run at the same time is put together (Kasahara, Honda & Narita 1989).
        """
        return self.merge(self.fusion())

    def fusion(self) -> list[int]:
        """Return the number that each task has in the graph of `fuse`."""
        head, number = list(range(len(self))), dict[int, int]()
        for k in self.order:
            if len(self.predecessors[k]) == 1:
                (father,) = self.predecessors[k]
                if len(self.successors[father]) == 1:
                    head[k] = head[father]
            number.setdefault(head[k], len(number))
        return [number[h] for h in head]

    def merge(self, groups: Sequence[int]) -> TaskGraph:
        """Return the graph of groups of tasks, each group one task with the time of all and the name of its last.

        Parameters
        ----------
        groups : sequence of int
            A label for each task; tasks with equal labels become one.
        """
        number: dict[int, int] = {}
        for k in self.order:
            number.setdefault(groups[k], len(number))
        times, names = [0.0] * len(number), [""] * len(number)
        for k in self.order:
            times[number[groups[k]]] += self.times[k]
            names[number[groups[k]]] = self.names[k]
        edges = ((number[groups[a]], number[groups[b]]) for a, b in self.edges)
        return TaskGraph.of(times, (e for e in edges if e[0] != e[1]), names)

    def scaled(self, time: Callable[[float], float]) -> TaskGraph:
        """Return the graph with other times.

        Parameters
        ----------
        time : callable
            From the old time of a task to the new one.
        """
        return TaskGraph.of([time(t) for t in self.times], self.edges, self.names)

    def dot(self) -> str:
        """Return the graph in the language of Graphviz."""
        lines = ["digraph tasks {", "  rankdir=LR; node [shape=box];"]
        for k, (name, t) in enumerate(zip(self.names, self.times)):
            lines.append(f'  t{k} [label="{_quote(name)}\\n{t:g}"];')
        lines += [f"  t{a} -> t{b};" for a, b in self.edges]
        return "\n".join([*lines, "}", ""])

    def __repr__(self) -> str:
        return f"TaskGraph({len(self)} tasks, {len(self.edges)} edges, work {self.work:g}, critical path {self.critical_path:g})"


MARKS = 120
"""Times between which the interval bound looks; fewer give a weaker bound, never a wrong one."""


def require_processors(processors: int) -> None:
    """Raise InputError unless a number of processors is a whole number from 1.

    Parameters
    ----------
    processors : int
    """
    if isinstance(processors, bool) or not isinstance(processors, int | np.integer) or processors < 1:
        raise InputError(f"processors = {processors!r}; expected a whole number, 1 or more")


def _quote(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')
