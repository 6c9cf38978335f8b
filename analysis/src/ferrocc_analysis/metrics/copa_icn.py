"""Metrics of the Copa-ICN paper's claims. Symbols are those of `base`."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import polars as pl

from .. import quantities, schema
from ..runs import Flow, Run
from ..stats import Array
from .base import (
    NotApplicable,
    Value,
    between,
    eq8_mbps,
    first_flows,
    goodput_mbps,
    jain,
    mean_of,
    mean_queue_packets,
    metric,
    overlap,
    settled_interval,
    statistic,
)

#: The interval over which fairness among four flows is judged, in seconds.
FOUR_FLOWS_FROM_S: Final = 8.1
FOUR_FLOWS_END_S: Final = 10.0
#: Time between two joins of these.
BETWEEN_JOINS_S: Final = 2.0
#: The first flow's start-up, which its smallest in-flight leaves out, in seconds.
START_UP_S: Final = 1.0
#: Length that a run needs to stand in for a convergence that never came, in seconds.
LEAST_CENSORED_S: Final = 30.0
#: Equation (7): delta = a rate^2 + b, at most Copa's default; rate in Mbps.
DELTA_A: Final = 4.5e-5
DELTA_B: Final = 0.05
DELTA_MAX: Final = 0.5
#: Copa paces at this many windows per RTTstanding.
PACING_GAIN: Final = 2.0


# C1.


@metric(
    "settled_goodput",
    claims=["C1-eq8"],
    unit="Mbps",
    formula="sum_i (D_i(end - 1 s) - D_i(5 s)) * 8 / (end - 6 s), end = min_i end_i",
)
def settled_goodput(run: Run) -> float:
    """Goodput of all flows together over [5 s, end - 1 s]."""
    since, until = settled_interval(run)
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
    one, two = first_flows(run, 2)[:2]
    rows = between(run.flow(one), one.start_s, min(two.start_s, one.end_s))
    return statistic(rows, pl.col("in_flight_max_bytes").max())


@metric(
    "min_in_flight_before_join",
    claims=["C2-fig6"],
    unit="B",
    formula="min of flow 1's in-flight over [start_1 + 1 s, start_2]",
)
def min_in_flight_before_join(run: Run) -> float:
    """Smallest in-flight of the first flow while it is alone, its first second left out."""
    one, two = first_flows(run, 2)[:2]
    rows = between(run.flow(one), one.start_s + START_UP_S, min(two.start_s, one.end_s))
    return statistic(rows, pl.col("in_flight_min_bytes").min())


@metric(
    "mean_in_flight_before_join",
    claims=["C2-fig6"],
    unit="B",
    formula="mean of flow 1's in-flight over [start_1 + 1 s, start_2]",
)
def mean_in_flight_before_join(run: Run) -> float:
    """Mean in-flight of the first flow while it is alone, its first second left out."""
    one, two = first_flows(run, 2)[:2]
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
    one, two, since, until = overlap(run)
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
    one, two, since, until = overlap(run)
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
    one, two, since, until = overlap(run)
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


@metric(
    "convergence_within_joins",
    claims=["C6-fig10"],
    unit="s",
    formula="mean over joins of min(converged_s - t_s, time to the next join, 2 s)",
)
def convergence_within_joins(run: Run) -> Value:
    """How long shares stay unequal after a join, at most until the next join; `parts` by join.

    The last join has the time that the others have, so that joins can be compared.
    """
    joins = run.summary["fairness"]["joins"]
    if not joins:
        raise NotApplicable("no flow joined another")
    times = [float(j["t_s"]) for j in joins]
    parts, notes = [], []
    for join, begin, end in zip(joins, times, [*times[1:], math.inf], strict=True):
        most = min(end - begin, BETWEEN_JOINS_S)
        converged = join["converged_s"]
        if converged is None or float(converged) - begin > most:
            notes.append(f"not converged {most:.1f} s after the join at {begin:.1f} s")
            parts.append(most)
        else:
            parts.append(float(converged) - begin)
    return Value(sum(parts) / len(parts), tuple(notes), tuple(parts))


@metric(
    "joins_converged",
    claims=["C6-fig10"],
    unit="1",
    formula="share of joins after which the shares became equal before the next one",
)
def joins_converged(run: Run) -> float:
    """Whether shares become equal after each join."""
    joins = run.summary["fairness"]["joins"]
    if not joins:
        raise NotApplicable("no flow joined another")
    return sum(j["converged_s"] is not None for j in joins) / len(joins)


@metric(
    "jain_of_four",
    claims=["C6-fig10", "C7-fig11"],
    unit="1",
    formula="Jain's index of the goodputs over [8.1 s, 10 s]",
)
def jain_of_four(run: Run) -> float:
    """Fairness among all flows in the last two of the first ten seconds."""
    flows = first_flows(run, 4)
    until = min(FOUR_FLOWS_END_S, *(f.end_s for f in flows))
    return jain([goodput_mbps(run, f, FOUR_FLOWS_FROM_S, until) for f in flows])


@metric(
    "last_of_four",
    claims=["C6-fig10"],
    unit="1",
    formula="goodput_4 / mean goodput_i over [8.1 s, 10 s]",
)
def last_of_four(run: Run) -> float:
    """What the flow that came last gets in units of an equal share."""
    flows = first_flows(run, 4)
    until = min(FOUR_FLOWS_END_S, *(f.end_s for f in flows))
    rates = [goodput_mbps(run, f, FOUR_FLOWS_FROM_S, until) for f in flows]
    return rates[-1] * len(rates) / sum(rates) if sum(rates) > 0 else math.nan


# C7.


@metric(
    "queue_after_fourth_join",
    claims=["C7-fig11"],
    unit="packets",
    formula="mean bottleneck queue over [start_4, min(10 s, min_i end_i)]",
)
def queue_after_fourth_join(run: Run) -> float:
    """Mean queue once four flows are there."""
    flows = first_flows(run, 4)
    until = min(FOUR_FLOWS_END_S, *(f.end_s for f in flows))
    return mean_queue_packets(run, flows[3].start_s, until)


@metric(
    "min_queue_after_third_join",
    claims=["C7-fig11"],
    unit="packets",
    formula="min bottleneck queue over [start_3 + 1 s, min(10 s, min_i end_i)]",
)
def min_queue_after_third_join(run: Run) -> float:
    """Whether the queue still empties with three flows or four: 0 if so."""
    flows = first_flows(run, 4)
    until = min(FOUR_FLOWS_END_S, *(f.end_s for f in flows))
    rows = between(run.bottleneck_queue(), flows[2].start_s + START_UP_S, until)
    return statistic(rows, pl.col("packets").min())


# C11.


@metric(
    "settled_queue",
    claims=["C11-copa"],
    unit="packets",
    formula="mean bottleneck queue over [5 s, end - 1 s]",
)
def settled_queue(run: Run) -> float:
    """Mean queue without the start and the end."""
    since, until = settled_interval(run)
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
    since, until = settled_interval(run)
    delta = mean_of(run, run.flows[0], "delta", since, until)
    if not delta > 0:
        raise NotApplicable("the controller has no delta")
    return settled_queue(run) * delta / 1.25


# C8.


@metric(
    "goodput_beside_opposite",
    claims=["C8-fig12"],
    unit="Mbps",
    formula="goodput_1 over [start_1 + 1 s, min_i end_i]",
)
def goodput_beside_opposite(run: Run) -> float:
    """Goodput of the run's first flow while all flows are there, its first second left out."""
    flow = run.flows[0]
    return goodput_mbps(run, flow, flow.start_s + START_UP_S, min(f.end_s for f in run.flows))


