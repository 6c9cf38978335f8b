"""C5 to C7: how fast flows that join get their share, and what it costs (Figures 9 to 11)."""

from __future__ import annotations

from typing import Final

from ... import figures, palette
from ...metrics import METRICS
from ...metrics.copa_icn import FOUR_FLOWS_END_S, LEAST_CENSORED_S, delta_formula
from ...runs import Run
from ...stats import Estimate, difference, estimate, ratio
from .. import rules
from ..clauses import by_controller, judgement, mean, measured_or_not, row, runs_of, samples, show
from ..model import Claim, Drawn, Judgement, Need, Results, Scale, Verdict
from .common import ASSUMPTIONS, JITTER, PAPER, TWO, in_order, name_of, numbers

#: The cells of Figure 9 by bandwidth in Mbps and RTprop in ms.
CELLS: Final = {(rate, rtprop): f"copa-icn/fig9-{rate}mbps-{rtprop}ms"
                for rate in (20, 50) for rtprop in (50, 80)}  # fmt: skip
#: Copa-ICN's convergence time in units of Copa's (section 5.3.1).
SHARE: Final = 0.2
#: A looser bar, met where Copa-ICN is about three times as fast.
LOOSE_SHARE: Final = 0.35
#: Convergence times vary from run to run, so that five runs would leave the ratio open.
_RUNS: Final = numbers(Scale.FULL)

FOUR_FLOWS: Final = "copa-icn/fig10"
#: Fair enough to be called fair: Jain's index among four flows.
FAIR: Final = 0.99
#: Copa-ICN's queue in units of Copa's (section 5.3.1).
QUEUE_RATIO: Final = 8.0
#: Copa's analysis: packets that a flow keeps in the queue, times delta.
COPA_QUEUE: Final = 1.25


# C5.


def _needs_c5(scale: Scale) -> tuple[Need, ...]:
    runs = numbers(scale) if scale is Scale.QUICK else _RUNS
    return tuple(Need(s, (), runs) for s in CELLS.values())


def cell_name(cell: tuple[int, int]) -> str:
    """The cell in text."""
    return f"{cell[0]} Mbps, {cell[1]} ms"


@measured_or_not
def _judge_c5(results: Results, scale: Scale) -> Judgement:
    del scale
    times = {
        cell: {c: mean(runs, "convergence_time") for c, runs in by_controller(found).items()}
        for cell, found in ((c, runs_of(results, s)) for c, s in CELLS.items())
    }
    censored = {
        c: [
            run.duration_s
            for s in CELLS.values()
            for run in by_controller(runs_of(results, s)).get(c, [])
            if METRICS["convergence_time"].compute(run).notes
        ]
        for c in TWO
    }
    over_cells = {
        c: estimate(
            sum(per_run) / len(times)
            for per_run in zip(*(of[c].samples for of in times.values()), strict=True)
        )
        for c in TWO
    }
    share = ratio(over_cells["copa-icn"], over_cells["copa"])
    rows = [
        row(
            "convergence time, Copa-ICN / Copa, mean over the four cells",
            share,
            "1",
            f"about {SHARE:g} ({(1 - rules.ABOUT) * SHARE:.2f} to {(1 + rules.ABOUT) * SHARE:.2f})",
            rules.about(share.mean, SHARE),
        )
    ]
    for controller in TWO:
        of = {cell: times[cell][controller] for cell in CELLS}
        steps = {
            "bandwidth": [((20, 50), (50, 50)), ((20, 80), (50, 80))],
            "RTprop": [((20, 50), (20, 80)), ((50, 50), (50, 80))],
        }
        for what, pairs in steps.items():
            smaller = estimate(sum(x) for x in zip(*(of[a].samples for a, _ in pairs), strict=True))
            larger = estimate(sum(x) for x in zip(*(of[b].samples for _, b in pairs), strict=True))
            rows.append(
                row(
                    f"{name_of(controller)}'s time at the larger {what} / at the smaller",
                    ratio(larger, smaller),
                    "1",
                    "> 1 (grows)",
                    rules.more_than_one(ratio(larger, smaller)),
                )
            )
    ends = ((20, 50), (50, 80))
    growth = {c: difference(times[ends[1]][c], times[ends[0]][c]) for c in TWO}
    rows.append(
        row(
            f"growth from {cell_name(ends[0])} to {cell_name(ends[1])}, Copa's minus Copa-ICN's",
            difference(growth["copa"], growth["copa-icn"]),
            "s",
            "> 0 (Copa-ICN's much smaller)",
            rules.below(growth["copa-icn"], growth["copa"]),
        )
    )
    for cell in CELLS:
        for controller in TWO:
            name = f"convergence time, {name_of(controller)}, {cell_name(cell)}"
            rows.append(row(name, times[cell][controller], "s"))
        found = ratio(times[cell]["copa-icn"], times[cell]["copa"])
        note = f"{'at most' if found.mean <= LOOSE_SHARE else 'above'} {LOOSE_SHARE:g}"
        rows.append(
            row(f"Copa-ICN / Copa, {cell_name(cell)}", found, "1", f"<= {LOOSE_SHARE:g}", note=note)
        )
    because = []
    if share.mean < (1 - rules.ABOUT) * SHARE:
        because.append("Copa-ICN is faster against Copa than the paper says")
    because += [
        f"{len(lengths)} of {name_of(c)}'s runs never converged and count as their length"
        + _too_short(min(lengths))
        for c, lengths in censored.items()
        if lengths
    ]
    return judgement(rows, "; ".join(because))


