"""N5, N10, N14, N15, N22: what senders do that they need not (Figures 11, 16, 19, 21b, 22)."""

from __future__ import annotations

from typing import Final

from ... import figures, palette
from ...metrics import tcp_nce
from ...runs import Run
from ...stats import Estimate
from .. import rules
from ..clauses import by_number, judgement, mean, measured_or_not, row, runs_of
from ..model import Claim, Drawn, Judgement, Measured, Need, Results, Scale
from .claim import claim
from .clauses import Part, highest, lowest, similar, trend
from .common import (
    ASSUMPTIONS,
    LOSS,
    MULTIHOP,
    PANELS,
    PAPER,
    REORDER,
    RIVALS,
    SEVEN,
    Sweep,
    name_of,
    numbers,
    panel_of,
    recovery_of,
)
from .throughput import LENGTHS, LONGER

_LOSS_AT: Final = "{:g} % loss"
_REORDER_AT: Final = "{:g} % reordering"

# N5.

_WINDOWS: Final = "tcp-nce/fig16"


def _needs_n5(scale: Scale) -> tuple[Need, ...]:
    # The claim is about the time from 10 s to 80 s.
    options = () if scale is Scale.FULL else (f"--duration={tcp_nce.CUTS_UNTIL_S:g}s",)
    return (Need(_WINDOWS, options, numbers(scale)),)


def _grouped(results: Results) -> dict[str, dict[str, list[Run]]]:
    found: dict[str, dict[str, list[Run]]] = {p: {} for p in PANELS}
    for run in by_number(runs_of(results, _WINDOWS)):
        found[panel_of(run)].setdefault(recovery_of(run), []).append(run)
    return {p: of for p, of in found.items() if of}


@measured_or_not
def _judge_n5(results: Results, scale: Scale) -> Judgement:
    del scale
    rows: list[Measured] = []
    for panel, of in _grouped(results).items():
        cuts = {name: mean(runs, "cuts_10_80") for name, runs in of.items()}
        rows += [
            row(
                f"cuts from 10 s to 80 s, {name_of('newreno')}, {panel}",
                cuts["newreno"],
                "1",
                "> 10",
                rules.at_least(cuts["newreno"], 11.0),
            ),
            row(
                f"cuts from 10 s to 80 s, {name_of('nce')}, {panel}",
                cuts["nce"],
                "1",
                "about 3 (2.25 to 3.75)",
                rules.about(cuts["nce"].mean, 3.0),
            ),
        ]
        rows += [
            row(
                f"timeouts per minute, {name_of(name)}, {panel}",
                mean(runs, "timeout_rate"),
                "1/min",
            )
            for name, runs in of.items()
        ]
    return judgement(rows, "NCE itself cuts after timeouts only, a single flow's queue being short")


def _draw_n5(results: Results) -> Drawn:
    panels = [
        (panel, [(name_of(name), runs[:1]) for name, runs in of.items()])
        for panel, of in _grouped(results).items()
    ]
    drawn = []
    for panel, cells in panels:
        lines = []
        for (label, runs), name in zip(cells, _grouped(results)[panel], strict=True):
            rows = runs[0].flow(runs[0].flows[0]).select("time_s", "window_bytes").collect()
            mss = 512.0
            values = [Estimate(v, v, v, 1) for v in (rows.get_column("window_bytes") / mss)]
            look = palette.recovery(name)
            plain = palette.Style(look.color, "", look.name)
            lines.append(figures.Points(label, plain, values, list(rows.get_column("time_s"))))
        drawn.append(figures.Panel(panel, lines, ylabel="Congestion window (segments)"))
    if not drawn:
        return ()
    shown = [runs[0] for _, cells in panels for _, runs in cells]
    figure = figures.curves(drawn, "Time (s)", "Congestion window (segments)", shown)
    return [("Congestion window over time with 3 % random loss, one run each.", figure)]


N5: Final = Claim(
    id="N5-fig16",
    paper=PAPER,
    figure="Figure 16",
    title="Reductions of the window",
    statement=(
        "With 3 % random loss NewReno reduces its window more than ten times from 10 s to 80 s, "
        "NCE three times."
    ),
    expected="NewReno > 10, NCE about 3",
    assumptions=(
        *ASSUMPTIONS,
        "a reduction is a fall of the window or threshold below the window before, upon duplicate "
        "ACKs or a timeout",
    ),
    needs=_needs_n5,
    judge=_judge_n5,
    draw=_draw_n5,
)

