"""What the claims of the Copa-ICN paper share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ... import palette
from ...runs import Run
from ..clauses import by_controller
from ..model import Scale

PAPER: Final = "copa-icn"

#: What the paper leaves open in all of its experiments, and what the scenarios choose.
ASSUMPTIONS: Final = (
    "the bottleneck's queue holds one bandwidth-delay product, drop tail, for every algorithm; the "
    "paper does not say what its routers hold",
    "access links run at ten times the bottleneck's rate, at least at 1 Gbps",
    "RTprop is propagation alone",
    "the first window is 10 packets for every algorithm",
)
#: Of experiments in which flows join.
JITTER: Final = (
    "later flows start up to one RTprop late, at random, so that runs with different numbers are "
    "independent"
)

#: The algorithms of the paper's Figures 6 to 8.
FOUR: Final = ("copa-icn", "bbr", "cubic", "newreno")
#: Those of its section 5.3.
TWO: Final = ("copa-icn", "copa")


def numbers(scale: Scale) -> tuple[int, ...]:
    """The run numbers at `scale`: two, five or ten."""
    count = {Scale.QUICK: 2, Scale.DEFAULT: 5, Scale.FULL: 10}[scale]
    return tuple(range(1, count + 1))


def name_of(controller: str) -> str:
    """The algorithm's name in text."""
    return palette.controller(controller).name


def in_order(runs: Iterable[Run], controllers: Iterable[str] = FOUR) -> list[Run]:
    """`runs` algorithm by algorithm: first `controllers`, then the others."""
    groups = by_controller(runs)
    first = [c for c in controllers if c in groups]
    return [run for c in [*first, *(c for c in groups if c not in first)] for run in groups[c]]
