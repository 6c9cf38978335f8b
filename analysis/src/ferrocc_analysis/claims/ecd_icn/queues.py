"""E3 to E5: the queue on R3 and what it drops, by the number of clients (Figures 9 to 11)."""

from __future__ import annotations

from typing import Final

from ... import figures, stats
from ...runs import Run
from ...stats import Estimate, ratio
from .. import rules
from ..clauses import judgement, measured_or_not, row, runs_of
from ..model import Claim, Drawn, Judgement, Need, Results, Scale
from .clauses import at_most, ordered
from .common import (
    AQM,
    ASSUMPTIONS,
    BESIDE,
    COUNT,
    EARLY,
    FOUR,
    JITTER,
    LITERAL,
    PAPER,
    RIVALS,
    SETTLED,
    grouped,
    listed,
    look_of,
    measured,
    name_of,
    numbers,
    place,
    points,
    with_literal,
)

SCENARIO: Final = "ecd-icn/fig9"
_CLIENTS: Final = "{:g} clients"
#: Numbers of clients that the paper calls low, and high.
LOW: Final = (1.0, 3.0, 6.0)
HIGH: Final = (20.0, 40.0)
#: A queue is full where its mean is that share of the limit.
FILLED: Final = 0.8
#: "Markedly" less: further below than what is "about" equal.
MARKEDLY: Final = 1 - rules.ABOUT
#: "Much" less: half.
MUCH: Final = 0.5
#: A saw-tooth swings by that share of the limit at least: the standard deviation of one that
#: goes down to half of what it reaches is a seventh of its peak.
_SWING: Final = 0.1


def needs(scale: Scale) -> tuple[Need, ...]:
    """One to 40 clients with all queue managements."""
    options = {Scale.QUICK: ("--duration=16s",), Scale.DEFAULT: ("--duration=30s",)}.get(scale, ())
    axes: dict[str, tuple[str, ...]] = {AQM: FOUR}
    if scale is Scale.QUICK:
        axes[COUNT] = ("1", "6", "40")
    return with_literal(SCENARIO, options, numbers(scale), axes)


def _groups(results: Results) -> dict[str, dict[float, list[Run]]]:
    return grouped(runs_of(results, SCENARIO), COUNT)


def _low(table: dict[str, dict[float, Estimate]]) -> list[float]:
    return [x for x in table["ecd"] if x in LOW]


def _high(table: dict[str, dict[float, Estimate]]) -> list[float]:
    return [x for x in table["ecd"] if x in HIGH]


# E3.


@measured_or_not
def _judge_e3(results: Results, scale: Scale) -> Judgement:
    del scale
    groups = _groups(results)
    means = measured(groups, "settled_queue")
    swings = measured(groups, "queue_deviation")
    fills = measured(groups, "queue_fill")
    few, most = min(means["ecd"]), max(means["ecd"])
    limit = groups["drop-tail"][few][0].queue_limit_packets or 1.0
    swing = swings["drop-tail"][few].scaled(1 / limit)
    rows = [
        row(
            f"standard deviation of Drop Tail's queue / limit, {place(_CLIENTS, few)}",
            swing,
            "1",
            f">= {_SWING:g} (saw-tooth)",
            rules.at_least(swing, _SWING),
        ),
        row(
            f"mean of Drop Tail's queue / limit, {place(_CLIENTS, most)}",
            fills["drop-tail"][most],
            "1",
            f">= {FILLED:g} (full)",
            rules.at_least(fills["drop-tail"][most], FILLED),
        ),
        ordered("mean queue", means, "red", ("drop-tail",), _CLIENTS),
        ordered("mean queue", means, "codel", ("drop-tail",), _CLIENTS),
        ordered(
            "standard deviation of the queue",
            swings,
            "red",
            ("codel",),
            _CLIENTS,
            _high(swings),
            "at many clients",
        ),
        ordered("mean queue", means, "ecd", RIVALS, _CLIENTS, _low(means), "at few clients"),
        ordered(
            "standard deviation of the queue",
            swings,
            "ecd",
            RIVALS,
            _CLIENTS,
            _low(swings),
            "at few clients",
        ),
    ]
    growth = ratio(swings["ecd"][most], swings["ecd"][few])
    rows.append(
        row(
            f"standard deviation of ECD's queue, {most:g} clients / {few:g}",
            growth,
            "1",
            "> 1 (less steady at many clients)",
            rules.more_than_one(growth),
        )
    )
    rows += listed(means, "mean queue", "packets", _CLIENTS)
    rows += listed(swings, "standard deviation of the queue", "packets", _CLIENTS)
    rows += listed(measured(groups, "queue_median"), "median queue", "packets", _CLIENTS)
    return judgement(rows)


def _curves_over_time(groups: dict[str, dict[float, list[Run]]]) -> figures.Figure:
    counts = list(groups["ecd"])
    panels, shown = [], []
    for count in counts:
        lines = []
        for label, of in groups.items():
            if label == LITERAL or count not in of:
                continue
            run = of[count][0]
            shown.append(run)
            width = stats.bin_width(run.interval_s, run.duration_s, 0.1)
            series = stats.queue_series([run], width_s=width)
            values = [Estimate(float(v), float(v), float(v), 1) for v in series.value]
            times = [float(t) for t in series.time_s]
            lines.append(figures.Points(name_of(label), look_of(label), values, times))
        panels.append(figures.Panel(place(_CLIENTS, count), lines))
    limit = groups["drop-tail"][counts[0]][0].queue_limit_packets
    if limit:
        panels = [
            figures.Panel(p.title, p.points, [figures.Mark("buffer limit", limit)]) for p in panels
        ]
    return figures.curves(panels, "Time (s)", "Queue on R3 (packets)", shown, share_x=True)


