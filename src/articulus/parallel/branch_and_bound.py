"""The best schedule, or one with a proven bound of its error: depth-first search in the order of CP/MISF (DF/IHS)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import combinations

from articulus.errors import InputError
from articulus.parallel.graph import TaskGraph, require_processors
from articulus.parallel.list_schedule import cp_misf
from articulus.parallel.schedule import Schedule


def df_ihs(graph: TaskGraph, processors: int, time_limit: float = 10.0) -> Schedule:
    """Return the shortest schedule, by depth-first search with an implicit heuristic (DF/IHS); transfers cost nothing.

    Whenever a processor becomes free, all choices of ready tasks are tried, those that CP/MISF prefers first, and choices that leave a
    processor idle last, which no list schedule does. A branch ends where a bound, of the longest path that is left or the work that is
    left, is not below the best schedule, or where the same tasks have been started before, running no longer.

    Parameters
    ----------
    graph : TaskGraph
    processors : int
    time_limit : float
        Time after which the best schedule found is returned. `bound` of the schedule is its makespan if the search ended, else the
        lower bound of the graph; `error` is how far above the optimum the makespan is at most.

    Returns
    -------
    Schedule
        Never longer than that of `cp_misf`.
    """
    require_processors(processors)
    if not time_limit > 0:
        raise InputError(f"time_limit = {time_limit!r}; expected a time above zero")
    first = cp_misf(graph, processors)
    if first.makespan <= first.bound * (1 + EXACT):
        return _name(first, first.bound)
    search = _Search(graph, processors, first, time_limit)
    search.run()
    best = Schedule(graph, processors, search.start_times, search.processor, 0.0, first.bound, "DF/IHS")
    return _name(
        best, best.makespan if search.ended or best.makespan <= first.bound * (1 + EXACT) else first.bound
    )


EXACT = 1e-12
SEEN = 200_000
"""States that are remembered; beyond, the search goes on without adding to them."""


def _name(found: Schedule, bound: float) -> Schedule:
    return Schedule(found.graph, found.processors, found.start_times, found.processor, 0.0, bound, "DF/IHS")


class _Search:
    """A depth-first search; the stack holds what is left to try at each event."""

    def __init__(self, graph: TaskGraph, processors: int, first: Schedule, time_limit: float):
        self.graph, self.m = graph, processors
        self.start_times, self.processor = first.start_times, first.processor
        self.best, self.goal = first.makespan, first.bound * (1 + EXACT)
        self.until = time.perf_counter() + time_limit
        self.ended = False
        self.seen: dict[tuple, float] = {}
        key = [(-level, -len(after)) for level, after in zip(graph.levels, graph.successors)]
        self.rank = sorted(range(len(graph)), key=lambda k: (*key[k], k))
        self.place = {k: i for i, k in enumerate(self.rank)}

    def run(self) -> None:
        """Search until the best is proven or the time is over."""
        root = _Node(
            0.0, (), tuple(len(p) for p in self.graph.predecessors), self._first(), sum(self.graph.times), 0
        )
        stack = [(root, self._choices(root))]
        trail: list[tuple[float, tuple[int, ...]]] = []
        while stack:
            if self.best <= self.goal or time.perf_counter() > self.until:
                self.ended = self.best <= self.goal
                return
            node, choices = stack[-1]
            choice = next(choices, None)
            if choice is None:
                stack.pop()
                if trail:
                    trail.pop()
                continue
            child = self._after(node, choice)
            trail.append((node.now, choice))
            if not child.running and not child.ready:
                self._keep(trail)
                trail.pop()
            elif self._hopeless(child):
                trail.pop()
            else:
                stack.append((child, self._choices(child)))
        self.ended = True

    def _first(self) -> tuple[int, ...]:
        return tuple(k for k in self.rank if not self.graph.predecessors[k])

    def _choices(self, node: _Node) -> Iterator[tuple[int, ...]]:
        """Yield sets of ready tasks to start now: as many as there are processors, in the order of the list, then fewer."""
        free = self.m - len(node.running)
        for size in range(min(free, len(node.ready)), -1, -1):
            if size or node.running:
                yield from combinations(node.ready, size)

    def _after(self, node: _Node, chosen: tuple[int, ...]) -> _Node:
        """Return the state at the next end of a task."""
        times, after = self.graph.times, self.graph.successors
        running = sorted((*node.running, *((node.now + times[k], k) for k in chosen)))
        now = running[0][0]
        done = [k for end, k in running if end <= now]
        waiting = list(node.waiting)
        new = []
        for k in done:
            for s in after[k]:
                waiting[s] -= 1
                if not waiting[s]:
                    new.append(s)
        left = [k for k in node.ready if k not in chosen]
        ready = tuple(sorted((*left, *new), key=self.place.__getitem__))
        mask = node.mask
        for k in chosen:
            mask |= 1 << k
        work = node.work - sum(times[k] for k in chosen)
        return _Node(now, tuple(r for r in running if r[0] > now), tuple(waiting), ready, work, mask)

    def _hopeless(self, node: _Node) -> bool:
        levels, times = self.graph.levels, self.graph.times
        path = max((node.now + levels[k] for k in node.ready), default=node.now)
        path = max(path, max((end - times[k] + levels[k] for end, k in node.running), default=node.now))
        busy = sum(end - node.now for end, _ in node.running)
        if max(path, node.now + (node.work + busy) / self.m) >= self.best * (1 - EXACT):
            return True
        key = (node.mask, tuple((round(end - node.now, 12), k) for end, k in node.running))
        before = self.seen.get(key)
        if before is not None and before <= node.now:
            return True
        if before is not None or len(self.seen) < SEEN:
            self.seen[key] = node.now
        return False

    def _keep(self, trail: list[tuple[float, tuple[int, ...]]]) -> None:
        start, processor = [0.0] * len(self.graph), [0] * len(self.graph)
        until = [0.0] * self.m
        for now, chosen in trail:
            for k in chosen:
                p = min(range(self.m), key=lambda p: (until[p] > now * (1 + EXACT), p))
                start[k], processor[k] = now, p
                until[p] = now + self.graph.times[k]
        if max(until) < self.best:
            self.best, self.start_times, self.processor = max(until), tuple(start), tuple(processor)


class _Node:
    """A time at which a task ends: what runs until when, what waits for how many, what is ready, work that has not begun."""

    __slots__ = ("mask", "now", "ready", "running", "waiting", "work")

    def __init__(
        self,
        now: float,
        running: tuple[tuple[float, int], ...],
        waiting: tuple[int, ...],
        ready: tuple[int, ...],
        work: float,
        mask: int,
    ):
        self.now, self.running, self.waiting = now, running, waiting
        self.ready, self.work, self.mask = ready, work, mask
