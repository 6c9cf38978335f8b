"""What the ECD paper's queues and receivers do packet by packet, from traces (E10 and E11)."""

from __future__ import annotations

import math
from typing import Final

import polars as pl

from .. import quantities, schema
from ..runs import Run
from .base import NotApplicable, metric

#: Width of the bins of the sojourn time in which shares of marks are compared, ms.
BIN_MS: Final = 0.5
#: A bin with fewer packets says nothing about a share.
LEAST_PER_BIN: Final = 50
#: Equation (1)'s values where a configuration does not give them (section 4.2).
_DEFAULTS: Final = {"target_ms": 5.0, "interval_ms": 100.0, "c": 2.5, "p_max": 1.0}


def parameters(run: Run) -> dict[str, float]:
    """Target, interval (ms), C and P_max of the run's improved CoDel."""
    found = run.setting("topology.bottleneck.aqm")
    if not isinstance(found, dict) or found.get("name") != "ecd":
        raise NotApplicable("the bottleneck has no improved CoDel")
    return {k: float(found.get(k, v)) for k, v in _DEFAULTS.items()}


def equation_1(sojourn_ms: pl.Expr, values: dict[str, float]) -> pl.Expr:
    """The probability of a mark for a packet that waited so long, outside the dropping state."""
    target, c = values["target_ms"], values["c"]
    return ((sojourn_ms - target) / ((c - 1) * target)).clip(0.0, 1.0) * values["p_max"]


def _trace(run: Run) -> pl.LazyFrame:
    """The run's `aqm.csv`, if it was written."""
    if not (run.folder / schema.AQM.file).is_file():
        raise NotApplicable(f"needs {schema.AQM.file} (--set=trace.packets=true)")
    return run.aqm_trace


def decisions(run: Run) -> pl.DataFrame:
    """What the bottleneck's queue decided about packets as they left, in order, with the state
    before each decision (`was_dropping`) and after it (`dropping`).
    """
    rows = _trace(run).filter(
        (pl.col("link") == str(run.bottleneck["name"])) & (pl.col("at") == "dequeue")
    )
    frame = rows.with_columns(was_dropping=pl.col("dropping").shift(1, fill_value=0.0)).collect()
    if frame.height == 0:
        raise NotApplicable("no packet left the bottleneck's queue")
    return frame


def _forwarded(run: Run) -> pl.DataFrame:
    """DATA that was forwarded outside the dropping state."""
    return decisions(run).filter(
        (pl.col("packet") == "data")
        & (pl.col("verdict") != "drop")
        & (pl.col("dropping") == 0)
        & (pl.col("was_dropping") == 0)
    )


_MARKED: Final = pl.col("verdict") == "mark"


def mark_shares(run: Run) -> pl.DataFrame:
    """Shares of marked DATA by sojourn time outside the dropping state: `sojourn_ms` (middle of a
    bin), `share`, `expected` (mean of Equation (1)), `packets`.
    """
    values = parameters(run)
    return (
        _forwarded(run)
        .with_columns(
            bin=(pl.col("sojourn_ms") / BIN_MS).floor(),
            p=equation_1(pl.col("sojourn_ms"), values),
        )
        .group_by("bin")
        .agg(
            share=_MARKED.cast(pl.Float64).mean(),
            expected=pl.col("p").mean(),
            packets=pl.len(),
        )
        .sort("bin")
        .with_columns(sojourn_ms=(pl.col("bin") + 0.5) * BIN_MS)
    )


@metric(
    "marks_below_target",
    claims=["E10-eq1"],
    unit="packets",
    formula="marked DATA that waited less than the target",
)
def marks_below_target(run: Run) -> float:
    """Marks where there should be none."""
    target = parameters(run)["target_ms"]
    rows = decisions(run)
    return float(rows.filter(_MARKED & (pl.col("sojourn_ms") < target)).height)


@metric(
    "mark_share_error",
    claims=["E10-eq1"],
    unit="1",
    formula="sum over bins of the sojourn time between target and C target of packets * |share "
    "marked - Equation (1)| / sum of packets, outside the dropping state",
)
def mark_share_error(run: Run) -> float:
    """How far the share of marks is from the straight line."""
    values = parameters(run)
    low, high = values["target_ms"], values["c"] * values["target_ms"]
    bins = mark_shares(run).filter(
        pl.col("sojourn_ms").is_between(low, high) & (pl.col("packets") >= LEAST_PER_BIN)
    )
    if bins.height == 0:
        raise NotApplicable("too few packets waited between target and C target")
    off = (pl.col("share") - pl.col("expected")).abs() * pl.col("packets")
    return float(bins.select(off.sum() / pl.col("packets").sum()).item())


