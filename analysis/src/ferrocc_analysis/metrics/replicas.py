"""Metrics of transfers that change their replica in the middle. Symbols are those of `base`."""

from __future__ import annotations

from typing import Final

import polars as pl

from .. import quantities
from ..runs import Run
from .base import NotApplicable, between, metric, statistic

#: The kind of event that the first replica and each change of it are.
REPLICA: Final = "replica"
#: How long after a change the first samples of the new path have surely come, in seconds.
FIRST_SAMPLES_S: Final = 0.2


def replicas_in_turn(run: Run) -> list[tuple[float, str]]:
    """When the first flow began with each of its replicas, in seconds, and the replica's name."""
    ours = (pl.col("flow") == run.flows[0].id) & (pl.col("kind") == REPLICA)
    rows = run.event_trace.filter(ours).sort("time_s").select("time_s", "text").collect()
    return [(float(t), str(name)) for t, name in rows.iter_rows()]


def switches(run: Run) -> list[tuple[float, str]]:
    """When the first flow changed its replica, in seconds, and the new one's name."""
    return replicas_in_turn(run)[1:]


def extra_delay_s(run: Run, replica: str) -> float:
    """The propagation delay that the replica's link has beyond the path's, in seconds."""
    for entry in run.setting("replicas") or []:
        if isinstance(entry, dict) and entry.get("name") == replica:
            return quantities.seconds(entry.get("extra_delay")) or 0.0
    return 0.0


@metric(
    "delivered_whole",
    claims=["C12-restart"],
    unit="1",
    formula="share of flows that are complete, verified, and have all bytes once",
)
def delivered_whole(run: Run) -> float:
    """Whether content arrived as it is: its hash is the NDC's name."""
    sizes = [quantities.size_bytes(run.setting(f"flows.{f.index}.size")) for f in run.flows]
    good = [
        f.summary["completed"] is True
        and f.summary["verified"] is True
        and f.summary.get("failure") is None
        and f.summary["bytes"] == size
        for f, size in zip(run.flows, sizes, strict=True)
    ]
    return float(sum(good)) / len(good)


@metric(
    "restarts",
    claims=["C12-restart"],
    unit="1",
    formula="share of changes of the replica right after which the window is the initial one",
)
def restarts(run: Run) -> float:
    """Whether the controller starts anew with each replica."""
    found = switches(run)
    if not found:
        raise NotApplicable("the replica never changed")
    packets = float(run.setting("transport.initial_window") or 0.0)
    initial = packets * run.payload_bytes
    anew = 0
    for time, _ in found:
        rows = between(run.flow(run.flows[0]), time, time + 1.5 * run.interval_s)
        window = statistic(rows, pl.col("window_bytes").min())
        anew += window <= initial
    return anew / len(found)


@metric(
    "stale_delay",
    claims=["C12-restart"],
    unit="1",
    formula="smallest T_q with a replica that is farther by d, from 0.2 s after the change / d",
)
def stale_delay(run: Run) -> float:
    """How much of the new path's longer propagation is taken for queueing: 1 or more where the old
    path's smallest delay still counts, less where it was measured again.
    """
    found = switches(run)
    if not found:
        raise NotApplicable("the replica never changed")
    before = replicas_in_turn(run)[0][1]
    shares = []
    ends = [*[t for t, _ in found[1:]], run.flows[0].end_s]
    for (time, name), end in zip(found, ends, strict=True):
        farther = extra_delay_s(run, name) - extra_delay_s(run, before)
        before = name
        if farther > 0:
            rows = between(run.flow(run.flows[0]), time + FIRST_SAMPLES_S, end)
            shares.append(statistic(rows, pl.col("queue_delay_ms").min()) / (1e3 * farther))
    if not shares:
        raise NotApplicable("the replica never changed to one that is farther")
    return max(shares)
