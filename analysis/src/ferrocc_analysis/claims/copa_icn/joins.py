"""C2 to C4: a second NDC joins the first (Figures 6 to 8)."""

from __future__ import annotations

from typing import Final

from ... import figures, palette
from ...runs import Run
from ...stats import Estimate
from .. import rules
from ..clauses import by_controller, judgement, mean, measured_or_not, row, runs_of
from ..model import Claim, Drawn, Judgement, Measured, Need, Results, Scale
from .common import ASSUMPTIONS, FOUR, JITTER, PAPER, numbers

#: The paper's two settings, by the letter of their figures' rows.
SETTINGS: Final = {"a": "copa-icn/fig6a", "b": "copa-icn/fig6b"}
#: In quick runs, the second NDC has had its time by then.
_SHORT: Final = "--duration=8s"
#: Two in-flights have converged where the smaller is at least 0.8 of the larger, the share that
#: `fairness.joins` takes for goodputs: (1 - 0.8) / (1 + 0.8).
CONVERGED_GAP: Final = (1 - 0.8) / (1 + 0.8)


def needs(scale: Scale) -> tuple[Need, ...]:
    """Both settings with all four algorithms."""
    options = (_SHORT,) if scale is Scale.QUICK else ()
    return tuple(Need(s, options, numbers(scale)) for s in SETTINGS.values())


def per_setting(results: Results, metric: str) -> dict[str, dict[str, Estimate]]:
    """The metric's estimate by setting (`a`, `b`) and algorithm."""
    return {
        letter: {
            controller: mean(runs, metric)
            for controller, runs in by_controller(runs_of(results, scenario)).items()
        }
        for letter, scenario in SETTINGS.items()
    }


def name_of(controller: str) -> str:
    """The algorithm's name in text."""
    return palette.controller(controller).name


@measured_or_not
def _judge_c2(results: Results, scale: Scale) -> Judgement:
    del scale
    peaks = per_setting(results, "peak_in_flight_before_join")
    means = per_setting(results, "mean_in_flight_before_join")
    smallest = per_setting(results, "min_in_flight_before_join")
    gaps = per_setting(results, "in_flight_gap_after_join")
    rows: list[Measured] = []

    small = rules.worst(
        rules.lowest([of[one]], [[of[other]] for other in ("cubic", "newreno")])
        for of in means.values()
        for one in ("copa-icn", "bbr")
    )
    least_ratio = [
        max(of["copa-icn"].mean, of["bbr"].mean) / min(of["cubic"].mean, of["newreno"].mean)
        for of in means.values()
    ]
    rows.append(
        row(
            "mean in-flight before the join, larger of Copa-ICN and BBR / smaller of CUBIC and "
            "NewReno, the larger of (a) and (b)",
            max(least_ratio),
            "1",
            "< 1 in (a) and (b)",
            small,
        )
    )
    lowest_peak = rules.worst(
        rules.lowest([of["copa-icn"]], [[of[other]] for other in FOUR[1:]]) for of in peaks.values()
    )
    rows.append(
        row(
            "peak in-flight before the join, Copa-ICN / the smallest of the others, the larger of "
            "(a) and (b)",
            max(of["copa-icn"].mean / min(of[o].mean for o in FOUR[1:]) for of in peaks.values()),
            "1",
            "< 1 in (a) and (b)",
            lowest_peak,
        )
    )
    for controller, (in_a, in_b) in {
        "copa-icn": (True, True),
        "cubic": (False, False),
        "bbr": (False, False),
        "newreno": (True, False),
    }.items():
        for letter, converges in (("a", in_a), ("b", in_b)):
            gap = gaps[letter][controller]
            if converges:
                verdict = rules.at_most(gap, CONVERGED_GAP)
            else:
                verdict = rules.at_least(gap, CONVERGED_GAP)
            by_accident = ", by accident" if controller == "newreno" and converges else ""
            wanted = f"<= {CONVERGED_GAP:.2f} (converges{by_accident})"
            other = f"> {CONVERGED_GAP:.2f} (does not converge)"
            rows.append(
                row(
                    f"gap between the in-flights after the join, {name_of(controller)}, ({letter})",
                    gap,
                    "1",
                    wanted if converges else other,
                    verdict,
                )
            )
    for title, table in (("peak", peaks), ("mean", means), ("minimum", smallest)):
        for letter, of in table.items():
            for controller in FOUR:
                rows.append(
                    row(
                        f"{title} in-flight before the join, {name_of(controller)}, ({letter})",
                        of[controller].scaled(1e-3),
                        "kB",
                    )
                )
    return judgement(rows)


def _draw_over_time(results: Results, kind: str, caption: str) -> Drawn:
    drawn = []
    for letter, scenario in SETTINGS.items():
        runs = runs_of(results, scenario)
        if runs:
            figure = figures.time_figure(_in_order(runs), kind)
            drawn.append((f"({letter}) {caption}", figure))
    return drawn


def _in_order(runs: list[Run]) -> list[Run]:
    groups = by_controller(runs)
    names = [c for c in FOUR if c in groups] + [c for c in groups if c not in FOUR]
    return [run for name in names for run in groups[name]]


def _draw_c2(results: Results) -> Drawn:
    return _draw_over_time(
        results, "in-flight", "In-flight of both transfers; NDC-2 joins at 2.1 s."
    )


C2: Final = Claim(
    id="C2-fig6",
    paper=PAPER,
    figure="Figure 6",
    title="In-flight before and after a second transfer joins",
    statement=(
        "While the first transfer is alone, Copa-ICN and BBR keep less in flight than CUBIC and "
        "NewReno, which fill the buffer, and Copa-ICN's largest in-flight is the smallest of all. "
        "Once a second transfer has joined, the in-flights of the two become equal with Copa-ICN; "
        "with CUBIC and BBR they do not, and with NewReno only in setting (a), by accident."
    ),
    expected=(
        "Copa-ICN and BBR below CUBIC and NewReno, Copa-ICN with the smallest peak; in-flights "
        "converge with Copa-ICN, not with CUBIC and BBR, with NewReno only in (a)"
    ),
    assumptions=(
        *ASSUMPTIONS,
        JITTER,
        "the paper's 'extreme value' is read as the peak; the smallest in-flight is shown beside",
        "in-flights have converged where the smaller of their means over the second half of the "
        "overlap is at least 0.8 of the larger",
    ),
    needs=needs,
    judge=_judge_c2,
    draw=_draw_c2,
)
