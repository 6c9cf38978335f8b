"""Metrics of the NCE paper: its throughput, rates of what was unnecessary, accuracies."""

from __future__ import annotations

import math
from typing import Any, Final

import polars as pl

from ..runs import Flow, Run
from .base import NotApplicable, metric

#: When the paper counts reductions of the window in Figure 16, seconds.
CUTS_FROM_S: Final = 10.0
CUTS_UNTIL_S: Final = 80.0
#: Outstanding packets in the paper's Figure 11.
FIG11_OUTSTANDING: Final = 7

_TCP_FIELDS: Final = ("segments_sent", "unnecessary_fast_retransmits")


def _flows(run: Run) -> tuple[Flow, ...]:
    """The run's flows, if all of them are over TCP."""
    if not all(name in f.summary for f in run.flows for name in _TCP_FIELDS):
        raise NotApplicable("not all of its flows are over TCP")
    return run.flows


def _total(run: Run, name: str) -> float:
    return float(sum(f.summary[name] for f in _flows(run)))


def _share(part: float, whole: float) -> float:
    return 100.0 * part / whole if whole > 0 else math.nan


@metric(
    "acked_throughput",
    claims=["N2-fig14a", "N3-fig14b", "N4-fig15", "N6-fig17a", "N11-fig20a"],
    unit="Mbps",
    formula="mean over flows of 8 * highest acknowledged byte / duration of the run (summary)",
)
def acked_throughput(run: Run) -> float:
    """Throughput of a connection as the paper defines it."""
    found = [float(f.summary["acked_mbps"]) for f in _flows(run)]
    return sum(found) / len(found)


@metric(
    "unnecessary_retransmission_rate",
    claims=["N10-fig19"],
    unit="%",
    formula="segments sent again though not lost / all segments sent, over all flows (summary)",
)
def unnecessary_retransmission_rate(run: Run) -> float:
    """Unnecessary retransmissions per packet sent."""
    return _share(_total(run, "unnecessary_retransmissions"), _total(run, "segments_sent"))


@metric(
    "unnecessary_fast_rate",
    claims=["N15-fig22"],
    unit="%",
    formula="unnecessary fast retransmissions / all segments sent, over all flows (summary)",
)
def unnecessary_fast_rate(run: Run) -> float:
    """Unnecessary fast retransmissions per packet sent."""
    return _share(_total(run, "unnecessary_fast_retransmits"), _total(run, "segments_sent"))


@metric(
    "unnecessary_cuts",
    claims=["N14-fig21b"],
    unit="1/min",
    formula="window cuts while no queue dropped an outstanding segment, per flow and minute",
)
def unnecessary_cuts(run: Run) -> float:
    """Unnecessary reductions of the window of a connection."""
    minutes = run.duration_s / 60.0
    return _total(run, "unnecessary_window_cuts") / len(run.flows) / minutes


@metric(
    "timeout_rate",
    unit="1/min",
    formula="expiries of the retransmission timer, per flow and minute (summary)",
)
def timeout_rate(run: Run) -> float:
    """Timeouts of a connection."""
    return _total(run, "timeouts") / len(run.flows) / (run.duration_s / 60.0)


def _accuracy(run: Run, kind: str) -> float:
    found: Any = (run.summary.get("classification") or {}).get(kind)
    if not found:
        raise NotApplicable("the run has no classification")
    if not found["total"]:
        raise NotApplicable(f"nothing of the kind {kind} has happened")
    return _share(float(found["exact"]), float(found["total"]))


def _define(name: str, kind: str, claims: list[str], of: str) -> None:
    @metric(name, claims=claims, unit="%", formula=f"100 * exact / total of {of} (summary)")
    def accuracy(run: Run) -> float:
        return _accuracy(run, kind)


_define("accuracy_congestion", "congestion", ["N16-fig23"], "drops by queues (ACL)")
_define("accuracy_random", "random", ["N17-fig24"], "random losses (ARL)")
_define("accuracy_reordering", "reordering", ["N18-fig25"], "late segments (APR)")
_define(
    "accuracy_non_congestion",
    "non_congestion",
    ["N1-fig8"],
    "random losses and late segments, any verdict but congestion being exact (Eq. (10))",
)


@metric(
    "accuracy_all",
    claims=["N19-fig26"],
    unit="%",
    formula="100 * (exact of congestion + exact of non_congestion) / (both totals) (summary)",
)
def accuracy_all(run: Run) -> float:
    """How often the sender told congestion from the rest."""
    found = run.summary.get("classification") or {}
    both = [found[k] for k in ("congestion", "non_congestion") if k in found]
    whole = sum(float(k["total"]) for k in both)
    if not whole:
        raise NotApplicable("nothing was lost or late")
    return _share(sum(float(k["exact"]) for k in both), whole)


@metric(
    "cuts_10_80",
    claims=["N5-fig16"],
    unit="1",
    formula="window cuts of the first flow from 10 s to 80 s (events.csv)",
)
def cuts_10_80(run: Run) -> float:
    """Reductions of the window in the interval that the paper counts in."""
    if run.duration_s < CUTS_UNTIL_S:
        raise NotApplicable(f"needs a run of {CUTS_UNTIL_S:g} s")
    ours = (pl.col("flow") == run.flows[0].id) & (pl.col("kind") == "cut")
    within = pl.col("time_s").is_between(CUTS_FROM_S, CUTS_UNTIL_S)
    return float(run.event_trace.filter(ours & within).collect().height)


def delayed(run: Run) -> list[tuple[int, int]]:
    """Of each retransmission of the first flow for random loss: the segments that were outstanding
    at the third duplicate ACK, and the number of the duplicate ACK at which it left.
    """
    ours = (pl.col("flow") == run.flows[0].id) & pl.col("kind").is_in(["suspect", "verdict"])
    rows = run.event_trace.filter(ours).select("kind", "value", "text").collect()
    found = []
    outstanding: int | None = None
    for kind, value, text in rows.iter_rows():
        if kind == "suspect":
            outstanding = round(value)
            continue
        if outstanding is not None and text == "random-loss":
            found.append((outstanding, round(value)))
        outstanding = None
    return found


@metric(
    "delayed_exactly",
    claims=["N22-fig11"],
    unit="%",
    formula="retransmissions for random loss that left at the duplicate ACK whose number is that "
    "of the segments outstanding at the third one / all such (events.csv)",
)
def delayed_exactly(run: Run) -> float:
    """How often the delay is as long as equations (11) to (13) say."""
    found = delayed(run)
    if not found:
        raise NotApplicable("there was no retransmission for random loss")
    return _share(sum(n == d for n, d in found), len(found))


@metric(
    "cuts_per_delayed",
    claims=["N22-fig11"],
    unit="1",
    formula="window cuts after a retransmission for random loss, before the next event of "
    "duplicate ACKs and without a timeout between / such retransmissions (events.csv)",
)
def cuts_per_delayed(run: Run) -> float:
    """Whether the window is left alone."""
    wanted = ["suspect", "verdict", "cut", "timeout"]
    ours = (pl.col("flow") == run.flows[0].id) & pl.col("kind").is_in(wanted)
    rows = run.event_trace.filter(ours).select("kind", "text").collect()
    cuts, repairs, after = 0, 0, False
    for kind, text in rows.iter_rows():
        cuts += after and kind == "cut"
        after = kind == "verdict" and text == "random-loss"
        repairs += after
    if not repairs:
        raise NotApplicable("there was no retransmission for random loss")
    return cuts / repairs