def _draw_e3(results: Results) -> Drawn:
    groups = _groups(results)
    if not groups:
        return ()
    runs = runs_of(results, SCENARIO)
    swings = measured(groups, "queue_deviation")
    figure = figures.curves(
        [figures.Panel("", points(swings))],
        "Clients",
        "Standard deviation of the queue (packets)",
        runs,
        log_x=True,
        ticks=list(swings["ecd"]),
    )
    return [
        ("The queue on R3 over time, means over 0.1 s, one run each.", _curves_over_time(groups)),
        ("How unsteady the queue on R3 is, by the number of clients.", figure),
    ]


E3: Final = Claim(
    id="E3-fig9",
    paper=PAPER,
    figure="Figure 9",
    title="The queue on R3 over time",
    statement=(
        "With few clients Drop Tail's queue is a saw-tooth, with many it stays full. RED and CoDel "
        "keep it lower, RED a little steadier than CoDel with many clients. With few clients the "
        "improved CoDel has the lowest and steadiest queue; with many it becomes less steady, as "
        "it drops more often."
    ),
    expected=(
        "Drop Tail: saw-tooth, then full; RED and CoDel lower, RED steadier than CoDel at many "
        "clients; ECD lowest and steadiest at few, less steady at many"
    ),
    assumptions=(
        *ASSUMPTIONS,
        JITTER,
        BESIDE,
        SETTLED,
        "steadiness is the standard deviation of the queue in packets",
        "few clients are 1, 3 and 6, many are 20 and 40",
        f"a saw-tooth has a standard deviation of {_SWING:g} of the limit or more, a full queue a "
        f"mean of {FILLED:g} of it",
    ),
    needs=needs,
    judge=_judge_e3,
    draw=_draw_e3,
)


# E4.


@measured_or_not
def _judge_e4(results: Results, scale: Scale) -> Judgement:
    del scale
    means = measured(_groups(results), "settled_queue")
    rows = [
        ordered("mean queue", means, "ecd", RIVALS, _CLIENTS),
        at_most(
            "mean queue", means, "ecd", EARLY, MARKEDLY, _CLIENTS, _low(means), "at few clients"
        ),
        *listed(means, "mean queue", "packets", _CLIENTS),
    ]
    return judgement(rows)


def _by_clients(results: Results, metric: str, factor: float, ylabel: str) -> figures.Figure:
    table = measured(_groups(results), metric, factor)
    return figures.curves(
        [figures.Panel("", points(table))],
        "Clients",
        ylabel,
        runs_of(results, SCENARIO),
        ticks=list(table["ecd"]),
    )


def _draw_e4(results: Results) -> Drawn:
    figure = _by_clients(results, "settled_queue", 1.0, "Mean queue on R3 (packets)")
    return [("The mean queue on R3 by the number of clients.", figure)]


E4: Final = Claim(
    id="E4-fig10",
    paper=PAPER,
    figure="Figure 10",
    title="The mean queue on R3",
    statement=(
        "The improved CoDel has the lowest mean queue whatever the number of clients, markedly so "
        "with few."
    ),
    expected=f"ECD lowest everywhere, at few clients <= {MARKEDLY:g} x RED's and CoDel's",
    assumptions=(
        *ASSUMPTIONS,
        JITTER,
        BESIDE,
        SETTLED,
        f"'markedly' is read as at most {MARKEDLY:g} of the others, beyond what counts as about "
        "equal; few clients are 1, 3 and 6",
    ),
    needs=needs,
    judge=_judge_e4,
    draw=_draw_e4,
)


# E5.


@measured_or_not
def _judge_e5(results: Results, scale: Scale) -> Judgement:
    del scale
    groups = _groups(results)
    losses = measured(groups, "settled_loss_rate", 100.0)
    whole = measured(groups, "drop_rate", 100.0)
    rows = [
        ordered("loss rate", losses, "ecd", EARLY, _CLIENTS),
        at_most("loss rate", losses, "ecd", EARLY, MUCH, _CLIENTS, _low(losses), "at few clients"),
        ordered("loss rate", losses, "drop-tail", EARLY, _CLIENTS),
        *listed(losses, "loss rate", "%", _CLIENTS),
        *listed(whole, "loss rate with the clients' start", "%", _CLIENTS),
    ]
    return judgement(rows)


def _draw_e5(results: Results) -> Drawn:
    figure = _by_clients(results, "settled_loss_rate", 100.0, "Loss rate on R3 (%)")
    return [("Packets that R3 drops by the number of clients.", figure)]


E5: Final = Claim(
    id="E5-fig11",
    paper=PAPER,
    figure="Figure 11",
    title="Packets that R3 drops",
    statement=(
        "The improved CoDel drops much less than CoDel and RED with few clients, and less with "
        "many. Drop Tail drops less than CoDel and RED, too, at the price of delay."
    ),
    expected=(
        f"ECD below CoDel and RED everywhere, <= {MUCH:g} of theirs at few clients; Drop Tail "
        "below CoDel and RED"
    ),
    assumptions=(
        *ASSUMPTIONS,
        JITTER,
        BESIDE,
        f"{SETTLED}; the rate of the whole run is shown as well",
        f"'much lower' is read as at most {MUCH:g} of the others; few clients are 1, 3 and 6",
    ),
    needs=needs,
    judge=_judge_e5,
    draw=_draw_e5,
)
