"""E1 and E2: one client, and five that come and go (Figures 7 and 8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ... import figures, palette, stats
from ...runs import Run
from ...stats import Estimate
from .. import rules
from ..clauses import judgement, mean, measured_or_not, row, runs_of
from ..model import Claim, Drawn, Judgement, Measured, Need, Results, Scale
from .clauses import ordered, similar
from .common import (
    AQM,
    ASSUMPTIONS,
    BESIDE,
    EARLY,
    FOUR,
    JITTER,
    LITERAL,
    NAMES,
    PAPER,
    RED,
    aqm_of,
    by_label,
    look_of,
    measured,
    name_of,
    numbers,
    points,
    with_literal,
)

# E1.

_ONE: Final = "ecd-icn/fig7"
_TCP: Final = "ecd-icn/fig7-tcp"
_DELAYS: Final = "ecd-icn/fig7-rtprop"
_RATE: Final = "topology.bottleneck.rate"
_RTPROP: Final = "topology.rtprop"
_ENDS: Final = ("10 Mbps", "100 Mbps")
#: Full utilisation.
FULL: Final = 0.98
#: The largest difference to TCP CUBIC (section 5.2.1).
DIFFERENCE_KBPS: Final = 10.0


def _needs_e1(scale: Scale) -> tuple[Need, ...]:
    quick = scale is Scale.QUICK
    options = {Scale.QUICK: ("--duration=20s",), Scale.DEFAULT: ("--duration=30s",)}.get(scale, ())
    rates = {_RATE: _ENDS} if quick else {}
    # One flow under drop tail or CoDel has no chance in it.
    fixed = {**rates, AQM: ("drop-tail", "codel")}
    drawn = {**rates, AQM: (RED, "ecd")}
    delays: dict[str, tuple[str, ...]] = (
        {} if scale is Scale.FULL else {_RTPROP: ("4 ms", "20 ms", "60 ms")}
    )
    if quick:
        delays[_RATE] = ("100 Mbps",)
    return (
        Need(_ONE, options, (1,), fixed),
        *with_literal(_ONE, options, numbers(scale), drawn),
        Need(_TCP, options, (1,), rates),
        Need(_DELAYS, ("--duration=20s",) if scale is not Scale.FULL else (), (1,), delays),
    )


def _rates(runs: list[Run]) -> dict[str, dict[float, list[Run]]]:
    found: dict[str, dict[float, list[Run]]] = {}
    for label, of in by_label(runs).items():
        for run in of:
            rate = float(run.bottleneck["rate_mbps"])
            found.setdefault(label, {}).setdefault(rate, []).append(run)
    return {k: dict(sorted(of.items())) for k, of in found.items()}


def _tcp(results: Results) -> dict[str, dict[float, list[Run]]]:
    """TCP CUBIC's runs by whose it is and by rate."""
    found: dict[str, dict[float, list[Run]]] = {}
    for run in runs_of(results, _TCP):
        whose = "ferrocc's" if run.flows[0].controller == "cubic" else "ns-3's"
        found.setdefault(whose, {}).setdefault(float(run.bottleneck["rate_mbps"]), []).append(run)
    return {k: dict(sorted(of.items())) for k, of in found.items()}


def _worst_share(label: str, shares: dict[float, Estimate]) -> Measured:
    rate = min(shares, key=lambda r: shares[r].mean)
    return row(
        f"utilisation with headers, {name_of(label)}, {rate:g} Mbps (the smallest)",
        shares[rate],
        "1",
        f">= {FULL:g} at every rate",
        rules.worst(rules.at_least(v, FULL) for v in shares.values()),
    )