# N10.

_RATE_OF: Final = "unnecessary retransmissions / packets sent"


def _n10(panel: str, part: Part) -> list[Measured]:
    return [
        trend(panel, part, _RATE_OF, SEVEN, _REORDER_AT, up=True),
        lowest(panel, part, _RATE_OF, "nce", RIVALS, _REORDER_AT),
        *(
            lowest(panel, part, _RATE_OF, n, ("veno", "cerl"), _REORDER_AT)
            for n in ("pr", "rr", "door")
        ),
        _worst(panel, part),
        _twice(panel, part),
    ]


def _worst(panel: str, part: Part) -> Measured:
    """That NewReno has the most of all."""
    others = [n for n in SEVEN if n != "newreno"]
    return highest(panel, part, _RATE_OF, "newreno", others, _REORDER_AT)


def _twice(panel: str, part: Part) -> Measured:
    doubled = {
        "nce": {x: v.scaled(2.0) for x, v in part["nce"].items()},
        "newreno": part["newreno"],
    }
    found = similar(panel, doubled, _RATE_OF, ("newreno",), "nce", _REORDER_AT)
    name = f"{_RATE_OF}, NewReno / (2 x NCE), farthest from 1, {panel}"
    return row(name, found.value or 0.0, "1", "about 1", found.verdict, n=found.n)


N10: Final = claim(
    Sweep(
        scenario="tcp-nce/fig18b",
        axis=REORDER,
        places={Scale.QUICK: ("0.01", "0.05"), Scale.DEFAULT: ("0.01", "0.03", "0.05")},
        seconds=LONGER,
        metric="unnecessary_retransmission_rate",
        what=_RATE_OF,
        unit="%",
        where=_REORDER_AT,
        xlabel="Reordering (%)",
        clauses=_n10,
    ),
    id="N10-fig19",
    figure="Figure 19",
    title="Unnecessary retransmissions by reordering",
    statement=(
        "Unnecessary retransmissions per packet sent grow with reordering from 1 to 5 %. NCE has "
        "the fewest; TCP-PR, RR-TCP and DOOR have fewer than Veno and CERL; NewReno has the most, "
        "about twice as many as NCE."
    ),
    expected="grow; NCE least; TCP-PR, RR-TCP, DOOR < Veno, CERL; NewReno most, about 2 x NCE",
    assumptions=(
        LENGTHS,
        MULTIHOP,
        "a retransmission is unnecessary if the transmission before was not lost",
        "the runs of Figure 18b: 12 Mbps, 50 ms, 1 % loss",
    ),
)

# N14 and N15.

_CUTS: Final = "unnecessary cuts"


def _n14(panel: str, part: Part) -> list[Measured]:
    return [
        trend(panel, part, _CUTS, SEVEN, _LOSS_AT, up=True),
        lowest(panel, part, _CUTS, "nce", RIVALS, _LOSS_AT),
    ]


_THREE: Final = (
    "three connections; rate and delay are not stated: 12 Mbps and 50 ms",
    "runs of 30 s (300 s in --full)",
)

N14: Final = claim(
    Sweep(
        scenario="tcp-nce/fig21b",
        axis=LOSS,
        places={Scale.QUICK: ("0.05", "0.09"), Scale.DEFAULT: ("0.05", "0.07", "0.09")},
        seconds={Scale.QUICK: 20.0, Scale.DEFAULT: 30.0},
        metric="unnecessary_cuts",
        what=_CUTS,
        unit="1/min",
        where=_LOSS_AT,
        xlabel="Random loss (%)",
        clauses=_n14,
    ),
    id="N14-fig21b",
    figure="Figure 21b",
    title="Unnecessary reductions of the window",
    statement=(
        "Unnecessary reductions of the window grow with the loss rate from 5 to 9 %; NCE has the "
        "fewest."
    ),
    expected="grow; NCE least everywhere",
    assumptions=(
        *_THREE,
        "a reduction is unnecessary if no queue has dropped any of the outstanding segments, upon "
        "duplicate ACKs or a timeout alike; counted per connection and minute",
    ),
)

_FAST: Final = "unnecessary fast retransmissions / packets sent"


def _n15(panel: str, part: Part) -> list[Measured]:
    return [lowest(panel, part, _FAST, "nce", RIVALS, _LOSS_AT)]


