"""Metrics of the ECD paper's claims. Symbols are those of `base`.

`settled` is the interval [5 s, end - 1 s], end = min_i end_i, which leaves the clients' slow start
and the end of the run out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from ..runs import Flow, Run
from ..stats import Array
from .base import (
    NotApplicable,
    Value,
    between,
    delivered_bytes,
    goodput_mbps,
    jain,
    metric,
    settled_interval,
)

#: Start of the interval over which Figure 7's throughput is taken, in seconds.
STEADY_FROM_S: Final = 10.0
#: Bytes that a point-to-point link adds to an IP packet, which the counters of links include.
LINK_HEADER_BYTES: Final = 2
#: Bin of the goodput whose steadiness is measured, in seconds.
STEADY_BIN_S: Final = 1.0
#: Part of a phase that clients get to share the link anew before its fairness is measured.
PHASE_START: Final = 0.5
#: Jain's index from which shares are taken for fair again after a client came or went.
FAIR: Final = 0.95
#: Bin of the goodput over which that is looked at, in seconds.
FAIR_BIN_S: Final = 1.0


# Figure 7.


def ip_bytes_per_s(run: Run, since_s: float, until_s: float) -> float:
    """Bytes of IP packets per second that the bottleneck sent in [since, until]."""
    columns = ["time_s", "packets", "arrivals", "dropped", "sent_bytes"]
    rows = between(run.bottleneck_queue(), since_s, until_s).select(columns).collect()
    if rows.height < 2:
        raise NotApplicable(f"nothing lies between {since_s:g} s and {until_s:g} s")
    first, last = rows.row(0, named=True), rows.row(-1, named=True)
    change = {c: float(last[c]) - float(first[c]) for c in columns}
    packets = change["arrivals"] - change["dropped"] - change["packets"]
    return (change["sent_bytes"] - LINK_HEADER_BYTES * packets) / change["time_s"]


def steady_interval(run: Run) -> tuple[float, float]:
    """[10 s, end]."""
    until = min(f.end_s for f in run.flows)
    if until <= STEADY_FROM_S:
        raise NotApplicable(f"needs a run of more than {STEADY_FROM_S:g} s")
    return STEADY_FROM_S, until


@metric(
    "ip_throughput",
    claims=["E1-fig7"],
    unit="kB/s",
    formula="bytes of IP packets that the bottleneck sent over [10 s, min_i end_i] / time / 1000",
)
def ip_throughput(run: Run) -> float:
    """Steady throughput with headers."""
    return ip_bytes_per_s(run, *steady_interval(run)) * 1e-3


@metric(
    "ip_utilisation",
    claims=["E1-fig7"],
    unit="1",
    formula="ip_throughput / the bottleneck's rate",
)
def ip_utilisation(run: Run) -> float:
    """Share of the bottleneck's rate that IP packets took."""
    return ip_throughput(run) * 8e-3 / float(run.bottleneck["rate_mbps"])


# Figure 8.


@dataclass(frozen=True)
class Phase:
    """A time in which the same flows are active."""

    since_s: float
    until_s: float
    flows: tuple[Flow, ...]

    @property
    def settled(self) -> tuple[float, float]:
        """Its later part."""
        return self.since_s + PHASE_START * (self.until_s - self.since_s), self.until_s


def phases(run: Run) -> list[Phase]:
    """The phases in order, those of less than two seconds and those without a flow left out."""
    times = sorted({t for f in run.flows for t in (f.start_s, f.end_s)})
    found = []
    for since, until in itertools.pairwise(times):
        flows = tuple(f for f in run.flows if f.start_s <= since and f.end_s >= until)
        if flows and until - since >= 2 * STEADY_BIN_S:
            found.append(Phase(since, until, flows))
    return found


def _shared(run: Run) -> list[Phase]:
    shared = [p for p in phases(run) if len(p.flows) > 1]
    if not shared:
        raise NotApplicable("no two flows share the link for two seconds")
    return shared


