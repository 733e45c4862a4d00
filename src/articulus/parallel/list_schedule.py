"""List schedules by critical path: CP/MISF, and CP/DT/MISF where transfers cost time (Kasahara, Honda & Narita 1989)."""

from __future__ import annotations

import heapq
from bisect import insort
from dataclasses import replace

from articulus.errors import InputError
from articulus.parallel.graph import TaskGraph, require_processors
from articulus.parallel.schedule import Schedule


def cp_misf(graph: TaskGraph, processors: int, transfer: float = 0.0) -> Schedule:
    """Return the schedule by critical path, then most immediate successors first (CP/MISF).

    Tasks are put in order by the longest path from them to the end, those with equal paths by the number of their successors.
    Whenever a processor is free it starts the first task of the list that has what it needs. At most 2 - 1/m times the optimum
    without transfers (Graham), mostly within a few percent.

    Parameters
    ----------
    graph : TaskGraph
    processors : int
    transfer : float
        Time from the end of a task until its result is on another processor, with the check that it is there.

    Returns
    -------
    Schedule
    """
    return _list_tasks(graph, processors, transfer, nearest=False)


def cp_dt_misf(graph: TaskGraph, processors: int, transfer: float = 0.0) -> Schedule:
    """Return the schedule by critical path, data transfer, most immediate successors first (CP/DT/MISF).

    As `cp_misf`; of the free processors a task takes the one on which it can start first, and of these the one to which the fewest
    results have to be moved. Processors that only become free soon are examined, too: waiting for one's own result can be shorter
    than a transfer. Where transfers cost more than the second processor saves, all tasks stay on one.

    Parameters
    ----------
    graph : TaskGraph
    processors : int
    transfer : float
        Time from the end of a task until its result is on another processor, with the check that it is there.

    Returns
    -------
    Schedule
    """
    found = _list_tasks(graph, processors, transfer, nearest=True)
    if found.makespan <= graph.work:
        return found
    alone = _list_tasks(graph, 1, 0.0, nearest=True)
    return replace(found, start_times=alone.start_times, processor=alone.processor)


def _list_tasks(graph: TaskGraph, processors: int, transfer: float, nearest: bool) -> Schedule:
    require_processors(processors)
    if not transfer >= 0:
        raise InputError(f"transfer = {transfer!r}; expected a time, zero or more")
    place = _Placement(graph, processors, transfer)
    priority = [
        (-level, -len(after), k) for k, (level, after) in enumerate(zip(graph.levels, graph.successors))
    ]
    waiting = [len(p) for p in graph.predecessors]
    ready = [priority[k] for k, w in enumerate(waiting) if not w]
    heapq.heapify(ready)
    free = list(range(processors))
    running: list[tuple[float, int, int]] = []
    now = 0.0
    while ready or running:
        while ready and free:
            k = heapq.heappop(ready)[2]
            p = place.nearest(k, now, free) if nearest and transfer else free[0]
            if p in free:
                free.remove(p)
            heapq.heappush(running, (place.put(k, p, now), k, p))
        if not running:
            break
        now = running[0][0]
        while running and running[0][0] <= now:
            _, k, p = heapq.heappop(running)
            if place.until[p] <= now:
                insort(free, p)
            for s in graph.successors[k]:
                waiting[s] -= 1
                if not waiting[s]:
                    heapq.heappush(ready, priority[s])
    method = "CP/DT/MISF" if nearest else "CP/MISF"
    bound = graph.lower_bound(processors)
    return Schedule(
        graph, processors, tuple(place.start_times), tuple(place.processor), transfer, bound, method
    )


class _Placement:
    """What has been placed so far."""

    def __init__(self, graph: TaskGraph, processors: int, transfer: float):
        self.graph, self.transfer = graph, transfer
        self.start_times, self.finish_times = [0.0] * len(graph), [0.0] * len(graph)
        self.processor = [-1] * len(graph)
        self.until = [0.0] * processors

    def arrival(self, k: int, p: int) -> float:
        """Return when all that a task needs is on a processor."""
        return max(
            (
                self.finish_times[b] + (self.transfer if self.processor[b] != p else 0.0)
                for b in self.graph.predecessors[k]
            ),
            default=0.0,
        )

    def nearest(self, k: int, now: float, free: list[int]) -> int:
        """Return the processor on which a task can start first; the fewest transfers where several are equal."""
        own = {self.processor[b] for b in self.graph.predecessors[k]}

        def cost(p: int) -> tuple[float, int, int]:
            moved = sum(self.processor[b] != p for b in self.graph.predecessors[k])
            return max(now, self.until[p], self.arrival(k, p)), moved, p

        return min({*own, free[0], *free[:4]}, key=cost)

    def put(self, k: int, p: int, now: float) -> float:
        """Start a task on a processor as soon as that can be, and return its end."""
        self.start_times[k] = max(now, self.until[p], self.arrival(k, p))
        self.processor[k] = p
        self.until[p] = self.finish_times[k] = self.start_times[k] + self.graph.times[k]
        return self.finish_times[k]
