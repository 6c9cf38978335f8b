"""C9: completion times of NDCs of different sizes (Figure 13)."""

from __future__ import annotations

from typing import Final

from ... import figures, palette, quantities
from ...runs import Run
from ...stats import Estimate, ratio
from .. import rules
from ..clauses import by_number, judgement, mean, measured_or_not, row, runs_of
from ..model import Claim, Drawn, Judgement, Need, Results, Scale
from .common import ASSUMPTIONS, JITTER, PAPER, TWO, name_of, numbers

SCENARIO: Final = "copa-icn/fig13"
#: The flow whose completion time is measured.
_SIZE: Final = "flows.5.size"
_AXIS: Final = "flows[5].size"
_METRIC: Final = "fct_over_optimum"
#: Copa-ICN's FCT in units of Copa's, by size in MB (section 5.3.3).
SHARES: Final = {1: 0.85, 50: 0.97}


def _needs(scale: Scale) -> tuple[Need, ...]:
    sizes = {Scale.QUICK: ("1 MB", "50 MB"), Scale.DEFAULT: ("1 MB", "10 MB", "50 MB")}.get(scale)
    axes = {_AXIS: sizes} if sizes else {}
    return (Need(SCENARIO, (), numbers(scale), axes),)


def by_size(runs: list[Run]) -> dict[str, dict[float, list[Run]]]:
    """Runs by controller and by the size of the NDC in MB, ascending."""
    found: dict[str, dict[float, list[Run]]] = {}
    for run in by_number(runs):
        size = quantities.size_bytes(run.setting(_SIZE)) or 0.0
        found.setdefault(run.flows[0].controller, {}).setdefault(size * 1e-6, []).append(run)
    return {c: dict(sorted(of.items())) for c, of in found.items()}


@measured_or_not
def _judge(results: Results, scale: Scale) -> Judgement:
    del scale
    times = {
        c: {size: mean(runs, _METRIC) for size, runs in of.items()}
        for c, of in by_size(runs_of(results, SCENARIO)).items()
    }
    shares = {s: ratio(times["copa-icn"][s], times["copa"][s]) for s in times["copa"]}
    rows = []
    for c in TWO:
        points = list(times[c].values())
        rows.append(
            row(
                f"FCT / optimum, {name_of(c)}, largest size / smallest",
                _last_to_first(points),
                "1",
                "< 1 (falls with size)",
                rules.decreasing(points),
            )
        )
    worst = max(shares.values(), key=lambda e: e.mean)
    rows.append(
        row(
            "FCT, Copa-ICN / Copa, the largest of all sizes",
            worst,
            "1",
            "< 1 (always better)",
            rules.lowest(list(times["copa-icn"].values()), [list(times["copa"].values())]),
        )
    )
    for size, share in SHARES.items():
        bounds = f"{(1 - rules.ABOUT) * share:.2f} to {(1 + rules.ABOUT) * share:.2f}"
        rows.append(
            row(
                f"FCT, Copa-ICN / Copa, {size} MB",
                shares[size],
                "1",
                f"about {share:g} ({bounds})",
                rules.about(shares[size].mean, share),
            )
        )
    for c in TWO:
        rows += [
            row(f"FCT / optimum, {name_of(c)}, {size:g} MB", value, "1")
            for size, value in times[c].items()
        ]
    rows += [
        row(f"FCT, Copa-ICN / Copa, {size:g} MB", value, "1")
        for size, value in shares.items()
        if size not in SHARES
    ]
    return judgement(rows)


def _last_to_first(points: list[Estimate]) -> Estimate:
    return ratio(points[-1], points[0])


def curves_by_size(
    runs: list[Run], controllers: tuple[str, ...], xlabel: str, unit_mb: float
) -> figures.Figure:
    """FCT in units of the optimum against the size in units of `unit_mb` MB."""
    groups = by_size(runs)
    points = [
        figures.Points(
            name_of(c),
            palette.controller(c),
            [mean(those, _METRIC) for those in groups[c].values()],
            [size / unit_mb for size in groups[c]],
        )
        for c in controllers
        if c in groups
    ]
    ticks = sorted({x for p in points for x in p.x})
    panel = figures.Panel("", points, [figures.Mark("optimum", 1.0)])
    return figures.curves([panel], xlabel, "FCT / optimum", runs, log_x=True, ticks=ticks)


def _draw(results: Results) -> Drawn:
    figure = curves_by_size(runs_of(results, SCENARIO), TWO, "Size of the NDC (MB)", 1.0)
    caption = (
        "Completion time in units of that at an equal share of the best goodput, by the NDC's size."
    )
    return [(caption, figure)]


C9: Final = Claim(
    id="C9-fig13",
    paper=PAPER,
    figure="Figure 13",
    title="Completion times of NDCs of different sizes",
    statement=(
        "Beside five other transfers, the larger an NDC, the closer its completion time comes to "
        "the optimum, an equal share of the best goodput. Copa-ICN is always better than Copa: it "
        "takes 85 % of Copa's time for 1 MB and 97 % for 50 MB."
    ),
    expected="FCT / optimum falls with size; Copa-ICN / Copa 0.85 at 1 MB, 0.97 at 50 MB",
    assumptions=(
        *ASSUMPTIONS,
        JITTER,
        "the five receivers in the background fetch NDCs of 50 MB one after the other, each with a "
        "new controller, until RE6 is done",
        "all transfers of a run have the same controller",
    ),
    needs=_needs,
    judge=_judge,
    draw=_draw,
)