@metric(
    "jain_of_phases",
    claims=["E2-fig8"],
    unit="1",
    formula="mean over phases with two flows or more of Jain's index over a phase's second half",
)
def jain_of_phases(run: Run) -> Value:
    """Fairness between starts and stops; `parts` are the phases."""
    parts = [jain([goodput_mbps(run, f, *p.settled) for f in p.flows]) for p in _shared(run)]
    return Value(sum(parts) / len(parts), (), tuple(parts))


def _bins(run: Run, flow: Flow, since_s: float, until_s: float, width_s: float) -> list[float]:
    """Goodputs of `flow` in Mbps in the whole bins of `width_s` in [since, until]."""
    edges = np.arange(since_s, until_s + 1e-9, width_s)
    totals = [delivered_bytes(run, flow, float(t)) for t in edges]
    return [(b - a) * 8e-6 / width_s for a, b in itertools.pairwise(totals)]


def coefficient_of_variation(values: Sequence[float]) -> float:
    """Standard deviation / mean; NaN of fewer than two values or of a mean of zero."""
    if len(values) < 2:
        return math.nan
    mean = float(np.mean(values))
    return float(np.std(values, ddof=1)) / mean if mean > 0 else math.nan


@metric(
    "goodput_variation",
    claims=["E2-fig8"],
    unit="1",
    formula="mean over phases and their flows of the coefficient of variation of the goodput in "
    "bins of 1 s, phase's second half",
)
def goodput_variation(run: Run) -> float:
    """How unsteady each flow's goodput is between starts and stops."""
    found = [
        coefficient_of_variation(_bins(run, f, *p.settled, STEADY_BIN_S))
        for p in phases(run)
        for f in p.flows
    ]
    known = [v for v in found if math.isfinite(v)]
    if not known:
        raise NotApplicable("no phase has two bins of 1 s in its second half")
    return sum(known) / len(known)


@metric(
    "total_of_phases",
    claims=["E2-fig8"],
    unit="1",
    formula="smallest / largest total goodput of a phase, second halves",
)
def total_of_phases(run: Run) -> Value:
    """Whether the goodput of all flows together stays as flows come and go; `parts` in Mbps."""
    parts = [sum(goodput_mbps(run, f, *p.settled) for f in p.flows) for p in phases(run)]
    if len(parts) < 2 or max(parts) <= 0:
        raise NotApplicable("needs two phases")
    return Value(min(parts) / max(parts), (), tuple(parts))


@metric(
    "reconvergence",
    claims=["E2-fig8"],
    unit="s",
    formula="mean over phases with two flows or more of the end of the first bin of 1 s from which "
    "on Jain's index is 0.95; the phase's length where there is none",
)
def reconvergence(run: Run) -> Value:
    """How long shares stay unequal after a flow came or went; `parts` are the phases."""
    parts, notes = [], []
    for p in _shared(run):
        # A flow's goodput in the bin before it has a first row is nothing.
        rates = [_bins(run, f, p.since_s, p.until_s, FAIR_BIN_S) for f in p.flows]
        fair = [jain(list(of)) >= FAIR for of in zip(*rates, strict=True)]
        first = next((i for i, ok in enumerate(fair) if ok), None)
        if first is None:
            notes.append(f"never fair after {p.since_s:.1f} s")
            parts.append(p.until_s - p.since_s)
        else:
            parts.append((first + 1) * FAIR_BIN_S)
    return Value(sum(parts) / len(parts), tuple(notes), tuple(parts))


# Figures 9 to 11.


def _queue(run: Run) -> Array:
    rows = between(run.bottleneck_queue(), *settled_interval(run)).select("packets").collect()
    values = rows.get_column("packets").to_numpy().astype(np.float64)
    if values.size < 2:
        raise NotApplicable("the queue has no two rows in the settled interval")
    return values


@metric(
    "queue_deviation",
    claims=["E3-fig9"],
    unit="packets",
    formula="standard deviation of the bottleneck's queue, settled",
)
def queue_deviation(run: Run) -> float:
    """How unsteady the queue is."""
    return float(np.std(_queue(run), ddof=1))


@metric(
    "queue_median",
    claims=["E3-fig9"],
    unit="packets",
    formula="median of the bottleneck's queue, settled",
)
def queue_median(run: Run) -> float:
    """The length that the queue exceeds half of the time."""
    return float(np.median(_queue(run)))


