"""What the claims of the NCE paper share: who is compared, with and without the cap."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ... import figures, palette, quantities
from ...metrics import NotApplicable
from ...runs import Run
from ...stats import Estimate
from ..clauses import by_number, judgement, mean, row, runs_of
from ..model import Drawn, Judgement, Measured, Need, Results, Scale

PAPER: Final = "tcp-nce"

#: Path of the recoveries in a scenario.
RECOVERY: Final = "flows[*].recovery"
#: Of the largest window.
CAP: Final = "tcp.max_window"
#: Of the number of connections.
COUNT: Final = "flow_count"
LOSS: Final = "topology.bottleneck.loss"
REORDER: Final = "topology.bottleneck.reorder"
DELAY: Final = "topology.bottleneck.delay"
RATE: Final = "topology.bottleneck.rate"
BUFFER: Final = "topology.bottleneck.buffer"

#: The TCPs that the paper compares.
SEVEN: Final = ("newreno", "veno", "cerl", "rr", "pr", "door", "nce")
#: What NCE is compared with.
RIVALS: Final = SEVEN[:-1]
#: The control: NewReno that never cuts upon duplicate ACKs.
CONTROL: Final = "no-cut"
EIGHT: Final = (*SEVEN, CONTROL)
#: The two panels of every figure.
PANELS: Final = ("32 packets", "no cap")

ASSUMPTIONS: Final = (
    "two panels: the window capped at 32 packets as the paper says, and not capped, since the cap "
    "bounds a flow to a rate below some that the paper names; a clause stands for each",
    "throughput is that of a connection: the highest acknowledged byte / the run's length, mean "
    "over connections",
    "NCE is told the bottleneck's rate and buffer (oracle) and leaves an event that was no "
    "congestion with the window grown by a packet per duplicate ACK (exit `keep`), by its text",
    "windows start at 1 segment, ACKs are delayed and as large as DATA, queues hold 50 kB and drop "
    "the tail; there is no SACK",
    "connections start up to one round trip late, at random, so that runs with different numbers "
    "are independent",
    "beside the seven TCPs runs the control `no-cut`, NewReno that never cuts upon duplicate ACKs, "
    "without a verdict: what NCE gains beyond it comes from telling losses apart",
)
#: Of claims that say "x % above": as "more than x %".
ABOVE: Final = (
    "`x % above` is judged as `more than x %`: the interval's lower bound is x % or more; partly "
    "where only the direction is sure"
)
MULTIHOP: Final = (
    "loss and reordering are end-to-end residual rates of DATA over the six hops, the delay is "
    "that of each hop (other readings: study A19)"
)

#: A metric by panel, recovery and what is swept.
Table = Mapping[str, Mapping[str, Mapping[float, Estimate]]]


def numbers(scale: Scale) -> tuple[int, ...]:
    """The run numbers at `scale`: two, five or ten."""
    return tuple(range(1, {Scale.QUICK: 2, Scale.DEFAULT: 5, Scale.FULL: 10}[scale] + 1))


def recovery_of(run: Run) -> str:
    """The name of its flows' recovery."""
    return str(run.flows[0].summary["recovery"])


def options_of(run: Run) -> dict[str, Any]:
    """Its recovery's parameters as configured."""
    found = run.setting("flows.0.recovery")
    return dict(found) if isinstance(found, dict) else {}


def panel_of(run: Run) -> str:
    """Which of `PANELS` it belongs to."""
    return PANELS[0] if run.setting(CAP) is not None else PANELS[1]


def name_of(recovery: str) -> str:
    """What a recovery is called in text."""
    return palette.recovery(recovery).name


def place_of(run: Run, axis: str) -> float:
    """What an axis has in a run as a number: percent, ms, Mbps, kB, or connections."""
    if axis == COUNT:
        return float(len(run.flows))
    value = run.setting(axis)
    if axis in (LOSS, REORDER):
        return round(100.0 * float(value), 9)
    read, factor = {
        DELAY: (quantities.seconds, 1e3),
        RATE: (quantities.rate_bps, 1e-6),
        BUFFER: (quantities.size_bytes, 1e-3),
    }[axis]
    return round(float(read(value) or 0.0) * factor, 9)


