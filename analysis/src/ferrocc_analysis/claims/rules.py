"""How numbers become verdicts. All functions are pure.

- "more than x": reproduced where the whole interval is at least x; partly where the direction
  holds, that is where the interval is above 0.
- "about x": the mean is within 25 % of x.
- "best", "lowest", "highest": at every point of a sweep; intervals that overlap give partly.
- "below", "at least", ...: the interval is on the right side of the bound; partly where only the
  mean is.
- A claim with several clauses is reproduced where all of them are, not reproduced where none is.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Final

from ..stats import Estimate
from .model import Verdict

#: What "about" means: the largest distance from the number named, as a share of it.
ABOUT: Final = 0.25


def more_than(value: Estimate, bound: float, nothing: float = 0.0) -> Verdict:
    """The verdict on "more than `bound`"; `nothing` is the value of no effect at all."""
    if value.low >= bound:
        return Verdict.REPRODUCED
    return Verdict.PARTLY if value.low > nothing else Verdict.NOT_REPRODUCED


def more_than_one(value: Estimate) -> Verdict:
    """The verdict on "grows", for a ratio: surely, on average only, or not."""
    if value.low > 1:
        return Verdict.REPRODUCED
    return Verdict.PARTLY if value.mean > 1 else Verdict.NOT_REPRODUCED


def about(value: float, expected: float, share: float = ABOUT) -> Verdict:
    """The verdict on "about `expected`"."""
    near = abs(value - expected) <= share * abs(expected) * (1 + 1e-12)
    return Verdict.REPRODUCED if near else Verdict.NOT_REPRODUCED


def at_least(value: Estimate, bound: float) -> Verdict:
    """Whether a value is `bound` or more: surely, on average only, or not."""
    if value.low >= bound:
        return Verdict.REPRODUCED
    return Verdict.PARTLY if value.mean >= bound else Verdict.NOT_REPRODUCED


def at_most(value: Estimate, bound: float) -> Verdict:
    """Whether a value is `bound` or less: surely, on average only, or not."""
    if value.high <= bound:
        return Verdict.REPRODUCED
    return Verdict.PARTLY if value.mean <= bound else Verdict.NOT_REPRODUCED


def within(value: Estimate, low: float, high: float) -> Verdict:
    """Whether a value lies from `low` to `high`: surely, on average only, or not."""
    if value.low >= low and value.high <= high:
        return Verdict.REPRODUCED
    return Verdict.PARTLY if low <= value.mean <= high else Verdict.NOT_REPRODUCED


def below(one: Estimate, other: Estimate) -> Verdict:
    """Whether `one` is smaller than `other`: surely, undecided as the intervals overlap, or not.

    Equal values without spread overlap.
    """
    if one.high < other.low:
        return Verdict.REPRODUCED
    return Verdict.NOT_REPRODUCED if one.low > other.high else Verdict.PARTLY


def lowest(one: Sequence[Estimate], others: Sequence[Sequence[Estimate]]) -> Verdict:
    """Whether `one` is below each of `others` at every point.

    `one` has an estimate per point, `others` one such list per rival.
    """
    if not one or not others:
        raise ValueError("nothing to compare with")
    return worst(below(a, b) for rival in others for a, b in zip(one, rival, strict=True))


def highest(one: Sequence[Estimate], others: Sequence[Sequence[Estimate]]) -> Verdict:
    """Whether `one` is above each of `others` at every point; see `lowest`."""
    if not one or not others:
        raise ValueError("nothing to compare with")
    return worst(below(b, a) for rival in others for a, b in zip(one, rival, strict=True))


def increasing(points: Sequence[Estimate]) -> Verdict:
    """Whether every point is above the one before it."""
    if len(points) < 2:
        raise ValueError("nothing to compare with")
    return worst(below(a, b) for a, b in itertools.pairwise(points))


def decreasing(points: Sequence[Estimate]) -> Verdict:
    """Whether every point is below the one before it."""
    return increasing(points[::-1])


def holds(condition: bool) -> Verdict:
    """The verdict on something that is so or is not."""
    return Verdict.REPRODUCED if condition else Verdict.NOT_REPRODUCED


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of `verdicts`, for a clause that speaks of every point."""
    order = [Verdict.NOT_REPRODUCED, Verdict.PARTLY, Verdict.REPRODUCED]
    return min(verdicts, key=order.index)


def overall(clauses: Iterable[Verdict]) -> Verdict:
    """A claim's verdict from those of its clauses: all, some or none of them hold."""
    found = set(clauses)
    if not found:
        raise ValueError("a claim needs a clause")
    return found.pop() if len(found) == 1 else Verdict.PARTLY
