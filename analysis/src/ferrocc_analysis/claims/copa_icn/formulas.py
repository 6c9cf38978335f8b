"""C1, C10, C11: what the paper's formulas say of one flow."""

from __future__ import annotations

from typing import Final

import numpy as np

from ... import figures, palette
from ...metrics.copa_icn import (
    delta_against_rate,
    delta_formula,
    longest_settled_queue,
    window_range,
)
from ...runs import Run
from ...stats import Estimate, estimate
from .. import rules
from ..clauses import by_number, judgement, mean, measured_or_not, row, runs_of, samples
from ..model import Claim, Drawn, Judgement, Need, Results, Scale, Verdict
from .common import ASSUMPTIONS, PAPER

EQ8: Final = "copa-icn/eq8"
FIG3: Final = "copa-icn/fig3"
QUEUE: Final = "copa-icn/copa-queue"
#: What one flow must reach of Equation (8).
REACHED: Final = 0.98
#: How far traced values may be from Equation (7): the window moves by a packet between the moment
#: in which delta is computed and that in which both are traced.
CLOSE: Final = 0.05
#: Dots in a panel of a scatter plot.
_MOST_DOTS: Final = 1500

_ALONE: Final = "one flow alone: there is no chance in these runs, so that each is made once"


def _rate(run: Run) -> float:
    return float(run.bottleneck["rate_mbps"])


# C1.


def _needs_c1(scale: Scale) -> tuple[Need, ...]:
    axes = {"topology.rtprop": ("30 ms", "60 ms")} if scale is Scale.QUICK else {}
    return (Need(EQ8, (), (1,), axes),)


def _by_rate(runs: list[Run]) -> dict[float, list[Run]]:
    found: dict[float, list[Run]] = {}
    for run in sorted(runs, key=lambda r: (_rate(r), r.rtprop_s or 0)):
        found.setdefault(_rate(run), []).append(run)
    return found


@measured_or_not
def _judge_c1(results: Results, scale: Scale) -> Judgement:
    del scale
    rows, low = [], []
    for rate, runs in _by_rate(runs_of(results, EQ8)).items():
        ratios = samples(runs, "eq8_ratio")
        goodputs = samples(runs, "settled_goodput")
        worst = int(np.argmin(ratios))
        rows.append(
            row(
                f"goodput / Equation (8) at {rate:g} Mbps, the smallest of {len(runs)} RTprops",
                ratios[worst],
                "1",
                f">= {REACHED:g}",
                rules.holds(ratios[worst] >= REACHED),
                note=f"at {1e3 * (runs[worst].rtprop_s or 0):g} ms: {goodputs[worst]:.2f} Mbps",
            )
        )
        low += [
            f"{rate:g} Mbps, {1e3 * (run.rtprop_s or 0):g} ms ({value:.3f})"
            for run, value in zip(runs, ratios, strict=True)
            if value < REACHED
        ]
    return judgement(rows, f"Below {REACHED:g}: {', '.join(low)}" if low else "")


def _draw_c1(results: Results) -> Drawn:
    runs = runs_of(results, EQ8)
    points = []
    for i, (rate, of) in enumerate(_by_rate(runs).items()):
        values = [estimate([v]) for v in samples(of, "eq8_ratio")]
        look = palette.variant(palette.controller("copa-icn"), i)
        delays = [1e3 * (r.rtprop_s or 0) for r in of]
        points.append(figures.Points(f"{rate:g} Mbps", look, values, delays, variant=i))
    panel = figures.Panel("", points, [figures.Mark(f"{REACHED:g} of Equation (8)", REACHED)])
    figure = figures.curves([panel], "RTprop (ms)", "Goodput / Equation (8)", runs, from_zero=False)
    return [("Goodput of one Copa-ICN flow in units of Equation (8).", figure)]


# C10.


def _needs_c10(scale: Scale) -> tuple[Need, ...]:
    del scale
    return (Need(FIG3),)


@measured_or_not
def _judge_c10(results: Results, scale: Scale) -> Judgement:
    del scale
    runs = sorted(runs_of(results, FIG3), key=_rate)
    errors = samples(runs, "delta_error")
    high = samples([r for r in runs if _rate(r) > 100], "delta_at_high_rates")
    rows = [
        row(
            f"|delta / Equation (7) - 1|, 99 % quantile, {_rate(run):g} Mbps",
            error,
            "1",
            f"<= {CLOSE:g}",
            rules.holds(error <= CLOSE),
        )
        for run, error in zip(runs, errors, strict=True)
    ]
    rows.append(
        row(
            "mean delta at rates of 100 Mbps and more",
            sum(high) / len(high),
            "1/packets",
            "0.5",
            rules.holds(abs(sum(high) / len(high) / 0.5 - 1) <= CLOSE),
        )
    )
    return judgement(rows)


