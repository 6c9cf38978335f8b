"""Jobs of a size worth starting."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import Final

from .cells import Cell

#: A job takes at least so long if the cost model is right, seconds: starting one costs a part of a
#: second.
LEAST_S: Final = 10.0


def pack(cells: Sequence[Cell], cost_s: Callable[[Cell], float]) -> list[list[Cell]]:
    """Packs `cells` into jobs of `LEAST_S` or more (but for the last, if all together take less),
    the longest first. Every cell is in one job.
    """
    rest = sorted(cells, key=lambda c: (-cost_s(c), c.key))
    jobs = []
    while rest and cost_s(rest[0]) >= LEAST_S:
        jobs.append([rest.pop(0)])
    if rest:
        # Of the short ones the longest goes to the job that has least: all come out about alike.
        count = max(1, min(len(rest), int(sum(map(cost_s, rest)) / LEAST_S)))
        heap: list[tuple[float, int]] = [(0.0, i) for i in range(count)]
        shared: list[list[Cell]] = [[] for _ in heap]
        for cell in rest:
            load, i = heapq.heappop(heap)
            shared[i].append(cell)
            heapq.heappush(heap, (load + cost_s(cell), i))
        jobs += _merged([s for s in shared if s], cost_s)
    return sorted(jobs, key=lambda job: (-sum(map(cost_s, job)), job[0].key))


def wall_s(cells: Sequence[Cell], cost_s: Callable[[Cell], float], cores: int) -> float:
    """Seconds until the jobs that `cells` are packed into have ended on `cores` cores, where the
    longest of those that wait is always the next.
    """
    free = [0.0] * cores
    for job in pack(cells, cost_s):
        heapq.heappush(free, heapq.heappop(free) + sum(map(cost_s, job)))
    return max(free)


def _merged(jobs: list[list[Cell]], cost_s: Callable[[Cell], float]) -> list[list[Cell]]:
    """`jobs`, where none stays below `LEAST_S` beside another."""
    jobs = sorted(jobs, key=lambda job: sum(map(cost_s, job)))
    while len(jobs) > 1 and sum(map(cost_s, jobs[0])) < LEAST_S:
        small = jobs.pop(0)
        jobs[0] = jobs[0] + small
        jobs.sort(key=lambda job: sum(map(cost_s, job)))
    return jobs
