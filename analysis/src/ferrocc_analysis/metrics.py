"""Numbers of one run by which claims about it are judged.

Each metric is a function of a run, registered under its name with the claims that it serves, its
unit and its formula; `evaluate` computes those that apply. Symbols in the formulas: `start_i`,
`end_i` are the start and the end of flow i (1, 2, ... in the run's order; an end is at most the
run's), `D_i(t)` the payload bytes delivered to flow i by the time t.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import numpy as np
import polars as pl

from . import schema
from .errors import one_of
from .runs import Flow, Run

#: A transfer's beginning that claims about its steady state leave out, in seconds.
SETTLED_S: Final = 5.0
#: And its last second.
TAIL_S: Final = 1.0
#: End of the interval that the four-flow scenario is judged over, in seconds.
FOUR_FLOWS_END_S: Final = 10.0
#: The first flow's start-up, which the smallest in-flight leaves out, in seconds.
START_UP_S: Final = 1.0
#: Length that a run needs to stand in for a convergence that never came, in seconds.
LEAST_CENSORED_S: Final = 30.0


class NotApplicable(Exception):
    """A metric has no meaning for this run; the message says why."""


@dataclass(frozen=True)
class Value:
    """What a metric found. `notes` qualify it (such as "never converged")."""

    value: float
    notes: tuple[str, ...] = ()
    parts: tuple[float, ...] = ()


@dataclass(frozen=True)
class Metric:
    """A named metric.

    `unit` is "1" for ratios; `formula` is one line of text; `claims` are ids of claims.
    """

    name: str
    claims: tuple[str, ...]
    unit: str
    formula: str
    compute: Callable[[Run], Value] = field(repr=False)


#: All metrics by name, in the order of their definition.
METRICS: Final[dict[str, Metric]] = {}

_Result = TypeVar("_Result", float, Value)


def metric(
    name: str, *, claims: Iterable[str] = (), unit: str, formula: str
) -> Callable[[Callable[[Run], _Result]], Callable[[Run], _Result]]:
    """Registers a function of a run as the metric `name`, which must be new."""

    def register(compute: Callable[[Run], _Result]) -> Callable[[Run], _Result]:
        if name in METRICS:
            raise ValueError(f"a metric called {name} exists already")

        def checked(run: Run) -> Value:
            got: Value | float = compute(run)
            value = got if isinstance(got, Value) else Value(float(got))
            if not math.isfinite(value.value):
                raise NotApplicable("there are no samples in the interval")
            return value

        METRICS[name] = Metric(name, tuple(claims), unit, formula, checked)
        return compute

    return register


def evaluate(run: Run, names: Iterable[str] | None = None) -> dict[str, dict[str, Any]]:
    """The metrics `names` (all if none are given) of `run` as plain data, by name.

    A metric that does not apply has the value None and a `reason`. Raises `InputError` for an
    unknown name or a trace that cannot be read.
    """
    chosen = list(METRICS) if names is None else list(names)
    result: dict[str, dict[str, Any]] = {}
    for name in chosen:
        if name not in METRICS:
            raise one_of("metric", name, METRICS)
        m = METRICS[name]
        entry: dict[str, Any] = {"claims": list(m.claims), "unit": m.unit}
        try:
            got = m.compute(run)
            entry["value"] = got.value
            if got.parts:
                entry["parts"] = list(got.parts)
            if got.notes:
                entry["notes"] = list(got.notes)
        except NotApplicable as e:
            entry["value"] = None
            entry["reason"] = str(e)
        result[name] = entry
    return result


# Building blocks.


def eq8_mbps(rate_mbps: float, payload_bytes: int = schema.DEFAULT_PAYLOAD_BYTES) -> float:
    """Equation (8): the best goodput in Mbps over a link of `rate_mbps`,
    rate * payload / (payload + 108 B).
    """
    return rate_mbps * payload_bytes / (payload_bytes + schema.DATA_HEADER_BYTES)


def delivered_bytes(run: Run, flow: Flow, time_s: float) -> float:
    """D(t): payload bytes that `flow` had received at `time_s`.

    Linear between the trace's rows, the flow's start (nothing) and its end (all of its bytes).
    """
    before_end = pl.col("time_s") < flow.end_s
    rows = run.flow(flow).filter(before_end).select("time_s", "delivered_bytes").collect()
    times = [flow.start_s, *rows.get_column("time_s"), flow.end_s]
    totals = [0.0, *rows.get_column("delivered_bytes"), float(flow.summary["bytes"])]
    return float(np.interp(time_s, times, totals))


def goodput_mbps(run: Run, flow: Flow, since_s: float, until_s: float) -> float:
    """(D(until) - D(since)) * 8 / (until - since), in Mbps."""
    if until_s <= since_s:
        raise NotApplicable(f"nothing lies between {since_s:g} s and {until_s:g} s")
    moved = delivered_bytes(run, flow, until_s) - delivered_bytes(run, flow, since_s)
    return moved * 8e-6 / (until_s - since_s)


def mean_of(run: Run, flow: Flow, column: str, since_s: float, until_s: float) -> float:
    """Mean of a column of `flows.csv` over the rows of `flow` in [since, until]; NaN if none."""
    return _statistic(_between(run.flow(flow), since_s, until_s), pl.col(column).mean())


def mean_queue_packets(run: Run, since_s: float, until_s: float) -> float:
    """Mean length of the bottleneck's queue over [since, until], packets."""
    return _statistic(_between(run.bottleneck_queue(), since_s, until_s), pl.col("packets").mean())