@metric(
    "queue_fill",
    claims=["E3-fig9"],
    unit="1",
    formula="mean of the bottleneck's queue / what it may hold, settled",
)
def queue_fill(run: Run) -> float:
    """How full the buffer is."""
    limit = run.queue_limit_packets
    if not limit:
        raise NotApplicable("the buffer's limit in packets is not known")
    return float(np.mean(_queue(run))) / limit


@metric(
    "settled_loss_rate",
    claims=["E5-fig11"],
    unit="1",
    formula="packets that the bottleneck's queue dropped / arrivals, settled",
)
def settled_loss_rate(run: Run) -> float:
    """Loss without the clients' start."""
    rows = between(run.bottleneck_queue(), *settled_interval(run))
    ends = pl.col("arrivals", "dropped")
    change = rows.select((ends.last() - ends.first()).cast(pl.Float64)).collect()
    if change.height == 0:
        raise NotApplicable("there are no rows in the settled interval")
    arrivals, dropped = change.row(0)
    if not arrivals:
        raise NotApplicable("nothing arrived in the settled interval")
    return float(dropped) / float(arrivals)


# Figures 12 to 15.


def workload(run: Run, *path: str) -> float:
    """A number of the summary's `workload`. Raises `NotApplicable` without one."""
    value: Any = run.summary.get("workload")
    if value is None:
        raise NotApplicable("the run has no workload")
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    if not isinstance(value, (int, float)):
        raise NotApplicable(f"the workload has no {'.'.join(path)}")
    return float(value)


@metric(
    "workload_fct",
    claims=["E6-fig12", "E7-fig13"],
    unit="s",
    formula="mean over measured NDCs of first REQ to last byte",
)
def workload_fct(run: Run) -> float:
    """Mean flow completion time."""
    return workload(run, "fct_ms", "mean") * 1e-3


@metric(
    "download_delay",
    claims=["E8-fig14", "E9-fig15"],
    unit="s",
    formula="mean over measured NDCs of the request, with name resolution, to the delivery",
)
def download_delay(run: Run) -> float:
    """Mean content download delay."""
    return workload(run, "download_delay_ms", "mean") * 1e-3


@metric(
    "packet_delay",
    claims=["E8-fig14", "E9-fig15"],
    unit="ms",
    formula="mean over the measured NDCs' units of REQ to DATA",
)
def packet_delay(run: Run) -> float:
    """Mean delay from a request to its DATA."""
    return workload(run, "packet_delay_ms", "mean")


@metric(
    "workload_hit_ratio",
    claims=["E9-fig15"],
    unit="1",
    formula="measured NDCs that a cache served / all",
)
def workload_hit_ratio(run: Run) -> float:
    """How many NDCs came from a cache."""
    return workload(run, "hit_ratio")


@metric("warmup_hit_ratio", unit="1", formula="NDCs of the warm-up that a cache served / all")
def warmup_hit_ratio(run: Run) -> float:
    """How many NDCs of the warm-up came from a cache."""
    return workload(run, "warmup_hit_ratio")


@metric(
    "workload_failed", claims=["E6-fig12"], unit="NDCs", formula="measured NDCs that did not arrive"
)
def workload_failed(run: Run) -> float:
    """NDCs that were given up, or whose content was wrong."""
    return workload(run, "failed")


# E12.


def _caches(run: Run, name: str | None = None) -> list[dict[str, Any]]:
    found = [c for c in run.summary["caches"] if name is None or c["name"] == name]
    if not found:
        raise NotApplicable("the run has no caches")
    return found


@metric(
    "assembly_success",
    claims=["E12-ids"],
    unit="1",
    formula="sum over caches of assembled / (assembled + abandoned)",
)
def assembly_success(run: Run) -> float:
    """How many of the NDCs that caches began to put together became whole."""
    whole = sum(float(c["assembled"]) for c in _caches(run))
    begun = whole + sum(float(c["abandoned"]) for c in _caches(run))
    return whole / begun if begun else math.nan