def _too_short(length_s: float) -> str:
    """What to say of a run of `length_s` that counts as a convergence that did not come."""
    if length_s >= LEAST_CENSORED_S:
        return ""
    return (
        f", {length_s:.1f} s or more: less than {LEAST_CENSORED_S:g} s where the NDCs ended "
        "before, so that the true time is longer"
    )


def _draw_c5(results: Results) -> Drawn:
    drawn: list[tuple[str, figures.Figure]] = []
    cells = {cell: runs for cell, s in CELLS.items() if (runs := runs_of(results, s))}
    points = []
    for c in TWO:
        values = [mean(by_controller(runs)[c], "convergence_time") for runs in cells.values()]
        points.append(figures.Points(name_of(c), palette.controller(c), values))
    groups = [cell_name(cell).replace(", ", "\n") for cell in cells]
    everything = [run for runs in cells.values() for run in runs]
    bars = figures.bars([figures.Panel("", points, groups=groups)], "Convergence (s)", everything)
    drawn.append(("Time from the second flow's start until shares are equal.", bars))
    for cell, runs in cells.items():
        one = [r for r in in_order(runs, TWO) if r.run == min(x.run for x in runs)]
        figure = figures.time_figure(one, "goodput", (0.0, FOUR_FLOWS_END_S))
        drawn.append((f"Goodput over the first 10 s, {cell_name(cell)}, one run.", figure))
    return drawn


# C6, C7.


def _needs_four(scale: Scale) -> tuple[Need, ...]:
    return (Need(FOUR_FLOWS, (), numbers(scale)),)


def _parts(runs: list[Run], index: int) -> Estimate:
    metric = METRICS["convergence_within_joins"]
    return estimate(metric.compute(run).parts[index] for run in runs)


@measured_or_not
def _judge_c6(results: Results, scale: Scale) -> Judgement:
    del scale
    runs = by_controller(runs_of(results, FOUR_FLOWS))
    converged = {c: mean(runs[c], "joins_converged") for c in TWO}
    times = {c: mean(runs[c], "convergence_within_joins") for c in TWO}
    fair = {c: mean(runs[c], "jain_of_four") for c in TWO}
    by_join = {c: [_parts(runs[c], i) for i in range(3)] for c in TWO}
    rows = [
        row(
            "joins after which Copa-ICN's shares became equal before the next join",
            converged["copa-icn"].scaled(100),
            "%",
            "100 % (converges at every join)",
            rules.holds(converged["copa-icn"].low >= 1),
        ),
        row(
            "Jain's index over [8.1 s, 10 s], Copa-ICN",
            fair["copa-icn"],
            "1",
            f">= {FAIR:g} (stays fair)",
            rules.at_least(fair["copa-icn"], FAIR),
        ),
        row(
            "time with unequal shares after a join, Copa-ICN / Copa",
            ratio(times["copa-icn"], times["copa"]),
            "1",
            "< 1 (Copa is slower)",
            rules.below(times["copa-icn"], times["copa"]),
        ),
        row(
            "time with unequal shares, Copa, third join / first",
            ratio(by_join["copa"][2], by_join["copa"][0]),
            "1",
            "< 1 (better with many flows)",
            rules.below(by_join["copa"][2], by_join["copa"][0]),
        ),
    ]
    for c in TWO:
        rows += [
            row(f"time with unequal shares after join {i + 1}, {name_of(c)}", value, "s")
            for i, value in enumerate(by_join[c])
        ]
    rows.append(
        row("joins after which Copa's shares became equal", converged["copa"].scaled(100), "%")
    )
    rows.append(row("Jain's index over [8.1 s, 10 s], Copa", fair["copa"], "1"))
    return judgement(rows)


