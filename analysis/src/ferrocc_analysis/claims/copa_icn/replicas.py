"""C12: a change of the replica in the middle of an NDC (section 4.2.3)."""

from __future__ import annotations

from typing import Final

from ... import figures, palette, stats
from ...metrics.replicas import switches
from ...stats import Estimate, estimate
from .. import rules
from ..clauses import applicable, by_number, judgement, mean, measured_or_not, row, runs_of, samples
from ..model import Claim, Drawn, Judgement, Need, Results, Scale
from .common import ASSUMPTIONS, PAPER, numbers

SCENARIO: Final = "copa-icn/replica-switch"


def _needs(scale: Scale) -> tuple[Need, ...]:
    return (Need(SCENARIO, (), numbers(scale)),)


@measured_or_not
def _judge(results: Results, scale: Scale) -> Judgement:
    del scale
    runs = by_number(runs_of(results, SCENARIO))
    whole, anew = mean(runs, "delivered_whole"), mean(runs, "restarts")
    # Where the registration of the nearer replica was lost, a transfer begins with the farther.
    farther = applicable(runs, "stale_delay")
    stale = mean(farther, "stale_delay")
    changes = [len(switches(run)) for run in runs]
    late = [float(f.summary["unnecessary_retransmissions"]) for r in runs for f in r.flows]
    rows = [
        row(
            "NDCs complete, with every byte once and the hash that is their name",
            whole.scaled(100),
            "%",
            "100 %",
            rules.holds(whole.low >= 1),
        ),
        row(
            "changes of the replica at which the controller restarted",
            anew.scaled(100),
            "%",
            "100 %",
            rules.holds(anew.low >= 1),
        ),
        row(
            "smallest T_q with the farther replica / its longer propagation delay",
            stale,
            "1",
            "< 1 (measured again)",
            rules.holds(max(samples(farther, "stale_delay")) < 1),
        ),
        row("changes of the replica per NDC", estimate(changes), "1"),
        row("units that arrived although they were there already", estimate(late), "1"),
    ]
    return judgement(rows)


def _draw(results: Results) -> Drawn:
    runs = by_number(runs_of(results, SCENARIO))[:1]
    if not runs:
        return ()
    run = runs[0]
    look = palette.controller(run.flows[0].controller)
    panels = []
    for column, scale, title, ylabel in (
        ("window_bytes", 1 / run.payload_bytes, "Window", "Window (packets)"),
        ("queue_delay_ms", 1.0, "Queueing delay", "T_q (ms)"),
    ):
        series = stats.flow_series(runs, 0, column, width_s=run.interval_s, scale=scale)
        values = [Estimate(float(v), float(v), float(v), 1) for v in series.value]
        top = max(v.mean for v in values)
        marks = [figures.Mark("the replica changes", [0.0, top], [t, t]) for t, _ in switches(run)]
        times = [float(t) for t in series.time_s]
        panels.append(
            figures.Panel(
                title, [figures.Points(look.name, look, values, times)], marks, ylabel=ylabel
            )
        )
    figure = figures.curves(panels, "Time (s)", "", runs)
    caption = "A transfer whose replica changes to one that is 5 ms farther, and back."
    return [(caption, figure)]


C12: Final = Claim(
    id="C12-restart",
    paper=PAPER,
    figure="section 4.2.3",
    title="A change of the replica in the middle of an NDC",
    statement=(
        "When the replica changes, the controller restarts and measures the propagation delay "
        "again; the NDC arrives with every byte right."
    ),
    expected="content verified, a restart at every change, no stale propagation delay",
    assumptions=(
        *ASSUMPTIONS,
        "two replicas, the second 5 ms farther; the transfer goes to it at 1 s and back at 2.5 s "
        "while both answer, so that late answers of the one that was left arrive",
        "2 % of the packets are lost in both directions, 10 % of DATA is reordered",
    ),
    needs=_needs,
    judge=_judge,
    draw=_draw,
)