@metric(
    "mark_share_above",
    claims=["E10-eq1"],
    unit="1",
    formula="marked / all DATA that waited more than C target, outside the dropping state",
)
def mark_share_above(run: Run) -> float:
    """Whether everything is marked beyond C target."""
    values = parameters(run)
    above = pl.col("sojourn_ms") > values["c"] * values["target_ms"]
    rows = _forwarded(run).filter(above)
    return float(rows.select(_MARKED.cast(pl.Float64).mean()).item() or 0) if rows.height else 1.0


def entries(run: Run) -> list[float]:
    """For each time that the dropping state was entered: for how long the sojourn time had been
    above the target by then, in ms.
    """
    target = parameters(run)["target_ms"]
    rows = decisions(run).select("time_s", "sojourn_ms", "verdict", "dropping", "was_dropping")
    found, since = [], math.nan
    for time_s, sojourn, verdict, dropping, was in rows.iter_rows():
        if sojourn < target:
            since = math.nan
        elif math.isnan(since):
            since = time_s
        if verdict == "drop" and dropping and not was:
            found.append((time_s - since) * 1e3)
    return found


@metric(
    "shortest_before_dropping",
    claims=["E10-eq1"],
    unit="ms",
    formula="smallest time above target with which the dropping state was entered",
)
def shortest_before_dropping(run: Run) -> float:
    """Whether the dropping state waits for an interval."""
    found = entries(run)
    if not found:
        raise NotApplicable("the dropping state was never entered")
    return min(0.0 if math.isnan(t) else t for t in found)


@metric(
    "dropping_below_target",
    claims=["E10-eq1"],
    unit="packets",
    formula="packets below target after which the dropping state went on, the one right after the "
    "drop that entered it left out",
)
def dropping_below_target(run: Run) -> float:
    """Whether the dropping state is left below the target."""
    target = parameters(run)["target_ms"]
    entered = (pl.col("verdict") == "drop") & (pl.col("was_dropping") == 0)
    rows = decisions(run).with_columns(after_entry=entered.shift(1, fill_value=False))
    wrong = (pl.col("sojourn_ms") < target) & (pl.col("dropping") == 1) & ~pl.col("after_entry")
    return float(rows.filter(wrong).height)


def dropped(run: Run) -> pl.DataFrame:
    """What all queues dropped: when, where, what, how large, after how long."""
    columns = ["time_s", "link", "at", "packet", "size_bytes", "sojourn_ms"]
    return _trace(run).filter(pl.col("verdict") == "drop").select(columns).collect()


def marked(run: Run) -> float:
    """Packets that all queues marked."""
    return float(_trace(run).filter(_MARKED).select(pl.len()).collect().item())


# E11.

#: Queueing delay up to which surely nothing is marked, ms.
UNMARKED_MS: Final = 4.0
#: The weight of a window in alpha (section 4.3).
_ALPHA_STEP: Final = 1 / 16


def _windows(run: Run) -> pl.DataFrame:
    """Rows of the first flow: time, window in packets, delivered packets, alpha, losses, phase,
    and the window and alpha before.
    """
    payload = run.payload_bytes
    return (
        run.flow(run.flows[0])
        .select(
            "time_s",
            "alpha",
            "losses",
            "phase",
            "rtt_ms",
            window=pl.col("window_bytes") / payload,
            delivered=pl.col("delivered_bytes") / payload,
        )
        .with_columns(
            before=pl.col("window").shift(1),
            alpha_before=pl.col("alpha").shift(1),
            new_losses=pl.col("losses").diff().fill_null(0),
            arrived=pl.col("delivered").diff().fill_null(0),
        )
        .collect()
    )


@metric(
    "first_window",
    claims=["E11-eq56"],
    unit="packets",
    formula="window of flow 1 in its first row",
)
def first_window(run: Run) -> float:
    """The window before the first DATA arrives."""
    return float(_windows(run).get_column("window")[0])


@metric(
    "slow_start_error",
    claims=["E11-eq56"],
    unit="packets",
    formula="max |window - (first window + delivered packets)| in slow start before the first cut "
    "and before a round trip takes 4 ms longer than the path",
)
def slow_start_error(run: Run) -> float:
    """Whether slow start adds a packet for each that arrives. What waits for less than the target
    of 5 ms is not marked, so that all packets count.
    """
    rows = _windows(run)
    longest = (run.rtprop_s or 0.0) * 1e3 + UNMARKED_MS
    cut = rows.filter((pl.col("window") < pl.col("before")) | (pl.col("rtt_ms") > longest))
    first = float(cut.get_column("time_s")[0]) if cut.height else math.inf
    start = rows.filter((pl.col("phase") == "slow-start") & (pl.col("time_s") < first))
    if start.height == 0:
        raise NotApplicable("there is no row in slow start")
    wanted = float(rows.get_column("window")[0]) + pl.col("delivered")
    return float(start.select((pl.col("window") - wanted).abs().max()).item())


