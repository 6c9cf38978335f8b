"""Numbers of one run by which claims about it are judged.

Each metric is a function of a run, registered under its name with the claims that it serves, its
unit and its formula; `evaluate` computes those that apply. Symbols in the formulas: `start_i`,
`end_i` are the start and the end of flow i (1, 2, ... in the run's order; an end is at most the
run's), `D_i(t)` the payload bytes delivered to flow i by the time t.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import numpy as np
import polars as pl

from .. import schema
from ..errors import one_of
from ..runs import Flow, Run

#: A transfer's beginning that claims about its steady state leave out, in seconds.
SETTLED_S: Final = 5.0
#: And its last second.
TAIL_S: Final = 1.0


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
    return statistic(between(run.flow(flow), since_s, until_s), pl.col(column).mean())


def mean_queue_packets(run: Run, since_s: float, until_s: float) -> float:
    """Mean length of the bottleneck's queue over [since, until], packets."""
    return statistic(between(run.bottleneck_queue(), since_s, until_s), pl.col("packets").mean())


def between(frame: pl.LazyFrame, since_s: float, until_s: float) -> pl.LazyFrame:
    """The rows of `frame` in [since, until]."""
    return frame.filter(pl.col("time_s").is_between(since_s, until_s))


def statistic(frame: pl.LazyFrame, expr: pl.Expr) -> float:
    """`expr` over `frame`; NaN if there is nothing to compute it from."""
    value = frame.select(expr).collect().item()
    return math.nan if value is None else float(value)


def jain(values: Sequence[float]) -> float:
    """Jain's index of fairness, (sum x)^2 / (n sum x^2); NaN if all are zero."""
    squares = sum(v * v for v in values)
    return sum(values) ** 2 / (len(values) * squares) if squares > 0 else math.nan


def first_flows(run: Run, count: int) -> tuple[Flow, ...]:
    """The run's flows by start, if there are at least `count`."""
    if len(run.flows) < count:
        raise NotApplicable(f"needs {count} flows, the run has {len(run.flows)}")
    return tuple(sorted(run.flows, key=lambda f: (f.start_s, f.index)))


def overlap(run: Run) -> tuple[Flow, Flow, float, float]:
    """The first two flows and the interval in which both are there."""
    one, two = first_flows(run, 2)[:2]
    since, until = max(one.start_s, two.start_s), min(one.end_s, two.end_s)
    if until <= since:
        raise NotApplicable("the two flows do not overlap")
    return one, two, since, until


def settled_interval(run: Run) -> tuple[float, float]:
    """[5 s, end - 1 s] with the first end of all flows."""
    since, until = SETTLED_S, min(f.end_s for f in run.flows) - TAIL_S
    if until <= since:
        raise NotApplicable(f"needs a run of more than {SETTLED_S + TAIL_S:g} s")
    return since, until


# Of any run.


def of_summary(path: str) -> Callable[[Run], float]:
    """A metric that is a number in the summary, at `path` (keys and indices with dots between)."""

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
    of_summary("fairness.jain")
)
metric("utilisation", unit="1", formula="share of the bottleneck's rate that was used (summary)")(
    of_summary("links.0.utilisation")
)
metric("mean_queue", unit="packets", formula="mean bottleneck queue of the whole run (summary)")(
    of_summary("links.0.queue_pkts.mean")
)
metric("drop_rate", unit="1", formula="packets that the bottleneck's queue dropped / arrivals")(
    of_summary("links.0.loss_rate")
)


@metric("total_goodput", unit="Mbps", formula="sum of the flows' goodputs (summary)")
def total_goodput(run: Run) -> float:
    """Goodput of all flows together, each over the time in which it was there."""
    return sum(float(f.summary["goodput_mbps"]) for f in run.flows)


@metric("smallest_share", unit="1", formula="smallest goodput of a flow / the largest (summary)")
def smallest_share(run: Run) -> float:
    """The slowest flow's goodput in units of the fastest's."""
    rates = [float(f.summary["goodput_mbps"]) for f in first_flows(run, 2)]
    return min(rates) / max(rates) if max(rates) > 0 else math.nan


@metric("rtt_p95", unit="ms", formula="mean over flows of the 95 % quantile of RTT (summary)")
def rtt_p95(run: Run) -> float:
    """The round-trip time that 95 % of a flow's samples stay below."""
    found = [f.summary["rtt_ms"] for f in run.flows]
    values = [float(r["p95"]) for r in found if r and r.get("p95") is not None]
    return sum(values) / len(values) if values else math.nan


def second_half(run: Run) -> tuple[float, float]:
    """The second half of the interval in which all flows are active."""
    since, until = max(f.start_s for f in run.flows), min(f.end_s for f in run.flows)
    if until <= since:
        raise NotApplicable("there is no time in which all flows are active")
    return (since + until) / 2, until


@metric(
    "jain_second_half",
    unit="1",
    formula="Jain's index of the goodputs over the second half of [max start_i, min end_i]",
)
def jain_second_half(run: Run) -> float:
    """Fairness once all flows had time to converge."""
    since, until = second_half(run)
    return jain([goodput_mbps(run, f, since, until) for f in first_flows(run, 2)])


@metric(
    "queue_second_half",
    unit="packets",
    formula="mean bottleneck queue over the second half of [max start_i, min end_i]",
)
def queue_second_half(run: Run) -> float:
    """Queue once all flows had time to converge."""
    return mean_queue_packets(run, *second_half(run))


@metric(
    "total_second_half",
    unit="Mbps",
    formula="sum of the goodputs over the second half of [max start_i, min end_i]",
)
def total_second_half(run: Run) -> float:
    """Goodput of all flows together once they had time to converge."""
    since, until = second_half(run)
    return sum(goodput_mbps(run, f, since, until) for f in run.flows)


@metric(
    "last_share",
    unit="1",
    formula="goodput of the flow that started last / the mean of all, second half of the overlap",
)
def last_share(run: Run) -> float:
    """What the latecomer gets in units of an equal share."""
    since, until = second_half(run)
    rates = [goodput_mbps(run, f, since, until) for f in first_flows(run, 2)]
    return rates[-1] * len(rates) / sum(rates) if sum(rates) > 0 else math.nan