@measured_or_not
def _judge_c7(results: Results, scale: Scale) -> Judgement:
    del scale
    runs = by_controller(runs_of(results, FOUR_FLOWS))
    queues = {c: mean(runs[c], "queue_after_fourth_join") for c in TWO}
    found = ratio(queues["copa-icn"], queues["copa"])
    least = mean(runs["copa-icn"], "min_queue_after_third_join")
    fair = mean(runs["copa-icn"], "jain_of_four")
    rows = [
        row(
            "mean queue after the fourth join, Copa-ICN / Copa",
            found,
            "1",
            f"about {QUEUE_RATIO:g} "
            f"({(1 - rules.ABOUT) * QUEUE_RATIO:g} to {(1 + rules.ABOUT) * QUEUE_RATIO:g})",
            rules.about(found.mean, QUEUE_RATIO),
        ),
        row(
            "smallest queue from 1 s after the third join to 10 s, Copa-ICN",
            least,
            "packets",
            "> 0 (no longer empties)",
            rules.holds(min(samples(runs["copa-icn"], "min_queue_after_third_join")) > 0),
        ),
        row(
            "Jain's index over [8.1 s, 10 s], Copa-ICN",
            fair,
            "1",
            f">= {FAIR:g} (stays fair)",
            rules.at_least(fair, FAIR),
        ),
        *(
            row(f"mean queue after the fourth join, {name_of(c)}", queues[c], "packets")
            for c in TWO
        ),
        row(
            "smallest queue from 1 s after the third join to 10 s, Copa",
            mean(runs["copa"], "min_queue_after_third_join"),
            "packets",
        ),
    ]
    because = ""
    if rows[0].verdict is not Verdict.REPRODUCED:
        run = runs["copa-icn"][0]
        rate = float(run.bottleneck["rate_mbps"])
        wanted = {
            "copa-icn": COPA_QUEUE * 4 / delta_formula(rate / 4),
            "copa": COPA_QUEUE * 4 / delta_formula(1e9),
        }
        because = "Copa's analysis (1.25 / delta packets per flow) gives " + " and ".join(
            f"{wanted[c]:.1f} packets for {name_of(c)}, measured are {show(queues[c])}" for c in TWO
        )
        if (limit := run.buffer_packets) is not None:
            because += f"; the buffer holds {limit:.0f}"
    return judgement(rows, because)


def _draw_c6(results: Results) -> Drawn:
    runs = in_order(runs_of(results, FOUR_FLOWS), TWO)
    one = [r for r in runs if r.run == min(x.run for x in runs)]
    window = (0.0, FOUR_FLOWS_END_S)
    return [
        ("Goodput of four flows that join at 0.1, 2.1, 4.1 and 6.1 s, one run.",
         figures.time_figure(one, "goodput", window)),
        ("The same, mean of all runs.", figures.time_figure(runs, "goodput", window)),
    ]  # fmt: skip


def _draw_c7(results: Results) -> Drawn:
    runs = in_order(runs_of(results, FOUR_FLOWS), TWO)
    figure = figures.time_figure(runs, "queue", (0.0, FOUR_FLOWS_END_S), overlay=True)
    return [("The bottleneck's queue; flows join at 2.1, 4.1 and 6.1 s.", figure)]


C5: Final = Claim(
    id="C5-fig9",
    paper=PAPER,
    figure="Figure 9",
    title="Convergence time of a second flow",
    statement=(
        "Copa-ICN needs only about 20 % of Copa's time until a second flow has its fair share. "
        "Both take longer at higher bandwidth and at longer propagation delay; Copa-ICN's time "
        "changes much less."
    ),
    expected="convergence time Copa-ICN / Copa about 0.2; both grow with bandwidth and RTprop",
    assumptions=(
        *ASSUMPTIONS,
        JITTER,
        "shares are equal from the first of five bins of 200 ms in a row in which the smallest "
        "goodput is at least 0.8 of the largest; a run in which that never happens counts as its "
        "length",
        "runs go on beyond the paper's 10 s until both NDCs are there, at most for 40 s",
        "ten runs from the default scale on, as times vary much between runs",
    ),
    needs=_needs_c5,
    judge=_judge_c5,
    draw=_draw_c5,
)

C6: Final = Claim(
    id="C6-fig10",
    paper=PAPER,
    figure="Figure 10",
    title="Four flows that join one after the other",
    statement=(
        "With Copa-ICN the throughputs become equal quickly each time a flow joins, and they stay "
        "so. Copa takes much longer and gets better only once there are many flows."
    ),
    expected="Copa-ICN converges at every join and is fair at the end; Copa is slower",
    assumptions=(
        *ASSUMPTIONS,
        JITTER,
        f"fair means a Jain's index of at least {FAIR:g}",
        "shares that were not equal when the next flow joined count with the time until then",
    ),
    needs=_needs_four,
    judge=_judge_c6,
    draw=_draw_c6,
)

C7: Final = Claim(
    id="C7-fig11",
    paper=PAPER,
    figure="Figure 11",
    title="The bottleneck's queue with up to four flows",
    statement=(
        "From the fourth flow on, Copa-ICN's mean queue is eight times Copa's. From the third on "
        "it does not empty any more, so that later flows cannot measure the path without a queue; "
        "the shares are equal all the same, thanks to the prioritised first packets."
    ),
    expected="queue ratio about 8, never empty after the third join, fair",
    assumptions=(
        *ASSUMPTIONS,
        JITTER,
        "the mean is over the time from the fourth start to 10 s; emptiness is looked for every "
        "10 ms, from one second after the third start to 10 s",
    ),
    needs=_needs_four,
    judge=_judge_c7,
    draw=_draw_c7,
)