def _draw_c10(results: Results) -> Drawn:
    runs = sorted(runs_of(results, FIG3), key=_rate)
    points = []
    for i, run in enumerate(runs):
        rate, delta = delta_against_rate(run)
        step = max(1, rate.size // _MOST_DOTS)
        dots = [Estimate(float(d), float(d), float(d), 1) for d in delta[::step]]
        look = palette.variant(palette.controller("copa-icn"), i)
        at = [float(r) for r in rate[::step]]
        points.append(
            figures.Points(f"{_rate(run):g} Mbps", look, dots, at, scattered=True, variant=i)
        )
    x = [float(v) for v in np.linspace(0, max(max(p.x) for p in points), 300)]
    formula = figures.Mark("Equation (7)", [delta_formula(v) for v in x], x)
    panel = figures.Panel("", points, [formula])
    figure = figures.curves([panel], "Rate (Mbps, with headers)", "Delta (1/packets)", runs)
    caption = "Delta against the rate cwnd / RTTstanding as traced, and Equation (7)."
    return [(caption, figure)]


# C11.


def _needs_c11(scale: Scale) -> tuple[Need, ...]:
    del scale
    return (Need(QUEUE),)


def _delta(run: Run) -> float:
    return float(run.setting("flows.0.controller.delta"))


@measured_or_not
def _judge_c11(results: Results, scale: Scale) -> Judgement:
    del scale
    runs = sorted(by_number(runs_of(results, QUEUE)), key=lambda r: (_rate(r), -_delta(r)))
    rows = []
    for run in runs:
        (queue,) = samples([run], "settled_queue")
        (units,) = samples([run], "queue_in_copa_units")
        wanted = 1.25 / _delta(run)
        rows.append(
            row(
                f"mean queue, delta {_delta(run):g}, {_rate(run):g} Mbps",
                queue,
                "packets",
                f"about {wanted:g} "
                f"({(1 - rules.ABOUT) * wanted:.3g} to {(1 + rules.ABOUT) * wanted:.3g})",
                rules.about(queue, wanted),
                note=f"{units:.2f} x 1.25/delta",
            )
        )
    outside = [
        f"delta {_delta(run):g} at {_rate(run):g} Mbps: queue up to "
        f"{longest_settled_queue(run):.0f} packets, window between "
        f"{least:.0f} and {most:.0f}, {100 * float(run.bottleneck['utilisation']):.1f} % used"
        for run, r in zip(runs, rows, strict=True)
        if r.verdict is not Verdict.REPRODUCED
        for least, most in [window_range(run)]
    ]
    return judgement(rows, "; ".join(outside))


def _draw_c11(results: Results) -> Drawn:
    runs = runs_of(results, QUEUE)
    points = []
    for i, (rate, of) in enumerate(_by_rate(runs).items()):
        of = sorted(of, key=_delta)
        values = [mean([r], "settled_queue") for r in of]
        look = palette.variant(palette.controller("copa"), i)
        at = [_delta(r) for r in of]
        points.append(figures.Points(f"{rate:g} Mbps", look, values, at, variant=i))
    deltas = sorted({x for p in points for x in p.x})
    x = [float(v) for v in np.linspace(deltas[0], deltas[-1], 100)]
    mark = figures.Mark("1.25/delta", [1.25 / v for v in x], x)
    panel = figures.Panel("", points, [mark])
    figure = figures.curves([panel], "Delta (1/packets)", "Mean queue (packets)", runs)
    return [("The queue that one Copa flow keeps, and Copa's analysis.", figure)]


C1: Final = Claim(
    id="C1-eq8",
    paper=PAPER,
    figure="Equation (8)",
    title="Best goodput",
    statement=(
        "Headers leave 1250 of 1358 bytes of a packet for payload, so that the best goodput is "
        "18.41 Mbps at 20, 46.02 at 50, 55.23 at 60 and 92.05 at 100 Mbps. One Copa-ICN flow comes "
        "close to it."
    ),
    expected=f"goodput over [5 s, end - 1 s] >= {REACHED:g} of Equation (8), RTprop 30 to 60 ms",
    assumptions=(
        *ASSUMPTIONS,
        _ALONE,
        "the link adds 2 bytes per packet that the paper does not count, which takes 0.15 %",
    ),
    needs=_needs_c1,
    judge=_judge_c1,
    draw=_draw_c1,
)

C10: Final = Claim(
    id="C10-fig3",
    paper=PAPER,
    figure="Figure 3",
    title="Delta as a function of the rate",
    statement=(
        "Delta is 4.5e-5 times the square of the rate in Mbps, plus 0.05, and never above 0.5, "
        "which it reaches at 100 Mbps."
    ),
    expected="traced delta = min(0.5, 4.5e-5 rate^2 + 0.05); 0.5 at 100 Mbps and above",
    assumptions=(
        _ALONE,
        "the rate is cwnd / RTTstanding and counts packets with headers",
        f"'is' means within {100 * CLOSE:g} % in 99 % of the rows, one each 5 ms",
    ),
    needs=_needs_c10,
    judge=_judge_c10,
    draw=_draw_c10,
)

C11: Final = Claim(
    id="C11-copa",
    paper=PAPER,
    figure="section 5.3.1",
    title="The queue that Copa keeps",
    statement="One Copa flow with a fixed delta keeps about 1.25/delta packets in the queue.",
    expected="mean queue over [5 s, end - 1 s] about 1.25/delta packets",
    assumptions=(
        _ALONE,
        "delta 0.5, 0.25 and 0.1 at 20 and 50 Mbps, RTprop 50 ms, a buffer of four "
        "bandwidth-delay products",
        "the queue is that of the bottleneck's queue discipline and its device together",
    ),
    needs=_needs_c11,
    judge=_judge_c11,
    draw=_draw_c11,
)
