"""C8: transfers in the opposite direction (Figure 12)."""

from __future__ import annotations

from typing import Final

from ... import figures, palette
from ...runs import Run
from ...stats import Estimate, ratio
from .. import rules
from ..clauses import by_number, judgement, mean, measured_or_not, row, runs_of
from ..model import Claim, Drawn, Judgement, Measured, Need, Results, Scale
from .common import ASSUMPTIONS, JITTER, PAPER, TWO, name_of, numbers

#: The settings by rate in Mbps and RTprop in ms.
SETTINGS: Final = {
    (20, 40): "copa-icn/fig12-20mbps-40ms",
    (50, 80): "copa-icn/fig12-50mbps-80ms",
}
_METRIC: Final = "goodput_beside_opposite"
#: Shares of the undisturbed throughput with two opposite transfers at 50 Mbps, 80 ms.
SHARES: Final = {"copa": 0.39, "copa-icn": 0.87}
#: "Would not change much": what must be left at least.
KEPT: Final = 0.8
#: In quick runs: long enough for the metric, too short for all of the transfers.
_SHORT: Final = "--duration=10s"


def _needs(scale: Scale) -> tuple[Need, ...]:
    options = (_SHORT,) if scale is Scale.QUICK else ()
    return tuple(Need(s, options, numbers(scale)) for s in SETTINGS.values())


def groups(runs: list[Run]) -> dict[str, dict[int, list[Run]]]:
    """Runs by the controller of their first flow and the number of opposite flows."""
    found: dict[str, dict[int, list[Run]]] = {}
    for run in by_number(runs):
        of = found.setdefault(run.flows[0].controller, {})
        of.setdefault(len(run.flows) - 1, []).append(run)
    return {c: dict(sorted(of.items())) for c, of in found.items()}


@measured_or_not
def _judge(results: Results, scale: Scale) -> Judgement:
    del scale
    goodputs = {
        cell: {
            c: {n: mean(runs, _METRIC) for n, runs in of.items()}
            for c, of in groups(runs_of(results, s)).items()
        }
        for cell, s in SETTINGS.items()
    }
    shares = {
        cell: {c: {n: ratio(of[n], of[0]) for n in (1, 2)} for c, of in by.items()}
        for cell, by in goodputs.items()
    }
    largest = max(
        (shares[cell][c][n] for cell in SETTINGS for c in TWO for n in (1, 2)),
        key=lambda e: e.mean,
    )
    rows = [
        row(
            "throughput of RE1 with opposite transfers / without, the largest of all",
            largest,
            "1",
            "< 1 (always lower)",
            rules.worst(
                rules.below(goodputs[cell][c][n], goodputs[cell][c][0])
                for cell in SETTINGS
                for c in TWO
                for n in (1, 2)
            ),
        )
    ]
    for cell in SETTINGS:
        of = goodputs[cell]["copa"]
        rows.append(
            row(
                f"throughput of RE1, Copa, two opposite / one, {_name(cell)}",
                ratio(of[2], of[1]),
                "1",
                "< 1 (falls with each)",
                rules.decreasing([of[n] for n in (0, 1, 2)]),
            )
        )
    for cell in SETTINGS:
        least = shares[cell]["copa-icn"][2]
        rows.append(
            row(
                f"throughput of RE1, Copa-ICN, two opposite / none, {_name(cell)}",
                least,
                "1",
                f">= {KEPT:g} (hardly changes)",
                rules.at_least(least, KEPT),
            )
        )
    for controller, share in SHARES.items():
        found = shares[(50, 80)][controller][2]
        bounds = f"{(1 - rules.ABOUT) * share:.2f} to {(1 + rules.ABOUT) * share:.2f}"
        rows.append(
            row(
                f"throughput of RE1, {name_of(controller)}, two opposite / none, {_name((50, 80))}",
                found,
                "1",
                f"about {share:g} ({bounds})",
                rules.about(found.mean, share),
            )
        )
    rows.append(_order(shares))
    for cell in SETTINGS:
        for c in TWO:
            for n in (0, 1, 2):
                name = f"throughput of RE1, {name_of(c)}, {n} opposite, {_name(cell)}"
                rows.append(row(name, goodputs[cell][c][n], "Mbps"))
            name = f"throughput of RE1, {name_of(c)}, one opposite / none, {_name(cell)}"
            rows.append(row(name, shares[cell][c][1], "1"))
    return judgement(rows)


def _order(shares: dict[tuple[int, int], dict[str, dict[int, Estimate]]]) -> Measured:
    points = [(cell, n) for cell in SETTINGS for n in (1, 2)]
    verdict = rules.highest(
        [shares[cell]["copa-icn"][n] for cell, n in points],
        [[shares[cell]["copa"][n] for cell, n in points]],
    )
    least = min(
        (ratio(shares[cell]["copa-icn"][n], shares[cell]["copa"][n]) for cell, n in points),
        key=lambda e: e.mean,
    )
    return row(
        "share of the undisturbed throughput, Copa-ICN's / Copa's, the smallest of all",
        least,
        "1",
        "> 1 (Copa-ICN keeps more)",
        verdict,
    )


def _name(cell: tuple[int, int]) -> str:
    return f"{cell[0]} Mbps, {cell[1]} ms"


def _draw(results: Results) -> Drawn:
    found = {cell: runs for cell, s in SETTINGS.items() if (runs := runs_of(results, s))}
    panels = []
    for cell, runs in found.items():
        points = []
        for c in TWO:
            of = groups(runs)[c]
            values = [mean(of[n], _METRIC) for n in of]
            shares = [ratio(v, values[0]) for v in values]
            points.append(figures.Points(name_of(c), palette.controller(c), shares))
        panels.append(figures.Panel(_name(cell), points, groups=["none", "one", "two"]))
    everything = [run for runs in found.values() for run in runs]
    bars = figures.bars(panels, "Throughput of RE1 / undisturbed", everything)
    drawn = [("RE1's throughput by the number of opposite transfers, one if there are none.", bars)]
    for cell, runs in found.items():
        figure = figures.flow_figure(
            [
                (f"{name_of(c)}", [(_count(n), of[n]) for n in of])
                for c, of in ((c, groups(runs)[c]) for c in TWO)
            ],
            "goodput",
            0,
        )
        caption = (
            f"RE1's throughput over time beside none to two opposite transfers, {_name(cell)}."
        )
        drawn.append((caption, figure))
    return drawn


def _count(n: int) -> str:
    return {0: "no opposite transfer", 1: "one", 2: "two"}.get(n, str(n))


C8: Final = Claim(
    id="C8-fig12",
    paper=PAPER,
    figure="Figure 12",
    title="Transfers in the opposite direction",
    statement=(
        "Transfers in the opposite direction lower RE1's throughput. With Copa it falls further "
        "with each of them, with Copa-ICN it hardly changes: at 50 Mbps and 80 ms with two of them "
        "Copa has 39 % of its undisturbed throughput left, Copa-ICN 87 %."
    ),
    expected="at 50 Mbps, 80 ms with two opposite transfers: Copa 0.39, Copa-ICN 0.87",
    assumptions=(
        *ASSUMPTIONS,
        JITTER,
        "every NDC has 50 MB, all transfers of a run have the same controller",
        "throughput is RE1's goodput from one second after its start until the first of all "
        "transfers ends",
        f"'hardly changes' means that at least {KEPT:g} of the throughput is left",
    ),
    needs=_needs,
    judge=_judge,
    draw=_draw,
)