# C9.


def foreground(run: Run) -> Flow:
    """The one flow that is not in the background."""
    settings = run.config.get("flows", [])
    flows = [
        f
        for f in run.flows
        if not (isinstance(settings[f.index], dict) and settings[f.index].get("background"))
    ]
    if len(flows) != 1:
        raise NotApplicable(f"{len(flows)} flows are not in the background instead of one")
    return flows[0]


@metric(
    "fct", claims=["C9-fig13"], unit="s", formula="FCT of the flow that is not in the background"
)
def fct(run: Run) -> float:
    """Flow completion time: first REQ to last byte."""
    flow = foreground(run)
    if not flow.summary["completed"]:
        raise NotApplicable(f"{flow.name} was not done at the end of the run")
    return float(flow.summary["fct_s"])


@metric(
    "fct_over_optimum",
    claims=["C9-fig13"],
    unit="1",
    formula="FCT / (8 * size / (rate * payload / (payload + 108 B) / number of flows))",
)
def fct_over_optimum(run: Run) -> float:
    """The foreground's FCT in units of that at an equal share of Equation (8)."""
    share = eq8_mbps(float(run.bottleneck["rate_mbps"]), run.payload_bytes) / len(run.flows)
    return fct(run) * share / (float(foreground(run).summary["bytes"]) * 8e-6)


# C10.


def delta_formula(rate_mbps: float) -> float:
    """Equation (7) with the paper's constants, at most Copa's default."""
    return min(DELTA_MAX, DELTA_A * rate_mbps**2 + DELTA_B)


