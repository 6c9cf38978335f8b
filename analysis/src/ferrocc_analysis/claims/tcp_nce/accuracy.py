"""N1, N16 to N19: how well senders tell losses and reordering apart (Figures 8, 23 to 26)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ... import figures, palette
from ...metrics import NotApplicable
from ...runs import Run
from ...stats import Estimate, ratio
from .. import rules
from ..clauses import applicable, by_number, judgement, mean, measured_or_not, row, runs_of
from ..model import Claim, Drawn, Judgement, Measured, Need, Results, Scale
from .claim import claim
from .clauses import Part, highest, lowest
from .common import (
    ASSUMPTIONS,
    COUNT,
    LOSS,
    PANELS,
    PAPER,
    REORDER,
    SEVEN,
    Sweep,
    name_of,
    numbers,
    options_of,
    panel_of,
    place_of,
    points,
    recovery_of,
)

_LOSS_AT: Final = "{:g} % loss"
_REORDER_AT: Final = "{:g} % reordering"
_COUNT_AT: Final = "{:g} connections"
LENGTHS: Final = "runs of 20 s with several connections instead of 300 s but for `--full`"
SECONDS: Final = {Scale.QUICK: 15.0, Scale.DEFAULT: 20.0}
DENOMINATORS: Final = (
    "an accuracy's denominator is everything of the kind that happened, what a timeout repaired "
    "and what caused no third duplicate ACK included; a recovery's repairs have its verdict"
)

# N1.

_THRESHOLD: Final = "tcp-nce/fig8"
#: The threshold that the paper finds best, percent of the buffer.
BEST: Final = 90.0


def _needs_n1(scale: Scale) -> tuple[Need, ...]:
    length = SECONDS.get(scale)
    return (Need(_THRESHOLD, (f"--duration={length:g}s",) if length else (), numbers(scale)),)


def _by_share(results: Results) -> dict[str, dict[float, Estimate]]:
    """Equation (10) in percent by panel and threshold in percent."""
    found: dict[str, dict[float, list[Run]]] = {p: {} for p in PANELS}
    for run in by_number(runs_of(results, _THRESHOLD)):
        share = round(100.0 * float(options_of(run)["share"]), 6)
        found[panel_of(run)].setdefault(share, []).append(run)
    return {
        p: {x: mean(of[x], "accuracy_non_congestion") for x in sorted(of)}
        for p, of in found.items()
        if of
    }


@measured_or_not
def _judge_n1(results: Results, scale: Scale) -> Judgement:
    del scale
    rows: list[Measured] = []
    table = _by_share(results)
    for panel, of in table.items():
        upto = [v for x, v in of.items() if x <= BEST]
        beyond = [v for x, v in of.items() if x >= BEST]
        first, best, last = of[min(of)], of[BEST], of[max(of)]
        rows += [
            row(
                f"accuracy of non-congestion events, {BEST:g} % / {min(of):g} %, {panel}",
                ratio(best, first) if first.mean else 1.0,
                "1",
                "rises from threshold to threshold up to 90 %",
                rules.increasing(upto),
            ),
            row(
                f"accuracy of non-congestion events, {max(of):g} % / {BEST:g} %, {panel}",
                ratio(last, best) if best.mean else 1.0,
                "1",
                "falls beyond 90 %",
                rules.decreasing(beyond),
            ),
        ]
    for panel, of in table.items():
        rows += [
            row(f"accuracy of non-congestion events, {x:g} % of the buffer, {panel}", v, "%")
            for x, v in of.items()
        ]
    return judgement(rows)


def _draw_n1(results: Results) -> Drawn:
    table = _by_share(results)
    if not table:
        return ()
    look = palette.recovery("nce")
    panels = [
        figures.Panel(panel, [figures.Points(look.name, look, list(of.values()), list(of))])
        for panel, of in table.items()
    ]
    runs = runs_of(results, _THRESHOLD)
    label = "Accuracy of non-congestion events (%)"
    figure = figures.curves(panels, "Threshold (% of the buffer)", label, runs, from_zero=False)
    return [("Equation (10) by the threshold of the queue.", figure)]


N1: Final = Claim(
    id="N1-fig8",
    paper=PAPER,
    figure="Figure 8",
    title="The threshold of the queue",
    statement=(
        "The accuracy with which non-congestion events are told (Eq. (10)) rises with the "
        "threshold until that is 90 % of the buffer and falls beyond."
    ),
    expected="rises up to 90 %, falls from there to 100 %",
    assumptions=(
        *ASSUMPTIONS,
        "six connections; 3 % random loss, 1 % reordering, 6 Mbps, 10 ms as in the paper",
        LENGTHS,
        DENOMINATORS,
        "on a given trace Eq. (10) cannot fall as the threshold rises but for what timeouts "
        "repair, which its denominator counts",
    ),
    needs=_needs_n1,
    judge=_judge_n1,
    draw=_draw_n1,
)

# N16.

_ACL: Final = "accuracy of congestion losses"


def _n16(panel: str, part: Part) -> list[Measured]:
    ours = part["nce"]
    worst = min(ours, key=lambda x: ours[x].mean)
    return [
        row(
            f"{_ACL}, NCE, {_COUNT_AT.format(worst)} (the smallest), {panel}",
            ours[worst],
            "%",
            "> 90 % at every number",
            rules.worst(rules.at_least(v, 90.0) for v in ours.values()),
        ),
        highest(panel, part, _ACL, "nce", ("veno", "cerl"), _COUNT_AT),
    ]


class _WhereAny(Sweep):
    """A sweep whose metric only some runs have: those with an event of its kind."""

    def runs(self, results: Results) -> list[Run]:
        found = super().runs(results)
        try:
            kept = applicable(found, self.metric)
        except NotApplicable:
            return []
        # A place counts if all that are compared have something there.
        have: dict[tuple[str, float], set[str]] = {}
        for run in kept:
            have.setdefault((panel_of(run), place_of(run, self.axis)), set()).add(recovery_of(run))
        wanted = {recovery_of(r) for r in found}
        return [r for r in kept if have[(panel_of(r), place_of(r, self.axis))] == wanted]


N16: Final = claim(
    _WhereAny(
        scenario="tcp-nce/fig23",
        axis=COUNT,
        places={Scale.QUICK: ("6", "20"), Scale.DEFAULT: ("6", "12", "20")},
        seconds=SECONDS,
        metric="accuracy_congestion",
        what=_ACL,
        unit="%",
        where=_COUNT_AT,
        xlabel="Connections",
        clauses=_n16,
        recoveries=SEVEN,
    ),
    id="N16-fig23",
    figure="Figure 23",
    title="Accuracy of congestion losses",
    statement=(
        "With 1 % random loss and 1 % reordering NCE tells more than 90 % of the losses by "
        "congestion (ACL), more than Veno and CERL, at every number of connections."
    ),
    expected="NCE > 90 %, above Veno and CERL, everywhere",
    assumptions=(
        LENGTHS,
        DENOMINATORS,
        "12 Mbps and 50 ms; 6, 12 and 20 connections, fewer of them capped at 32 packets do not "
        "fill the queue; numbers of connections at which some TCP had no drop are left out",
        "NewReno, TCP-PR and RR-TCP call every loss congestion: what they miss is what timeouts "
        "repair",
    ),
)

# N17 and N18.

_ARL: Final = "accuracy of random losses"
_APR: Final = "accuracy of reordering"


def _high(panel: str, part: Part, what: str, name: str, where: str) -> Measured:
    of = part[name]
    worst = min(of, key=lambda x: of[x].mean)
    return row(
        f"{what}, {name_of(name)}, {where.format(worst)} (the smallest), {panel}",
        of[worst],
        "%",
        ">= 50 % everywhere (high)",
        rules.worst(rules.at_least(v, 50.0) for v in of.values()),
    )


def _none(panel: str, part: Part, what: str, name: str, where: str) -> Measured:
    of = part[name]
    most = max(of, key=lambda x: of[x].mean)
    return row(
        f"{what}, {name_of(name)}, {where.format(most)} (the largest), {panel}",
        of[most],
        "%",
        "0 % everywhere (none)",
        rules.worst(rules.at_most(v, 0.0) for v in of.values()),
    )


def _n17(panel: str, part: Part) -> list[Measured]:
    return [
        *(_high(panel, part, _ARL, n, _LOSS_AT) for n in ("nce", "cerl", "veno")),
        *(_none(panel, part, _ARL, n, _LOSS_AT) for n in ("rr", "pr", "door")),
    ]


N17: Final = claim(
    _WhereAny(
        scenario="tcp-nce/fig24",
        axis=LOSS,
        places={Scale.QUICK: ("0.01", "0.05"), Scale.DEFAULT: ("0.01", "0.03", "0.05")},
        seconds=SECONDS,
        metric="accuracy_random",
        what=_ARL,
        unit="%",
        where=_LOSS_AT,
        xlabel="Random loss (%)",
        clauses=_n17,
        recoveries=SEVEN,
    ),
    id="N17-fig24",
    figure="Figure 24",
    title="Accuracy of random losses",
    statement=(
        "NCE, CERL and Veno tell random losses (ARL) with high accuracy at 1 to 5 % loss; RR-TCP, "
        "TCP-PR and DOOR do not tell them at all."
    ),
    expected="NCE, CERL, Veno >= 50 %; RR-TCP, TCP-PR, DOOR 0 %",
    assumptions=(
        LENGTHS,
        DENOMINATORS,
        "`high` is taken for at least half of all random losses",
        "three connections, 12 Mbps, 50 ms, 1 % reordering",
    ),
)


def _n18(panel: str, part: Part) -> list[Measured]:
    tellers = ("pr", "rr", "door")
    return [
        highest(panel, part, _APR, "nce", tellers, _REORDER_AT),
        *(lowest(panel, part, _APR, n, ("nce", *tellers), _REORDER_AT) for n in ("cerl", "veno")),
    ]


N18: Final = claim(
    _WhereAny(
        scenario="tcp-nce/fig25",
        axis=REORDER,
        places={Scale.QUICK: ("0.01", "0.05"), Scale.DEFAULT: ("0.01", "0.03", "0.05")},
        seconds=SECONDS,
        metric="accuracy_reordering",
        what=_APR,
        unit="%",
        where=_REORDER_AT,
        xlabel="Reordering (%)",
        clauses=_n18,
        recoveries=SEVEN,
    ),
    id="N18-fig25",
    figure="Figure 25",
    title="Accuracy of reordering",
    statement=(
        "NCE tells reordering (APR) best, then TCP-PR, RR-TCP and DOOR; CERL and Veno are worst."
    ),
    expected="NCE above TCP-PR, RR-TCP, DOOR; CERL and Veno below all of them",
    assumptions=(
        LENGTHS,
        DENOMINATORS,
        "three connections, 12 Mbps, 50 ms, 1 % loss",
        "most late segments are overtaken by one or two others and judged by nobody",
    ),
)

# N19.

_FLIPPED: Final = "tcp-nce/fig26"
_THREE: Final = ("nce", "cerl", "pr")


def _needs_n19(scale: Scale) -> tuple[Need, ...]:
    length = SECONDS.get(scale)
    return (Need(_FLIPPED, (f"--duration={length:g}s",) if length else (), numbers(scale)),)


def _by_accuracy(results: Results) -> dict[str, dict[str, dict[float, list[Run]]]]:
    """Runs by panel, recovery, and the accuracy that was given in percent."""
    found: dict[str, dict[str, dict[float, list[Run]]]] = {p: {} for p in PANELS}
    for run in by_number(runs_of(results, _FLIPPED)):
        flip = options_of(run).get("verdict_flip")
        if flip is None:
            raise NotApplicable("a run judges by itself")
        of = found[panel_of(run)].setdefault(recovery_of(run), {})
        of.setdefault(round(100.0 * (1.0 - float(flip)), 6), []).append(run)
    return {
        p: {k: dict(sorted(of[k].items())) for k in _THREE if k in of}
        for p, of in found.items()
        if of
    }


def _measured(groups: Mapping[str, Mapping[float, list[Run]]]) -> dict[str, dict[float, Estimate]]:
    return {
        k: {x: mean(runs, "acked_throughput") for x, runs in of.items()} for k, of in groups.items()
    }


@measured_or_not
def _judge_n19(results: Results, scale: Scale) -> Judgement:
    del scale
    rows: list[Measured] = []
    where = "accuracy {:g} %"
    groups = _by_accuracy(results)
    for panel, of in groups.items():
        part = _measured(of)
        for name in _THREE:
            first, last = min(part[name]), max(part[name])
            rows.append(
                row(
                    f"throughput, {name_of(name)}, accuracy {last:g} % / {first:g} %, {panel}",
                    ratio(part[name][last], part[name][first]),
                    "1",
                    "> 1",
                    rules.more_than_one(ratio(part[name][last], part[name][first])),
                )
            )
        rows.append(highest(panel, part, "throughput", "nce", ("cerl", "pr"), where))
    for panel, of in groups.items():
        rows += [
            row(f"throughput, {name_of(k)}, {where.format(x)}, {panel}", v, "Mbps")
            for k, values in _measured(of).items()
            for x, v in values.items()
        ]
    return judgement(rows)


def _draw_n19(results: Results) -> Drawn:
    groups = _by_accuracy(results)
    if not groups:
        return ()
    panels = [figures.Panel(panel, points(_measured(of))) for panel, of in groups.items()]
    runs = runs_of(results, _FLIPPED)
    label = "Throughput (Mbps)"
    drawn: list[tuple[str, Any]] = [
        (
            "Throughput by the accuracy of verdicts that are the truth, turned round at random.",
            figures.curves(panels, "Accuracy that was given (%)", label, runs),
        )
    ]
    drawn.append(("All runs by the accuracy that came of it.", _scatter(groups, runs)))
    return drawn


def _scatter(
    groups: Mapping[str, Mapping[str, Mapping[float, list[Run]]]], runs: list[Run]
) -> figures.Figure:
    panels = []
    for panel, of in groups.items():
        dots = []
        for name, by_x in of.items():
            each = [run for some in by_x.values() for run in some]
            values = [mean([run], "acked_throughput") for run in each]
            x = [mean([run], "accuracy_all").mean for run in each]
            dots.append(figures.Points(name_of(name), palette.recovery(name), values, x, True))
        panels.append(figures.Panel(panel, dots))
    return figures.curves(panels, "Accuracy that came of it (%)", "Throughput (Mbps)", runs)


N19: Final = Claim(
    id="N19-fig26",
    paper=PAPER,
    figure="Figure 26",
    title="Throughput by accuracy",
    statement=(
        "Throughput grows with the accuracy of the verdicts; NCE's is above CERL's and TCP-PR's at "
        "equal accuracy."
    ),
    expected="more at 100 % than at 50 % with each; NCE highest at every accuracy",
    assumptions=(
        *ASSUMPTIONS,
        "how the accuracy was varied is not stated: here the truth about each missing segment is "
        "told and turned round with probability 1 - a, for NCE, CERL and TCP-PR alike",
        "five connections, 12 Mbps, 50 ms, 3 % loss, 1 % reordering",
        LENGTHS,
    ),
    needs=_needs_n19,
    judge=_judge_n19,
    draw=_draw_n19,
)