@measured_or_not
def _judge_e1(results: Results, scale: Scale) -> Judgement:
    del scale
    groups = _rates(runs_of(results, _ONE))
    shares = measured(groups, "ip_utilisation")
    speeds = measured(groups, "ip_throughput")
    rows = [_worst_share(label, shares[label]) for label in NAMES]
    tcp = _tcp(results)
    for whose, of in tcp.items():
        for label in NAMES:
            gaps = {
                rate: speeds[label][rate].mapped(1.0, -mean(runs, "ip_throughput").mean)
                for rate, runs in of.items()
            }
            widest = max(gaps, key=lambda r: abs(gaps[r].mean))
            rows.append(
                row(
                    f"throughput, {name_of(label)} - {whose} TCP CUBIC, {widest:g} Mbps "
                    "(the farthest)",
                    gaps[widest],
                    "kB/s",
                    f"within {DIFFERENCE_KBPS:g} kB/s at every rate",
                    rules.worst(
                        rules.within(g, -DIFFERENCE_KBPS, DIFFERENCE_KBPS) for g in gaps.values()
                    ),
                )
            )
    for label, speed in speeds.items():
        rows += [
            row(f"throughput with headers, {name_of(label)}, {rate:g} Mbps", v, "kB/s")
            for rate, v in speed.items()
        ]
    for whose, of in tcp.items():
        rows += [
            row(
                f"throughput with headers, {whose} TCP CUBIC, {rate:g} Mbps",
                mean(runs, "ip_throughput"),
                "kB/s",
            )
            for rate, runs in of.items()
        ]
    return judgement(rows, _by_rtprop(results))


def _by_rtprop(results: Results) -> str:
    """What utilisation becomes with longer paths, in a sentence."""
    found = []
    for rate, of in _delays(results).items():
        longest = max(x for shares in of.values() for x in shares)
        said = ", ".join(f"{name_of(k)} {shares[longest].mean:.3f}" for k, shares in of.items())
        found.append(f"{rate:g} Mbps {said}")
    return f"Utilisation with an RTprop of {longest:g} ms: {'; '.join(found)}" if found else ""


def _delays(results: Results) -> dict[float, dict[str, dict[float, Estimate]]]:
    """Utilisation by rate, label and RTprop in ms."""
    found: dict[float, dict[str, dict[float, Estimate]]] = {}
    runs = runs_of(results, _DELAYS)
    for rate in sorted({float(r.bottleneck["rate_mbps"]) for r in runs}):
        table: dict[str, dict[float, list[Run]]] = {}
        for label, of in by_label(r for r in runs if r.bottleneck["rate_mbps"] == rate).items():
            for run in of:
                table.setdefault(label, {}).setdefault((run.rtprop_s or 0) * 1e3, []).append(run)
        ordered_table = {k: dict(sorted(of.items())) for k, of in table.items()}
        found[rate] = measured(ordered_table, "ip_utilisation")
    return found


def _draw_e1(results: Results) -> Drawn:
    runs = runs_of(results, _ONE)
    groups = _rates(runs)
    tcp = _tcp(results)
    rates = sorted({rate for of in groups.values() for rate in of})
    bars = [
        figures.Points(
            name_of(label),
            look_of(label),
            [mean(of[rate], "ip_throughput").scaled(8e-3) for rate in rates],
            variant=1 if label == LITERAL else 0,
        )
        for label, of in groups.items()
    ]
    cubic = palette.controller("cubic")
    for i, (whose, by_rate) in enumerate(tcp.items()):
        bars.append(
            figures.Points(
                f"TCP CUBIC, {whose}",
                palette.variant(cubic, i),
                [mean(by_rate[rate], "ip_throughput").scaled(8e-3) for rate in rates],
                variant=i,
            )
        )
    panel = figures.Panel("", bars, groups=[f"{rate:g} Mbps" for rate in rates])
    everything = [*runs, *runs_of(results, _TCP)]
    drawn = [
        (
            "Steady throughput with headers of a single flow by the bottleneck's rate.",
            figures.bars([panel], "Throughput (Mbps)", everything),
        )
    ]
    panels = [
        figures.Panel(f"{rate:g} Mbps", points(of), [figures.Mark("full", 1.0)])
        for rate, of in _delays(results).items()
    ]
    if panels:
        figure = figures.curves(
            panels,
            "RTprop (ms)",
            "Utilisation",
            runs_of(results, _DELAYS),
            from_zero=False,
        )
        drawn.append(("Utilisation of a single flow by the propagation round trip.", figure))
    return drawn