def _between(frame: pl.LazyFrame, since_s: float, until_s: float) -> pl.LazyFrame:
    return frame.filter(pl.col("time_s").is_between(since_s, until_s))


def _statistic(frame: pl.LazyFrame, expr: pl.Expr) -> float:
    value = frame.select(expr).collect().item()
    return math.nan if value is None else float(value)


def _first(run: Run, count: int) -> tuple[Flow, ...]:
    """The run's flows by start, if there are at least `count`."""
    if len(run.flows) < count:
        raise NotApplicable(f"needs {count} flows, the run has {len(run.flows)}")
    return tuple(sorted(run.flows, key=lambda f: (f.start_s, f.index)))


def _overlap(run: Run) -> tuple[Flow, Flow, float, float]:
    """The first two flows and the interval in which both are there."""
    one, two = _first(run, 2)[:2]
    since, until = max(one.start_s, two.start_s), min(one.end_s, two.end_s)
    if until <= since:
        raise NotApplicable("the two flows do not overlap")
    return one, two, since, until


def _settled(run: Run) -> tuple[float, float]:
    """[5 s, end - 1 s] with the first end of all flows."""
    since, until = SETTLED_S, min(f.end_s for f in run.flows) - TAIL_S
    if until <= since:
        raise NotApplicable(f"needs a run of more than {SETTLED_S + TAIL_S:g} s")
    return since, until


# C1.


@metric(
    "settled_goodput",
    claims=["C1-eq8"],
    unit="Mbps",
    formula="sum_i (D_i(end - 1 s) - D_i(5 s)) * 8 / (end - 6 s), end = min_i end_i",
)
def settled_goodput(run: Run) -> float:
    """Goodput of all flows together over [5 s, end - 1 s]."""
    since, until = _settled(run)
    return sum(goodput_mbps(run, f, since, until) for f in run.flows)


@metric(
    "eq8_ratio",
    claims=["C1-eq8"],
    unit="1",
    formula="settled_goodput / (bottleneck rate * payload / (payload + 108 B))",
)
def eq8_ratio(run: Run) -> float:
    """Settled goodput in units of Equation (8)."""
    if any(f.transport != "icn" for f in run.flows):
        raise NotApplicable("Equation (8) is about the ICN transport's packets")
    best = eq8_mbps(float(run.bottleneck["rate_mbps"]), run.payload_bytes)
    return settled_goodput(run) / best


# C2.


@metric(
    "peak_in_flight_before_join",
    claims=["C2-fig6"],
    unit="B",
    formula="max of flow 1's in-flight over [start_1, start_2]",
)
def peak_in_flight_before_join(run: Run) -> float:
    """Largest in-flight of the first flow while it is alone."""
    one, two = _first(run, 2)[:2]
    rows = _between(run.flow(one), one.start_s, min(two.start_s, one.end_s))
    return _statistic(rows, pl.col("in_flight_max_bytes").max())


@metric(
    "min_in_flight_before_join",
    claims=["C2-fig6"],
    unit="B",
    formula="min of flow 1's in-flight over [start_1 + 1 s, start_2]",
)
def min_in_flight_before_join(run: Run) -> float:
    """Smallest in-flight of the first flow while it is alone, its first second left out."""
    one, two = _first(run, 2)[:2]
    rows = _between(run.flow(one), one.start_s + START_UP_S, min(two.start_s, one.end_s))
    return _statistic(rows, pl.col("in_flight_min_bytes").min())


@metric(
    "mean_in_flight_before_join",
    claims=["C2-fig6"],
    unit="B",
    formula="mean of flow 1's in-flight over [start_1 + 1 s, start_2]",
)
def mean_in_flight_before_join(run: Run) -> float:
    """Mean in-flight of the first flow while it is alone, its first second left out."""
    one, two = _first(run, 2)[:2]
    since, until = one.start_s + START_UP_S, min(two.start_s, one.end_s)
    return mean_of(run, one, "in_flight_bytes", since, until)


@metric(
    "in_flight_gap_after_join",
    claims=["C2-fig6"],
    unit="1",
    formula="|I_1 - I_2| / (I_1 + I_2), I_i = mean in-flight over the second half of the overlap",
)
def in_flight_gap_after_join(run: Run) -> float:
    """How far apart two flows' in-flights stay: 0 for equal, 1 for all in one flow."""
    one, two, since, until = _overlap(run)
    middle = (since + until) / 2
    a, b = (mean_of(run, f, "in_flight_bytes", middle, until) for f in (one, two))
    return abs(a - b) / (a + b) if a + b > 0 else math.nan