def tabled(
    runs: Iterable[Run], axis: str, metric: str, factor: float = 1.0
) -> dict[str, dict[str, dict[float, Estimate]]]:
    """The metric's means, in the order of `PANELS` and of the palette."""
    found: dict[str, dict[str, dict[float, list[Run]]]] = {}
    for run in by_number(runs):
        of = found.setdefault(panel_of(run), {}).setdefault(recovery_of(run), {})
        of.setdefault(place_of(run, axis), []).append(run)
    return {
        panel: {
            name: {
                x: mean(of, metric).scaled(factor) for x, of in sorted(found[panel][name].items())
            }
            for name in EIGHT
            if name in found[panel]
        }
        for panel in PANELS
        if panel in found
    }


Clauses = Callable[[str, Mapping[str, Mapping[float, Estimate]]], list[Measured]]


@dataclass(frozen=True)
class Sweep:
    """A figure of the paper: a metric over an axis for several TCPs, with and without the cap.

    `places` are the axis's values by scale; none are all of the scenario's. `seconds` are the runs'
    lengths. `clauses` judges a panel: its name, and its part of the table.
    """

    scenario: str
    axis: str
    places: Mapping[Scale, tuple[str, ...]]
    seconds: Mapping[Scale, float]
    metric: str
    what: str
    unit: str
    where: str
    xlabel: str
    clauses: Clauses
    recoveries: tuple[str, ...] = EIGHT
    from_zero: bool = True
    more: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def needs(self, scale: Scale) -> tuple[Need, ...]:
        """Its runs."""
        axes: dict[str, tuple[str, ...]] = {RECOVERY: self.recoveries}
        if places := self.places.get(scale):
            axes[self.axis] = places
        length = self.seconds.get(scale)
        options = (f"--duration={length:g}s",) if length else ()
        return (Need(self.scenario, options, numbers(scale), axes),)

    def runs(self, results: Results) -> list[Run]:
        """Those of its runs that a result has."""
        found = [r for r in runs_of(results, self.scenario) if recovery_of(r) in self.recoveries]
        return found

    def table(self, results: Results, metric: str = "") -> dict[str, Any]:
        """What was measured."""
        return tabled(self.runs(results), self.axis, metric or self.metric)

    def judge(self, results: Results, scale: Scale) -> Judgement:
        """The clauses of both panels, and every number."""
        del scale
        table = self.table(results)
        if not table:
            raise NotApplicable(f"{self.what}: there is no place at which every TCP has it")
        rows: list[Measured] = []
        for panel, part in table.items():
            rows += self.clauses(panel, part)
        for panel, part in table.items():
            rows += [
                row(f"{self.what}, {name_of(k)}, {self.where.format(x)}, {panel}", v, self.unit)
                for k, of in part.items()
                for x, v in of.items()
            ]
        return judgement(rows, control_note(table, self.what) if CONTROL in self.recoveries else "")

    def draw(self, results: Results) -> Drawn:
        """A panel with the cap and one without."""
        runs = self.runs(results)
        if not runs:
            return ()
        table = self.table(results)
        label = f"{self.what[0].upper()}{self.what[1:]} ({self.unit})"
        panels = [
            figures.Panel(f"({'ab'[i]}) {panel}", points(part), ylabel=label)
            for i, (panel, part) in enumerate(table.items())
        ]
        figure = figures.curves(panels, self.xlabel, label, runs, from_zero=self.from_zero)
        return [(f"{label} with the window capped at 32 packets, and not capped.", figure)]


#: Line styles, by number; those with an odd one have open markers.
_LINES: Final = {
    "nce": 0,
    "no-cut": 1,
    "veno": 2,
    "newreno": 3,
    "cerl": 4,
    "rr": 5,
    "pr": 6,
    "door": 7,
    "standard": 8,
    "newjersey": 9,
}


def points(part: Mapping[str, Mapping[float, Estimate]]) -> list[figures.Points]:
    """A line for each recovery. Line styles differ and every other marker is open, so that lines
    that coincide are seen.
    """
    return [
        figures.Points(
            name_of(name),
            palette.recovery(name),
            list(of.values()),
            list(of),
            variant=_LINES.get(name, 0),
        )
        for name, of in part.items()
    ]


def control_note(table: Table, what: str) -> str:
    """What the control reaches beside NCE at the last place, in a sentence."""
    said = []
    for panel, part in table.items():
        if CONTROL in part and "nce" in part:
            x = max(part["nce"])
            ours, other = part["nce"][x].mean, part[CONTROL][x].mean
            said.append(f"{ours:.3g} and {other:.3g} ({panel})")
    return f"At the last place NCE and the control no-cut have a {what} of {', '.join(said)}"