def delta_against_rate(run: Run) -> tuple[Array, Array]:
    """The traced (rate, delta) of all flows: rates in Mbps with headers, cwnd / RTTstanding.

    The rate is taken from the pacing rate, which is twice that of payload. Rows of a flow that
    does not pace, or has no delta, are left out.
    """
    packet = (run.payload_bytes + schema.DATA_HEADER_BYTES) / run.payload_bytes
    rows = (
        run.flow_trace.filter(pl.col("pacing_mbps").is_not_null() & pl.col("delta").is_not_null())
        .select(pl.col("pacing_mbps") / PACING_GAIN * packet, pl.col("delta"))
        .collect()
    )
    return rows.get_column("pacing_mbps").to_numpy(), rows.get_column("delta").to_numpy()


@metric(
    "delta_error",
    claims=["C10-fig3"],
    unit="1",
    formula="99 % quantile of |delta / min(0.5, 4.5e-5 rate^2 + 0.05) - 1|",
)
def delta_error(run: Run) -> float:
    """How far the traced delta is from Equation (7) at the traced rate."""
    rate, delta = delta_against_rate(run)
    if rate.size == 0:
        raise NotApplicable("no delta was traced")
    wanted = np.minimum(DELTA_MAX, DELTA_A * rate**2 + DELTA_B)
    return float(np.quantile(np.abs(delta / wanted - 1), 0.99))


@metric(
    "delta_at_high_rates",
    claims=["C10-fig3"],
    unit="1/packets",
    formula="mean delta over rows with a rate of 100 Mbps or more",
)
def delta_at_high_rates(run: Run) -> float:
    """Delta where the formula has reached its largest value."""
    rate, delta = delta_against_rate(run)
    high = rate >= math.sqrt((DELTA_MAX - DELTA_B) / DELTA_A)
    if not high.any():
        raise NotApplicable("no rate of 100 Mbps was traced")
    return float(delta[high].mean())


# C13.


@metric(
    "target_rate",
    claims=["C13-eq6"],
    unit="Mbps",
    formula="packet bits / mean(delta * T_q) of flow 1 over [5 s, end - 1 s]",
)
def target_rate(run: Run) -> float:
    """The rate that Copa and Copa-ICN aim at, 1 / (delta * T_q), packets with headers."""
    flow = run.flows[0]
    rows = between(run.flow(flow), *settled_interval(run))
    product = statistic(rows, (pl.col("delta") * pl.col("queue_delay_ms")).mean()) * 1e-3
    if not product > 0:
        raise NotApplicable("no queueing delay was traced")
    return (run.payload_bytes + schema.DATA_HEADER_BYTES) * 8e-6 / product


@metric(
    "queueing_delay",
    claims=["C13-eq6"],
    unit="ms",
    formula="mean T_q (d_q of Copa) of flow 1 over [5 s, end - 1 s]",
)
def queueing_delay(run: Run) -> float:
    """The queueing delay that the controller of the first flow sees."""
    return mean_of(run, run.flows[0], "queue_delay_ms", *settled_interval(run))


@metric(
    "mean_window",
    claims=["C13-eq6"],
    unit="packets",
    formula="mean window of flow 1 / payload over [5 s, end - 1 s]",
)
def mean_window(run: Run) -> float:
    """The first flow's congestion window."""
    mean = mean_of(run, run.flows[0], "window_bytes", *settled_interval(run))
    return mean / run.payload_bytes


@metric(
    "window_of_added_delay",
    claims=["C13-eq6"],
    unit="packets",
    formula="settled goodput * delay added to REQs / payload",
)
def window_of_added_delay(run: Run) -> float:
    """The packets that are under way in the delay that was added on the way of the requests."""
    added = quantities.seconds(run.setting("topology.bottleneck.extra_delay_reverse"))
    if added is None:
        raise NotApplicable("no delay can be added on the way of the requests")
    since, until = settled_interval(run)
    rate = goodput_mbps(run, run.flows[0], since, until)
    return rate * 1e6 / 8 * added / run.payload_bytes


def window_range(run: Run) -> tuple[float, float]:
    """The first flow's smallest and largest window over [5 s, end - 1 s], packets."""
    rows = between(run.flow(run.flows[0]), *settled_interval(run))
    ends = (pl.col("window_bytes").min(), pl.col("window_bytes").max())
    least, most = (statistic(rows, end) / run.payload_bytes for end in ends)
    return least, most


def longest_settled_queue(run: Run) -> float:
    """The bottleneck's longest queue over [5 s, end - 1 s], packets."""
    rows = between(run.bottleneck_queue(), *settled_interval(run))
    return statistic(rows, pl.col("max_packets").max())
