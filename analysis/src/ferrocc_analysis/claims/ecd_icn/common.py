"""What the claims of the ECD paper share."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ... import figures, palette
from ...runs import Run
from ...stats import Estimate, ratio
from ..clauses import by_number, mean, row
from ..model import Measured, Need, Scale

PAPER: Final = "ecd-icn"

#: Path of the queue management in a scenario.
AQM: Final = "topology.bottleneck.aqm"
#: Of the number of clients.
COUNT: Final = "flow_count"
#: RED as the paper's Table 1 has it, and as scenarios write it.
RED: Final = json.dumps(
    {
        "name": "red",
        "min_threshold": 20,
        "max_threshold": 40,
        "threshold_unit": "percent",
        "max_p": 0.1,
        "queue_weight": 0.02,
        "gentle": False,
        "mean_packet_bytes": 1500,
    }
)
#: The queue managements that the paper compares, as axes of a sweep.
FOUR: Final = ("drop-tail", RED, "codel", "ecd")
#: Their names.
NAMES: Final = ("drop-tail", "red", "codel", "ecd")
#: Those that drop before the queue is full, ECD left out.
EARLY: Final = ("red", "codel")
RIVALS: Final = NAMES[:3]
#: The ECD controller as the paper's Algorithm 2 is printed, with the improved CoDel.
LITERAL: Final = "literal"
_LITERAL_OPTION: Final = '--set=flows[*].controller={"name":"ecd","variant":"algorithm-2"}'

#: What the paper leaves open in all of its experiments, and what the scenarios choose.
ASSUMPTIONS: Final = (
    "the rates and delays of the links are in an image in the paper: here 20 Mbps between routers "
    "unless the experiment says otherwise, RTprop 6 ms, faster links to hosts (study A12 has other "
    "rates, delays and buffers)",
    "every queue of the routers holds 200 packets and has the same algorithm; the queue looked at "
    "is that of R3 towards R2",
    "an IP packet of DATA has 1,500 bytes, 1,392 of them payload",
    "the controller is ECD's with the errors of the printed algorithm settled: alpha follows every "
    "window, a mark sets the slow start threshold, alpha is 1 at first",
    "ECD's queue drops by CoDel's control law in its dropping state",
)
JITTER: Final = (
    "clients start up to one RTprop late, at random, so that runs with different numbers are "
    "independent"
)
BESIDE: Final = (
    "the printed Algorithm 2 (alpha moves only when a mark arrives, a mark leaves the slow start "
    "threshold alone) is shown beside, without a verdict"
)
SETTLED: Final = (
    "the first five seconds, with the clients' slow start, and the last second are left out"
)

Group = Mapping[str, Mapping[float, list[Run]]]
#: A metric by queue management and by what is swept.
Table = Mapping[str, Mapping[float, Estimate]]


def numbers(scale: Scale) -> tuple[int, ...]:
    """The run numbers at `scale`: two, five or ten."""
    count = {Scale.QUICK: 2, Scale.DEFAULT: 5, Scale.FULL: 10}[scale]
    return tuple(range(1, count + 1))


def with_literal(
    scenario: str,
    options: tuple[str, ...],
    runs: tuple[int, ...],
    axes: Mapping[str, tuple[str, ...]],
) -> tuple[Need, ...]:
    """A need of all four queue managements, and one of the printed Algorithm 2 with ECD's."""
    return (
        Need(scenario, options, runs, axes),
        Need(scenario, (*options, _LITERAL_OPTION), runs, {**axes, AQM: ("ecd",)}),
    )


def aqm_of(run: Run) -> str:
    """The name of the bottleneck's queue management."""
    found = run.setting(AQM)
    return str(found["name"] if isinstance(found, dict) else found)


def label_of(run: Run) -> str:
    """The name of its queue management, or `LITERAL`."""
    printed = run.setting("flows.0.controller.variant") == "algorithm-2"
    return LITERAL if printed and aqm_of(run) == "ecd" else aqm_of(run)


def name_of(label: str) -> str:
    """What a label is called in text."""
    return "ECD, printed algorithm" if label == LITERAL else palette.aqm(label).name


def look_of(label: str) -> palette.Style:
    """What a label looks like in figures."""
    if label == LITERAL:
        return palette.variant(palette.aqm("ecd"), 1)
    return palette.aqm(label)


def by_label(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """`runs` by label in the paper's order, each by seed and number."""
    found: dict[str, list[Run]] = {}
    for run in by_number(runs):
        found.setdefault(label_of(run), []).append(run)
    return {k: found[k] for k in (*NAMES, LITERAL) if k in found}


def in_order(runs: Iterable[Run]) -> list[Run]:
    """`runs` queue management by queue management."""
    return [run for of in by_label(runs).values() for run in of]


def grouped(runs: Iterable[Run], place: str) -> dict[str, dict[float, list[Run]]]:
    """`runs` by label and by what the configuration has at `place`, or the number of flows where
    that is `COUNT`; ascending.
    """
    found: dict[str, dict[float, list[Run]]] = {}
    for label, of in by_label(runs).items():
        for run in of:
            x = float(len(run.flows) if place == COUNT else run.setting(place))
            found.setdefault(label, {}).setdefault(x, []).append(run)
    return {k: dict(sorted(of.items())) for k, of in found.items()}


def measured(groups: Group, metric: str, factor: float = 1.0) -> dict[str, dict[float, Estimate]]:
    """The metric's means, times `factor`, by label and by what is swept."""
    return {
        label: {x: mean(runs, metric).scaled(factor) for x, runs in of.items()}
        for label, of in groups.items()
    }


def points(table: Table) -> list[figures.Points]:
    """A line for each label of `table`."""
    return [
        figures.Points(
            name_of(label),
            look_of(label),
            list(of.values()),
            list(of),
            variant=1 if label == LITERAL else 0,
        )
        for label, of in table.items()
    ]


def place(where: str, x: float) -> str:
    """`where` with a number in its place, as people write it."""
    return where.format(x).replace("1 clients", "1 client") if x == 1 else where.format(x)


def listed(table: Table, what: str, unit: str, where: str) -> list[Measured]:
    """A row that only informs for each number of `table`; `where` names what is swept."""
    return [
        row(f"{what}, {name_of(label)}, {place(where, x)}", value, unit)
        for label, of in table.items()
        for x, value in of.items()
    ]


def closest(one: Mapping[float, Estimate], others: Table) -> tuple[str, float, Estimate]:
    """Where `one` is largest in units of another: which, at what, and the ratio.

    Where a rival is 0 on average there is no ratio; if there is none at all, the ratio is that of
    zeros, 1.
    """
    found = [
        (label, x, ratio(one[x], rival[x]))
        for label, rival in others.items()
        for x in one
        if rival[x].mean != 0
    ]
    if not found:
        label, x = next(iter(others)), next(iter(one))
        return label, x, Estimate(1.0, 1.0, 1.0, one[x].n)
    return max(found, key=lambda f: f[2].mean)


def part(table: Table, labels: Iterable[str], places: Sequence[float] | None = None) -> Table:
    """The lines `labels` of `table`, at `places` if these are given."""
    return {
        label: {x: v for x, v in table[label].items() if places is None or x in places}
        for label in labels
    }
