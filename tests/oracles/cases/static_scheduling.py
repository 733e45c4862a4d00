"""Schedules by a loop over unit times, and the optimum of eight tasks over all orders."""

from itertools import permutations

EDGES = {3: (4,), 4: (5, 7), 5: (6, 7), 2: (3,)}  # consumer: producers, tasks 1 to 7 of fig. 2


def levels(times, needs):
    after = {k: [c for c, p in needs.items() if k in p] for k in times}
    found = {}

    def level(k):
        if k not in found:
            found[k] = times[k] + max((level(s) for s in after[k]), default=0)
        return found[k]

    return {k: (level(k), len(after[k])) for k in times}


def by_list(times, needs, m):
    rank = levels(times, needs)
    listed = sorted(times, key=lambda k: (-rank[k][0], -rank[k][1], k))
    end, free, now = {}, [0] * m, 0
    while len(end) < len(times):
        for k in listed:
            here = [p for p in range(m) if free[p] <= now]
            if k not in end and here and all(end.get(p, 1e9) <= now for p in needs.get(k, ())):
                end[k] = now + times[k]
                free[here[0]] = end[k]
        now += 1
    return max(end.values())


def best(times, needs, m):
    shortest = 1e9
    for order in permutations(times):
        place = {k: i for i, k in enumerate(order)}
        if any(place[p] > place[k] for k in order for p in needs.get(k, ())):
            continue
        end, busy = {}, []
        for k in order:
            start = max((end[p] for p in needs.get(k, ())), default=0)
            while any(sum(a <= t < b for a, b in busy) >= m for t in range(start, start + times[k])):
                start += 1
            end[k] = start + times[k]
            busy.append((start, end[k]))
        shortest = min(shortest, max(end.values()))
    return shortest


def expected():
    ones = dict.fromkeys(range(1, 8), 1)
    slow = ones | {1: 8, 2: 8}
    eight = dict(enumerate((1, 8, 7, 8, 2, 8, 5, 1)))
    needs = {1: (0,), 5: (0,), 6: (0, 1, 5), 7: (0, 4, 5, 6)}
    found, optimum = by_list(eight, needs, 3), best(eight, needs, 3)
    x1, x2 = 0.3, 0.4
    return {
        "van der Pol, all tasks 1: makespan on 1, 2, 3 processors": [
            by_list(ones, EDGES, m) for m in (1, 2, 3)
        ],
        "van der Pol, integrations 8: makespan on 1, 2, 3 processors": [
            by_list(slow, EDGES, m) for m in (1, 2, 3)
        ],
        "van der Pol, all tasks 1: critical path": max(level for level, _ in levels(ones, EDGES).values()),
        "van der Pol: rates at (0.3, 0.4)": [x2, x2 - x1**2 * x2 - x1],
        "eight tasks, 3 processors: CP/MISF": found,
        "eight tasks, 3 processors: DF/IHS": optimum,
        "eight tasks: error of CP/MISF, printed bound 1/m": found / optimum - 1,
    }