E1: Final = Claim(
    id="E1-fig7",
    paper=PAPER,
    figure="Figure 7",
    title="Throughput of one client",
    statement=(
        "A single client keeps the bottleneck full at 10, 20, 50 and 100 Mbps, under Drop Tail, "
        "RED, CoDel and the improved CoDel alike, and within 10 KB/s of TCP CUBIC."
    ),
    expected=(
        f"utilisation with headers >= {FULL:g} under all four, within 10 kB/s of TCP CUBIC under "
        "Drop Tail"
    ),
    assumptions=(
        *ASSUMPTIONS,
        BESIDE,
        "the printed throughputs (9.54, 19.07, 47.68, 95.37) are the links' rates in units of 2^20 "
        "bit/s, so that the claim is taken for full utilisation: IP bytes per second on the "
        "bottleneck, from 10 s on",
        "it can hold at a small RTprop only, since a window like Reno's needs a queue; utilisation "
        "by RTprop stands beside",
        "TCP CUBIC has SACK, no timestamps, packets of 1,500 bytes, and runs under Drop Tail; both "
        "ns-3's and ferrocc's on ns-3's TCP are compared with",
    ),
    needs=_needs_e1,
    judge=_judge_e1,
    draw=_draw_e1,
)


# E2.

_FIVE: Final = "ecd-icn/fig8"
#: Jain's index of fair shares.
FAIR: Final = 0.95
#: A total is constant where the smallest phase has that share of the largest.
CONSTANT: Final = 0.95
#: "Quickly": within half of the time between two changes, in seconds.
QUICK_S: Final = 5.0


def _needs_e2(scale: Scale) -> tuple[Need, ...]:
    return with_literal(_FIVE, (), numbers(scale), {AQM: FOUR})


@measured_or_not
def _judge_e2(results: Results, scale: Scale) -> Judgement:
    del scale
    groups = {label: {5.0: of} for label, of in by_label(runs_of(results, _FIVE)).items()}
    names = (
        ("jain_of_phases", "Jain's index between changes", "1"),
        ("total_of_phases", "total goodput, smallest phase / largest", "1"),
        ("reconvergence", "time until shares are fair after a change", "s"),
        ("goodput_variation", "variation of the goodput in 1 s", "1"),
    )
    tables = {metric: measured(groups, metric) for metric, _, _ in names}
    at = {m: {label: of[5.0] for label, of in t.items()} for m, t in tables.items()}
    rows = []
    for label in NAMES:
        rows.append(
            row(
                f"Jain's index between changes, {name_of(label)}",
                at["jain_of_phases"][label],
                "1",
                f">= {FAIR:g} (fair)",
                rules.at_least(at["jain_of_phases"][label], FAIR),
            )
        )
    for label in NAMES:
        rows.append(
            row(
                f"total goodput, smallest phase / largest, {name_of(label)}",
                at["total_of_phases"][label],
                "1",
                f">= {CONSTANT:g} (constant)",
                rules.at_least(at["total_of_phases"][label], CONSTANT),
            )
        )
    for label in NAMES:
        rows.append(
            row(
                f"time until shares are fair after a change, {name_of(label)}",
                at["reconvergence"][label],
                "s",
                f"<= {QUICK_S:g} s (quick)",
                rules.at_most(at["reconvergence"][label], QUICK_S),
            )
        )
    variation = tables["goodput_variation"]
    for label in (*EARLY, "ecd"):
        rows.append(
            ordered("variation of the goodput in 1 s", variation, label, ("drop-tail",), "", at="")
        )
    for label in EARLY:
        rows.append(
            similar(
                "Jain's index between changes",
                at["jain_of_phases"]["ecd"],
                at["jain_of_phases"][label],
                ("ecd", label),
            )
        )
        rows.append(
            similar(
                "variation of the goodput in 1 s",
                at["goodput_variation"]["ecd"],
                at["goodput_variation"][label],
                ("ecd", label),
            )
        )
    for metric, what, unit in names:
        rows += [
            row(f"{what}, {name_of(label)}", value, unit)
            for label, value in at[metric].items()
            if metric == "goodput_variation" or label == LITERAL
        ]
    return judgement(rows)