# C3.


@metric(
    "goodput_ratio",
    claims=["C3-fig7"],
    unit="1",
    formula="goodput_2 / goodput_1 over the second half of [max start_i, min end_i], i = 1, 2",
)
def goodput_ratio(run: Run) -> float:
    """The second flow's goodput in units of the first's, once they had time to converge."""
    one, two, since, until = _overlap(run)
    middle = (since + until) / 2
    first = goodput_mbps(run, one, middle, until)
    if first <= 0:
        raise NotApplicable("the first flow received nothing")
    return goodput_mbps(run, two, middle, until) / first


# C4.


@metric(
    "srtt_after_join",
    claims=["C4-fig8"],
    unit="ms",
    formula="(S_1 + S_2) / 2, S_i = mean of 0.8 SRTT + 0.2 RTT over [start_2, min(end_1, end_2)]",
)
def srtt_after_join(run: Run) -> float:
    """SRTT as plotted, averaged over both flows from the join to the first end."""
    one, two, since, until = _overlap(run)
    means = [mean_of(run, f, "srtt_plot_ms", since, until) for f in (one, two)]
    return sum(means) / 2


# C5, C6.


@metric(
    "convergence_time",
    claims=["C5-fig9", "C6-fig10"],
    unit="s",
    formula="mean over joins of converged_s - t_s; the run's length where it never converged",
)
def convergence_time(run: Run) -> Value:
    """How long shares take to become equal after a flow joined; `parts` are the joins' times."""
    joins = run.summary["fairness"]["joins"]
    if not joins:
        raise NotApplicable("no flow joined another")
    parts, notes = [], []
    for join in joins:
        t = float(join["t_s"])
        converged = join["converged_s"]
        if converged is None:
            notes.append(f"never converged after the join at {t:g} s")
            if run.duration_s < LEAST_CENSORED_S:
                notes.append(f"the run is shorter than {LEAST_CENSORED_S:g} s")
            parts.append(run.duration_s)
        else:
            parts.append(float(converged) - t)
    return Value(sum(parts) / len(parts), tuple(notes), tuple(parts))


# C7.


@metric(
    "queue_after_fourth_join",
    claims=["C7-fig11"],
    unit="packets",
    formula="mean bottleneck queue over [start_4, min(10 s, min_i end_i)]",
)
def queue_after_fourth_join(run: Run) -> float:
    """Mean queue once four flows are there."""
    flows = _first(run, 4)
    until = min(FOUR_FLOWS_END_S, *(f.end_s for f in flows))
    return mean_queue_packets(run, flows[3].start_s, until)


@metric(
    "min_queue_after_third_join",
    claims=["C7-fig11"],
    unit="packets",
    formula="min bottleneck queue over [start_3 + 1 s, start_4]",
)
def min_queue_after_third_join(run: Run) -> float:
    """Whether the queue still empties with three flows: 0 if so."""
    flows = _first(run, 4)
    rows = _between(run.bottleneck_queue(), flows[2].start_s + START_UP_S, flows[3].start_s)
    return _statistic(rows, pl.col("packets").min())


# C11.


@metric(
    "settled_queue",
    claims=["C11-copa"],
    unit="packets",
    formula="mean bottleneck queue over [5 s, end - 1 s]",
)
def settled_queue(run: Run) -> float:
    """Mean queue without the start and the end."""
    since, until = _settled(run)
    return mean_queue_packets(run, since, until)


@metric(
    "queue_in_copa_units",
    claims=["C11-copa"],
    unit="1",
    formula="settled_queue / (1.25 / delta), delta = its mean over [5 s, end - 1 s]",
)
def queue_in_copa_units(run: Run) -> float:
    """Settled queue of a single flow in units of what Copa's analysis predicts for its delta."""
    if len(run.flows) != 1:
        raise NotApplicable(f"is about one flow, the run has {len(run.flows)}")
    since, until = _settled(run)
    delta = mean_of(run, run.flows[0], "delta", since, until)
    if not delta > 0:
        raise NotApplicable("the controller has no delta")
    return settled_queue(run) * delta / 1.25


# Of any run.


def _of_summary(path: str) -> Callable[[Run], float]:
    def read(run: Run) -> float:
        value: Any = run.summary
        for key in path.split("."):
            if isinstance(value, Mapping):
                value = value.get(key)
            elif isinstance(value, list):
                value = value[int(key)]
        if not isinstance(value, (int, float)):
            raise NotApplicable(f"the summary has no {path}")
        return float(value)

    return read


metric("jain", claims=["C6-fig10"], unit="1", formula="Jain's index of the goodputs (summary)")(
    _of_summary("fairness.jain")
)
metric("utilisation", unit="1", formula="share of the bottleneck's rate that was used (summary)")(
    _of_summary("links.0.utilisation")
)
metric("mean_queue", unit="packets", formula="mean bottleneck queue of the whole run (summary)")(
    _of_summary("links.0.queue_pkts.mean")
)
