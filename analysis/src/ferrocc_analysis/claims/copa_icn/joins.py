"""C2 to C4: a second NDC joins the first (Figures 6 to 8)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ... import figures
from ...metrics import NotApplicable
from ...runs import Run
from ...stats import Estimate, ratio
from .. import rules
from ..clauses import by_controller, judgement, mean, measured_or_not, row, runs_of
from ..model import Claim, Drawn, Judgement, Measured, Need, Results, Scale, Verdict
from . import buffers
from .common import ASSUMPTIONS, FOUR, JITTER, PAPER, in_order, name_of, numbers

#: The paper's two settings, by the letter of their figures' rows.
SETTINGS: Final = {"a": "copa-icn/fig6a", "b": "copa-icn/fig6b"}
#: In quick runs, the second NDC has had its time by then.
_SHORT: Final = "--duration=8s"
#: The share from which `fairness.joins` takes two goodputs for equal.
EQUAL: Final = 0.8
#: Two in-flights have converged where the smaller is at least that share of the larger.
CONVERGED_GAP: Final = (1 - EQUAL) / (1 + EQUAL)
#: "More than 37 % lower" (section 5.2).
LOWER: Final = 0.37
RIVALS: Final = FOUR[1:]

ByAlgorithm = dict[str, list[Run]]


def needs(scale: Scale) -> tuple[Need, ...]:
    """Both settings with all four algorithms."""
    options = (_SHORT,) if scale is Scale.QUICK else ()
    return tuple(Need(s, options, numbers(scale)) for s in SETTINGS.values())


def needs_with_buffers(scale: Scale) -> tuple[Need, ...]:
    """The same, and from the default scale on with other buffers."""
    return needs(scale) if scale is Scale.QUICK else (*needs(scale), *buffers.needs(scale))


def settings_of(results: Results) -> dict[str, ByAlgorithm]:
    """The runs by setting (`a`, `b`) and algorithm."""
    return {
        letter: by_controller(runs_of(results, scenario)) for letter, scenario in SETTINGS.items()
    }


def _measured(runs: dict[str, ByAlgorithm], metric: str) -> dict[str, dict[str, Estimate]]:
    return {
        letter: {c: mean(those, metric) for c, those in of.items()} for letter, of in runs.items()
    }


# C2.


def _ordered(
    what: str,
    table: dict[str, dict[str, Estimate]],
    one: str,
    others: Sequence[str],
) -> Measured:
    """The clause that `one` has less of something than each of `others` in both settings."""
    verdict = rules.worst(
        rules.lowest([of[one]], [[of[o]] for o in others]) for of in table.values()
    )
    rivals = {letter: min(others, key=lambda o: of[o].mean) for letter, of in table.items()}
    found = {letter: ratio(of[one], of[rivals[letter]]) for letter, of in table.items()}
    letter = max(found, key=lambda x: found[x].mean)
    return row(
        f"{what}, {name_of(one)} / {name_of(rivals[letter])}, ({letter})",
        found[letter],
        "1",
        "< 1 in (a) and (b)",
        verdict,
        note="the setting and rival where it is largest",
    )


def _clauses_c2(runs: dict[str, ByAlgorithm]) -> list[Measured]:
    peaks = _measured(runs, "peak_in_flight_before_join")
    means = _measured(runs, "mean_in_flight_before_join")
    gaps = _measured(runs, "in_flight_gap_after_join")
    rows = [
        _ordered("mean in-flight before the join", means, "copa-icn", ("cubic", "newreno")),
        _ordered("mean in-flight before the join", means, "bbr", ("cubic", "newreno")),
        _ordered("peak in-flight before the join", peaks, "copa-icn", RIVALS),
    ]
    for controller, (in_a, in_b) in {
        "copa-icn": (True, True),
        "cubic": (False, False),
        "bbr": (False, False),
        "newreno": (True, False),
    }.items():
        for letter, converges in (("a", in_a), ("b", in_b)):
            gap = gaps[letter][controller]
            accident = ", by accident" if controller == "newreno" and converges else ""
            wanted = f"<= {CONVERGED_GAP:.2f} (converges{accident})"
            if not converges:
                wanted = f"> {CONVERGED_GAP:.2f} (does not converge)"
            rule = rules.at_most if converges else rules.at_least
            rows.append(
                row(
                    f"gap between in-flights after the join, {name_of(controller)}, ({letter})",
                    gap,
                    "1",
                    wanted,
                    rule(gap, CONVERGED_GAP),
                )
            )
    return rows


@measured_or_not
def _judge_c2(results: Results, scale: Scale) -> Judgement:
    del scale
    runs = settings_of(results)
    rows = _clauses_c2(runs)
    for title, metric in (
        ("peak", "peak_in_flight_before_join"),
        ("mean", "mean_in_flight_before_join"),
        ("smallest", "min_in_flight_before_join"),
    ):
        rows += [
            row(
                f"{title} in-flight before the join, {name_of(c)}, ({letter})",
                of[c].scaled(1e-3),
                "kB",
            )
            for letter, of in _measured(runs, metric).items()
            for c in FOUR
        ]
    return judgement(rows, _with_buffers(results, _clauses_c2))


# C3.


def _clauses_c3(runs: dict[str, ByAlgorithm]) -> list[Measured]:
    ratios = _measured(runs, "goodput_ratio")
    rows = []
    for controller in FOUR:
        for letter, of in ratios.items():
            value = of[controller]
            good = controller == "copa-icn" or (controller == "newreno" and letter == "a")
            if good:
                wanted = f"{EQUAL:g} to {1 / EQUAL:g} (equal)"
                verdict = rules.within(value, EQUAL, 1 / EQUAL)
            elif controller == "newreno":
                wanted = f"< {EQUAL:g} (poor)"
                verdict = rules.at_most(value, EQUAL)
            else:
                wanted = "< 1 (the first stays above)"
                verdict = rules.at_most(value, 1.0)
            name = f"goodput of NDC-2 / NDC-1, {name_of(controller)}, ({letter})"
            rows.append(row(name, value, "1", wanted, verdict))
    return rows


@measured_or_not
def _judge_c3(results: Results, scale: Scale) -> Judgement:
    del scale
    return judgement(_clauses_c3(settings_of(results)), _with_buffers(results, _clauses_c3))


# C4.


def _clauses_c4(runs: dict[str, ByAlgorithm]) -> list[Measured]:
    srtts = _measured(runs, "srtt_after_join")
    rows = [_ordered("SRTT after the join", srtts, "copa-icn", RIVALS)]
    for letter, of in srtts.items():
        for rival in RIVALS:
            of_rival = ratio(of["copa-icn"], of[rival])
            lower = of_rival.mapped(-1.0, 1.0)
            rows.append(
                row(
                    f"SRTT of Copa-ICN below {name_of(rival)}'s by, ({letter})",
                    lower.scaled(100),
                    "%",
                    f"> {100 * LOWER:g} %",
                    rules.more_than(lower, LOWER),
                )
            )
    others = [c for c in FOUR if c != "cubic"]
    longest = rules.worst(
        rules.highest([of["cubic"]], [[of[o]] for o in others]) for of in srtts.values()
    )
    found = {
        letter: ratio(of["cubic"], of[max(others, key=lambda o: of[o].mean)])
        for letter, of in srtts.items()
    }
    letter = min(found, key=lambda x: found[x].mean)
    rows.append(
        row(
            f"SRTT of CUBIC / the longest of the others, ({letter})",
            found[letter],
            "1",
            "> 1 in (a) and (b)",
            longest,
            note="the setting where it is smallest",
        )
    )
    return rows


@measured_or_not
def _judge_c4(results: Results, scale: Scale) -> Judgement:
    del scale
    runs = settings_of(results)
    rows = _clauses_c4(runs)
    rows += [
        row(f"SRTT after the join, {name_of(c)}, ({letter})", of[c], "ms")
        for letter, of in _measured(runs, "srtt_after_join").items()
        for c in FOUR
    ]
    return judgement(rows, _with_buffers(results, _clauses_c4))


def _with_buffers(
    results: Results, clauses: Callable[[dict[str, ByAlgorithm]], list[Measured]]
) -> str:
    """How many clauses hold with each buffer; empty where none were run."""
    found: dict[str, list[str]] = {}
    for label, runs in buffers.by_buffer(results).items():
        try:
            rows = clauses({letter: by_controller(those) for letter, those in runs.items()})
        except NotApplicable:
            found.setdefault("not measurable", []).append(label)
            continue
        held = sum(r.verdict is Verdict.REPRODUCED for r in rows)
        verdict = rules.overall(r.verdict for r in rows if r.verdict)
        found.setdefault(f"{verdict} ({held} of {len(rows)})", []).append(label)
    if not found:
        return ""
    said = "; ".join(f"{', '.join(labels)}: {verdict}" for verdict, labels in found.items())
    return f"By the buffer's size: {said}"


# Figures.


def _over_time(results: Results, kind: str, caption: str) -> list[tuple[str, figures.Figure]]:
    drawn = []
    for letter, scenario in SETTINGS.items():
        runs = runs_of(results, scenario)
        if runs:
            drawn.append((f"({letter}) {caption}", figures.time_figure(in_order(runs), kind)))
    return drawn


def _draw_c2(results: Results) -> Drawn:
    caption = "In-flight of both transfers over time; NDC-2 joins at 2.1 s."
    return _over_time(results, "in-flight", caption)


def _draw_c3(results: Results) -> Drawn:
    caption = "Goodput of both transfers over time; NDC-2 joins at 2.1 s."
    return [
        *_over_time(results, "goodput", caption),
        *buffers.draw(
            results, "goodput_ratio", "Goodput of NDC-2 / NDC-1", "Fairness against the buffer."
        ),
    ]


def _draw_c4(results: Results) -> Drawn:
    caption = "SRTT (0.8 SRTT + 0.2 RTT) of both transfers over time; NDC-2 joins at 2.1 s."
    return [
        *_over_time(results, "srtt", caption),
        *buffers.draw(
            results, "srtt_after_join", "SRTT after the join (ms)", "SRTT against the buffer."
        ),
    ]


_BUFFERS: Final = (
    "the paper does not give its routers' buffers, and the verdict depends on them: from the "
    "default scale on, buffers of 0.5, 1, 2 and 4 bandwidth-delay products and of 100 and 1,000 "
    "packets are shown beside; the verdict is that with one bandwidth-delay product"
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
        "'smallest in-flight' is read as the mean from one second after the start to the join",
        "the paper's 'extreme value' is read as the peak; the smallest in-flight is shown beside",
        "in-flights have converged where the smaller of their means over the second half of the "
        f"overlap is at least {EQUAL:g} of the larger",
    ),
    needs=needs_with_buffers,
    judge=_judge_c2,
    draw=_draw_c2,
)

C3: Final = Claim(
    id="C3-fig7",
    paper=PAPER,
    figure="Figure 7",
    title="Throughput of two transfers",
    statement=(
        "The throughputs of the two transfers soon become equal with Copa-ICN. With CUBIC and BBR "
        "the first stays above the second; NewReno does well in setting (a) and poorly in (b)."
    ),
    expected=(
        "goodput of NDC-2 / NDC-1 over the second half of their overlap: about 1 with Copa-ICN, "
        "below 1 with CUBIC and BBR; NewReno good in (a), poor in (b)"
    ),
    assumptions=(
        *ASSUMPTIONS,
        JITTER,
        _BUFFERS,
        f"goodputs are equal where the smaller is at least {EQUAL:g} of the larger",
    ),
    needs=needs_with_buffers,
    judge=_judge_c3,
    draw=_draw_c3,
)

C4: Final = Claim(
    id="C4-fig8",
    paper=PAPER,
    figure="Figure 8",
    title="Delay with two transfers",
    statement=(
        "Copa-ICN always has the smallest delay: once the second transfer is there, on average "
        "more than 37 % below that of each of the other three. CUBIC's is almost always the "
        "longest."
    ),
    expected="Copa-ICN lowest, > 37 % below BBR, CUBIC and NewReno; CUBIC highest",
    assumptions=(
        *ASSUMPTIONS,
        JITTER,
        _BUFFERS,
        "SRTT is averaged over both transfers from the second's start to the first end of one",
    ),
    needs=needs_with_buffers,
    judge=_judge_c4,
    draw=_draw_c4,
)