def goodput_panel(
    run: Run, title: str, width_s: float, marks: Sequence[figures.Mark] = ()
) -> figures.Panel:
    """The goodput of every flow of `run`: lines in its queue management's colour."""
    look = palette.aqm(aqm_of(run))
    lines = []
    for i, flow in enumerate(run.flows):
        found = stats.goodput_series([run], i, width_s=width_s)
        values = [Estimate(float(v), float(v), float(v), 1) for v in found.value]
        times = [float(t) for t in found.time_s]
        shade = palette.variant(look, i % 3)
        lines.append(figures.Points(flow.name, shade, values, times, variant=i))
    return figures.Panel(title, lines, marks)


def _draw_e2(results: Results) -> Drawn:
    groups = by_label(runs_of(results, _FIVE))
    panels = [
        goodput_panel(of[0], f"({letter}) {name_of(label)}", 1.0)
        for letter, (label, of) in zip("abcde", groups.items(), strict=False)
    ]
    if not panels:
        return ()
    shown = [of[0] for of in groups.values()]
    figure = figures.curves(panels[:4], "Time (s)", "Goodput (Mbps)", shown[:4], share_x=True)
    drawn = [("Goodput of five clients that come and go, means over 1 s, one run.", figure)]
    drawn.append(("Fairness, steadiness and speed.", _bars_e2(groups)))
    return drawn


def _bars_e2(groups: dict[str, list[Run]]) -> figures.Figure:
    panels = []
    for metric, label in (
        ("jain_of_phases", "Jain's index"),
        ("goodput_variation", "Variation of goodput in 1 s"),
        ("reconvergence", "Until shares are fair (s)"),
    ):
        bars = [
            figures.Points(
                name_of(k), look_of(k), [mean(of, metric)], variant=1 if k == LITERAL else 0
            )
            for k, of in groups.items()
        ]
        panels.append(figures.Panel("", bars, groups=[""], ylabel=label))
    return figures.bars(panels, "", [run for of in groups.values() for run in of])


E2: Final = Claim(
    id="E2-fig8",
    paper=PAPER,
    figure="Figure 8",
    title="Five clients that come and go",
    statement=(
        "Clients that start and stop at different moments share the bottleneck fairly under every "
        "queue management; their total stays as they come and go, and those that are left soon "
        "have the shares of those that went. With RED, CoDel and the improved CoDel each client's "
        "throughput is steadier than with Drop Tail; the improved CoDel is about as good as the "
        "other two."
    ),
    expected=(
        "fair, constant in total and quick to converge under all; steadier than Drop Tail with an "
        "AQM; ECD about as RED and CoDel"
    ),
    assumptions=(
        *ASSUMPTIONS,
        JITTER,
        BESIDE,
        "a client starts every 10 s from 0.1 s on; from 50 s on one stops every 10 s, the first "
        "one first",
        f"shares are fair where Jain's index over the second half of the time between two changes "
        f"is {FAIR:g} or more, the total is constant where the smallest such half has "
        f"{CONSTANT:g} of the largest, and quick is {QUICK_S:g} s until Jain's index of a "
        f"second is {FAIR:g}",
        "steadiness is the coefficient of variation of each client's goodput in bins of 1 s, in "
        "the second halves",
    ),
    needs=_needs_e2,
    judge=_judge_e2,
    draw=_draw_e2,
)