N15: Final = claim(
    Sweep(
        scenario="tcp-nce/fig22",
        axis=LOSS,
        places={Scale.QUICK: ("0.05", "0.1"), Scale.DEFAULT: ("0.05", "0.07", "0.1")},
        seconds={Scale.QUICK: 20.0, Scale.DEFAULT: 30.0},
        metric="unnecessary_fast_rate",
        what=_FAST,
        unit="%",
        where=_LOSS_AT,
        xlabel="Random loss (%)",
        clauses=_n15,
    ),
    id="N15-fig22",
    figure="Figure 22",
    title="Unnecessary fast retransmissions",
    statement=(
        "Of all TCPs NCE has the fewest unnecessary fast retransmissions per packet sent, at every "
        "loss rate from 5 to 10 %."
    ),
    expected="NCE least everywhere",
    assumptions=(
        *_THREE,
        "a fast retransmission is one that begins a recovery, or is made outside of one by the "
        "sender's own judgement; repairs after partial ACKs and timeouts are none",
    ),
)

# N22.

_ONE: Final = "tcp-nce/fig11"


def _needs_n22(scale: Scale) -> tuple[Need, ...]:
    return (Need(_ONE, (), numbers(scale)),)


@measured_or_not
def _judge_n22(results: Results, scale: Scale) -> Judgement:
    del scale
    runs = by_number(runs_of(results, _ONE))
    all_of = [pair for run in runs for pair in tcp_nce.delayed(run)]
    seven = [d for n, d in all_of if n == tcp_nce.FIG11_OUTSTANDING]
    exact = mean(runs, "delayed_exactly")
    cuts = mean(runs, "cuts_per_delayed")
    rows = [
        row(
            "retransmissions with 7 outstanding that left at the 7th duplicate ACK (the 4th more)",
            100.0 * sum(d == tcp_nce.FIG11_OUTSTANDING for d in seven) / len(seven)
            if seven
            else 0.0,
            "%",
            "100 %",
            rules.holds(bool(seven) and all(d == tcp_nce.FIG11_OUTSTANDING for d in seven)),
            note=f"{len(seven)} of them",
            n=len(runs),
        ),
        row(
            "the same with any number outstanding",
            exact,
            "%",
            "100 %",
            rules.at_least(exact, 100.0),
            note=f"{len(all_of)} of them",
        ),
        row(
            "window cuts at such retransmissions",
            cuts,
            "1",
            "0",
            rules.at_most(cuts, 0.0),
        ),
    ]
    return judgement(rows)


def _draw_n22(results: Results) -> Drawn:
    runs = by_number(runs_of(results, _ONE))
    if not runs:
        return ()
    pairs = [pair for run in runs for pair in tcp_nce.delayed(run)]
    values = [Estimate(float(d), float(d), float(d), 1) for _, d in pairs]
    found = figures.Points(
        "retransmissions", palette.recovery("nce"), values, [float(n) for n, _ in pairs], True
    )
    most = float(max((n for n, _ in pairs), default=8))
    line = figures.Mark("equations (11) to (13)", [0.0, most], [0.0, most])
    panel = figures.Panel("", [found], [line])
    figure = figures.curves(
        [panel], "Outstanding at the third duplicate ACK", "Duplicate ACK of the repair", runs
    )
    return [("When NCE sends again what it takes for lost by chance.", figure)]


N22: Final = Claim(
    id="N22-fig11",
    paper=PAPER,
    figure="Figure 11",
    title="The delay of a retransmission",
    statement=(
        "With 7 packets outstanding, the first of them lost, 4 more duplicate ACKs are awaited "
        "after the third; then it is sent again, at the duplicate ACK of the first packet that was "
        "sent after the third one, and the window is not reduced."
    ),
    expected="sent again exactly at the 7th duplicate ACK, in general at the n-th of n outstanding",
    assumptions=(
        *ASSUMPTIONS[2:4],
        "judged from the trace of runs with random loss alone, every such event of which is looked "
        "at, those with 7 outstanding apart",
        "limited transmit (RFC 3042) sends a new packet at each of the first duplicate ACKs, which "
        "count among the outstanding",
        "without the fallback that the paper does not have",
    ),
    needs=_needs_n22,
    judge=_judge_n22,
    draw=_draw_n22,
)