def mark_cuts(run: Run) -> pl.DataFrame:
    """Cuts of the first flow's window for marks: `factor`, and `wanted` = 1 - alpha / 2."""
    rows = _windows(run).filter(
        (pl.col("window") < pl.col("before") - 1e-6) & (pl.col("new_losses") == 0)
    )
    return rows.select(
        "time_s",
        factor=pl.col("window") / pl.col("before"),
        wanted=1 - pl.col("alpha") / 2,
        packets=pl.col("before"),
    )


@metric(
    "mark_cut_error",
    claims=["E11-eq56"],
    unit="packets",
    formula="median over cuts for marks of |window after - (1 - alpha/2) window before|",
)
def mark_cut_error(run: Run) -> float:
    """Whether a cut for marks is that of Equation (5). A row holds the arrivals of an interval, so
    that its window may have grown by a packet beside the cut.
    """
    cuts = mark_cuts(run)
    if cuts.height == 0:
        raise NotApplicable("no window was cut for marks")
    off = (pl.col("factor") - pl.col("wanted")).abs() * pl.col("packets")
    return float(cuts.select(off.median()).item())


@metric(
    "alpha_step_error",
    claims=["E11-eq56"],
    unit="1",
    formula="largest distance of alpha after a change from what Equation (6) makes of any share",
)
def alpha_step_error(run: Run) -> float:
    """Whether alpha moves by a sixteenth of its distance to a share, and no farther."""
    rows = _windows(run).filter(
        pl.col("alpha_before").is_not_null() & (pl.col("alpha") != pl.col("alpha_before"))
    )
    if rows.height == 0:
        raise NotApplicable("alpha never changed")
    least = (1 - _ALPHA_STEP) * pl.col("alpha_before")
    beyond = pl.max_horizontal(least - pl.col("alpha"), pl.col("alpha") - least - _ALPHA_STEP)
    return float(rows.select(beyond.max().clip(0.0)).item())


@metric(
    "updates_per_window",
    claims=["E11-eq56"],
    unit="1",
    formula="changes of alpha / (time / mean round trip), after the first second",
)
def updates_per_window(run: Run) -> float:
    """Whether alpha changes once per window of data."""
    flow = run.flows[0]
    since = flow.start_s + 1.0
    rows = _windows(run).filter(pl.col("time_s") >= since)
    changes = rows.filter(pl.col("alpha") != pl.col("alpha_before")).height
    rtt = float(flow.summary["rtt_ms"]["mean"]) * 1e-3
    length = flow.end_s - since
    if length <= 0 or rtt <= 0:
        raise NotApplicable("the run is too short")
    return changes * rtt / length


def same_as_reno(ecd: Run, reno: Run) -> tuple[float, float | None]:
    """Share of the rows of `flows.csv` (but for the controllers' own columns) that two runs have
    alike up to the first timeout of either, and when that was.
    """
    columns = [
        c
        for c in schema.FLOWS.columns
        if c not in ("phase", "alpha", "delta", "queue_delay_ms", "pacing_mbps")
    ]
    timeouts = [
        run.event_trace.filter(pl.col("kind") == "timeout")
        .select(pl.col("time_s").min())
        .collect()
        .item()
        for run in (ecd, reno)
    ]
    known = [float(t) for t in timeouts if t is not None]
    first = min(known) if known else None
    frames = []
    for run in (ecd, reno):
        rows = run.flow_trace.select(columns)
        if first is not None:
            rows = rows.filter(pl.col("time_s") < first)
        frames.append(rows.collect())
    one, other = frames
    if one.height == 0 or one.height != other.height:
        return 0.0, first
    same = pl.DataFrame(
        {c: one.get_column(c).eq_missing(other.get_column(c)) for c in columns}
    ).select(pl.all_horizontal(pl.all()).cast(pl.Float64).mean())
    return float(same.item()), first


def moved_at(run: Run) -> list[float]:
    """When hosts moved, in seconds."""
    faults = run.setting("faults") or []
    times = [quantities.seconds(f.get("at")) for f in faults if str(f["kind"]).endswith("-move")]
    return [t for t in times if t is not None]
