"""N2 to N4, N6 to N9: throughput of one connection over wireless paths (Figures 14, 15, 17, 18)."""

from __future__ import annotations

import itertools
from typing import Final

from .. import rules
from ..clauses import row
from ..model import Measured, Scale
from .claim import claim
from .clauses import Part, gain, highest, similar, trend
from .common import (
    ABOVE,
    DELAY,
    LOSS,
    MULTIHOP,
    RATE,
    REORDER,
    RIVALS,
    SEVEN,
    Sweep,
    name_of,
)

WHAT: Final = "throughput"
ACKED: Final = "acked_throughput"
SHORT: Final = {Scale.QUICK: 20.0, Scale.DEFAULT: 40.0}
#: With round trips of 0.3 s and more a run has to be longer.
LONGER: Final = {Scale.QUICK: 30.0, Scale.DEFAULT: 60.0}
LENGTHS: Final = (
    "runs are shorter than the paper's 300 s but for `--full`: 40 s, 60 s where round trips are "
    "longer than 0.2 s, which is 100 round trips at least"
)
_LOSS_AT: Final = "{:g} % loss"
_DELAY_AT: Final = "{:g} ms"
_RATE_AT: Final = "{:g} Mbps"
_REORDER_AT: Final = "{:g} % reordering"


def _n2(panel: str, part: Part) -> list[Measured]:
    low = [x for x in part["nce"] if x <= 3]
    high = [x for x in part["nce"] if x > 3]
    rest = ("newreno", "veno", "rr", "pr", "door")
    others = tuple(n for n in SEVEN if n != "newreno")
    return [
        similar(panel, part, WHAT, others, "newreno", _LOSS_AT, low),
        highest(panel, part, WHAT, "nce", rest, _LOSS_AT, high),
        highest(panel, part, WHAT, "cerl", rest, _LOSS_AT, high),
        gain(panel, part, "nce", "cerl", 7.0, 85.0, _LOSS_AT),
        gain(panel, part, "nce", "cerl", 10.0, 50.0, _LOSS_AT),
        gain(panel, part, "nce", "newreno", 10.0, 85.0, _LOSS_AT),
        similar(panel, part, WHAT, ("door",), "newreno", _LOSS_AT, share=0.05),
        similar(panel, part, WHAT, ("rr",), "pr", _LOSS_AT),
    ]


N2: Final = claim(
    Sweep(
        scenario="tcp-nce/fig14a",
        axis=LOSS,
        places={
            Scale.QUICK: ("0.02", "0.07", "0.1"),
            Scale.DEFAULT: ("0.01", "0.03", "0.05", "0.07", "0.1"),
        },
        seconds=SHORT,
        metric=ACKED,
        what=WHAT,
        unit="Mbps",
        where=_LOSS_AT,
        xlabel="Random loss (%)",
        clauses=_n2,
    ),
    id="N2-fig14a",
    figure="Figure 14a",
    title="Throughput by random loss, infrastructure",
    statement=(
        "Up to 3 % loss all TCPs have about the same throughput; above, CERL and NCE have more "
        "than the rest. At 7 % NCE is 85 % above CERL, at 10 % 50 % above CERL and 85 % above "
        "NewReno. DOOR is as NewReno, RR-TCP about as TCP-PR."
    ),
    expected="similar to 3 %, CERL and NCE above the rest beyond, with the percentages named",
    assumptions=(ABOVE, LENGTHS, "DOOR is as NewReno where they differ by less than 5 %"),
)


def _n3(panel: str, part: Part) -> list[Measured]:
    return [
        gain(panel, part, "nce", "newreno", 150.0, 90.0, _DELAY_AT),
        gain(panel, part, "nce", "cerl", 150.0, 81.0, _DELAY_AT),
        highest(panel, part, WHAT, "nce", RIVALS, _DELAY_AT),
    ]


N3: Final = claim(
    Sweep(
        scenario="tcp-nce/fig14b",
        axis=DELAY,
        places={Scale.QUICK: ("50 ms", "150 ms"), Scale.DEFAULT: ("50 ms", "100 ms", "150 ms")},
        seconds=LONGER,
        metric=ACKED,
        what=WHAT,
        unit="Mbps",
        where=_DELAY_AT,
        xlabel="Delay of the wireless link (ms)",
        clauses=_n3,
    ),
    id="N3-fig14b",
    figure="Figure 14b",
    title="Throughput by delay, infrastructure",
    statement=(
        "With 2 % loss NCE has the highest throughput at every delay; at 150 ms it is 90 % above "
        "NewReno and 81 % above CERL."
    ),
    expected="highest everywhere; at 150 ms >= 90 % above NewReno, >= 81 % above CERL",
    assumptions=(ABOVE, LENGTHS),
)


def _gap(panel: str, part: Part) -> Measured:
    """That NCE's lead beyond 12 Mbps is larger than up to there."""
    best = {x: max(part[r][x].mean for r in RIVALS) for x in part["nce"]}
    lead = {x: v.mean / best[x] if best[x] else 0.0 for x, v in part["nce"].items()}
    before = max(v for x, v in lead.items() if x <= 12)
    after = min(v for x, v in lead.items() if x > 12)
    return row(
        f"NCE / best rival, smallest beyond 12 Mbps / largest up to there, {panel}",
        after / before if before else 0.0,
        "1",
        "> 1",
        rules.holds(after > before),
        n=next(iter(part["nce"].values())).n,
    )


def _n4(panel: str, part: Part) -> list[Measured]:
    return [
        trend(panel, part, WHAT, SEVEN, _RATE_AT, up=True),
        highest(panel, part, WHAT, "nce", RIVALS, _RATE_AT),
        _gap(panel, part),
    ]


N4: Final = claim(
    Sweep(
        scenario="tcp-nce/fig15",
        axis=RATE,
        places={
            Scale.QUICK: ("6 Mbps", "12 Mbps", "24 Mbps"),
            Scale.DEFAULT: ("6 Mbps", "12 Mbps", "24 Mbps"),
        },
        seconds=SHORT,
        metric=ACKED,
        what=WHAT,
        unit="Mbps",
        where=_RATE_AT,
        xlabel="Rate of the wireless link (Mbps)",
        clauses=_n4,
    ),
    id="N4-fig15",
    figure="Figure 15",
    title="Throughput by bandwidth, infrastructure",
    statement=(
        "With 3 % loss and 50 ms every TCP's throughput grows with the bandwidth; NCE's is "
        "highest, and its lead opens above 12 Mbps."
    ),
    expected="all grow; NCE highest; a larger lead above 12 Mbps",
    assumptions=(LENGTHS, "the bandwidths of the sweep are our choice: 6 to 24 Mbps"),
)


def _n6(panel: str, part: Part) -> list[Measured]:
    others = ("newreno", "veno", "rr", "pr", "door")
    return [
        gain(panel, part, "nce", "pr", 5.0, 92.0, _LOSS_AT),
        gain(panel, part, "nce", "cerl", 5.0, 85.0, _LOSS_AT),
        highest(panel, part, WHAT, "nce", others, _LOSS_AT),
        highest(panel, part, WHAT, "cerl", others, _LOSS_AT),
        *(_fluctuates(panel, part, name) for name in ("rr", "pr")),
    ]


def _fluctuates(panel: str, part: Part, name: str) -> Measured:
    """That a curve is not monotonic."""
    means = [v.mean for v in part[name].values()]
    steps = [b - a for a, b in itertools.pairwise(means)]
    turns = sum(a * b < 0 for a, b in itertools.pairwise(steps))
    return row(
        f"changes of direction of the curve, {name_of(name)}, {panel}",
        turns,
        "1",
        ">= 1 (fluctuates)",
        rules.holds(turns >= 1),
        n=next(iter(part[name].values())).n,
    )


N6: Final = claim(
    Sweep(
        scenario="tcp-nce/fig17a",
        axis=LOSS,
        places={Scale.QUICK: ("0.01", "0.03", "0.05"), Scale.DEFAULT: ("0.01", "0.03", "0.05")},
        seconds=LONGER,
        metric=ACKED,
        what=WHAT,
        unit="Mbps",
        where=_LOSS_AT,
        xlabel="Random loss (%)",
        clauses=_n6,
    ),
    id="N6-fig17a",
    figure="Figure 17a",
    title="Throughput by random loss, multi-hop",
    statement=(
        "Over six hops of 12 Mbps and 50 ms with 1 % reordering NCE and CERL lead; at 5 % loss NCE "
        "is 92 % above TCP-PR and 85 % above CERL. RR-TCP's and TCP-PR's throughput fluctuates."
    ),
    expected="NCE and CERL above the rest; at 5 % >= 92 % above TCP-PR, >= 85 % above CERL",
    assumptions=(ABOVE, LENGTHS, MULTIHOP),
)


def _n7(panel: str, part: Part) -> list[Measured]:
    return [
        trend(panel, part, WHAT, SEVEN, _DELAY_AT, up=False),
        highest(panel, part, WHAT, "rr", ("cerl",), _DELAY_AT),
        highest(panel, part, WHAT, "pr", ("cerl",), _DELAY_AT),
        highest(panel, part, WHAT, "nce", RIVALS, _DELAY_AT),
    ]


N7: Final = claim(
    Sweep(
        scenario="tcp-nce/fig17b",
        axis=DELAY,
        places={Scale.QUICK: ("50 ms", "170 ms"), Scale.DEFAULT: ("50 ms", "110 ms", "170 ms")},
        seconds={Scale.QUICK: 60.0, Scale.DEFAULT: 120.0},
        metric=ACKED,
        what=WHAT,
        unit="Mbps",
        where=_DELAY_AT,
        xlabel="Delay of each hop (ms)",
        clauses=_n7,
    ),
    id="N7-fig17b",
    figure="Figure 17b",
    title="Throughput by delay, multi-hop",
    statement=(
        "At 9 Mbps with 2 % loss and 4 % reordering throughput falls as the delay grows; RR-TCP "
        "and TCP-PR are above CERL, NCE is highest."
    ),
    expected="falls with the delay; RR-TCP and TCP-PR above CERL; NCE highest",
    assumptions=("runs of 120 s, 60 round trips at the longest delay (300 s in --full)", MULTIHOP),
)


def _n8(panel: str, part: Part) -> list[Measured]:
    most = max(part["nce"])
    slow = ("cerl", "pr", "newreno", "door", "veno")
    fastest = max(slow, key=lambda n: part[n][most].mean)
    return [
        row(
            f"{WHAT}, NCE, {most:g} Mbps / rate, {panel}",
            part["nce"][most].scaled(1.0 / most),
            "1",
            ">= 0.75 (follows the bandwidth)",
            rules.at_least(part["nce"][most].scaled(1.0 / most), 0.75),
        ),
        trend(panel, part, WHAT, ("nce",), _RATE_AT, up=True),
        row(
            f"{WHAT}, {name_of(fastest)} (the fastest of five), {most:g} Mbps, {panel}",
            part[fastest][most],
            "Mbps",
            "< 30 Mbps",
            rules.at_most(part[fastest][most], 30.0),
        ),
        highest(panel, part, WHAT, "nce", RIVALS, _RATE_AT),
    ]


N8: Final = claim(
    Sweep(
        scenario="tcp-nce/fig18a",
        axis=RATE,
        places={Scale.QUICK: ("9 Mbps", "36 Mbps"), Scale.DEFAULT: ("9 Mbps", "36 Mbps")},
        seconds=LONGER,
        metric=ACKED,
        what=WHAT,
        unit="Mbps",
        where=_RATE_AT,
        xlabel="Rate of each hop (Mbps)",
        clauses=_n8,
    ),
    id="N8-fig18a",
    figure="Figure 18a",
    title="Throughput by bandwidth, multi-hop",
    statement=(
        "With 5 % loss and 3 % reordering NCE's throughput follows the bandwidth from 9 to 36 "
        "Mbps; at 36 Mbps CERL, TCP-PR, NewReno, DOOR and Veno have less than 30 Mbps."
    ),
    expected="NCE >= 75 % of 36 Mbps and growing; the five named below 30 Mbps",
    assumptions=(
        LENGTHS,
        MULTIHOP,
        "the delay of a hop is not stated: 10 ms, the base scenario's",
        "without SACK one hole is repaired per round trip, which bounds what 5 % loss lets through",
    ),
)


def _n9(panel: str, part: Part) -> list[Measured]:
    last = max(part["nce"])
    return [
        *(
            highest(panel, part, WHAT, n, ("veno", "cerl", "newreno"), _REORDER_AT, (last,))
            for n in ("rr", "pr", "door")
        ),
        highest(panel, part, WHAT, "nce", RIVALS, _REORDER_AT),
    ]


N9: Final = claim(
    Sweep(
        scenario="tcp-nce/fig18b",
        axis=REORDER,
        places={Scale.QUICK: ("0.01", "0.05"), Scale.DEFAULT: ("0.01", "0.03", "0.05")},
        seconds=LONGER,
        metric=ACKED,
        what=WHAT,
        unit="Mbps",
        where=_REORDER_AT,
        xlabel="Reordering (%)",
        clauses=_n9,
    ),
    id="N9-fig18b",
    figure="Figure 18b",
    title="Throughput by reordering, multi-hop",
    statement=(
        "As reordering grows from 1 to 5 %, RR-TCP, TCP-PR and DOOR come to be better than Veno, "
        "CERL and NewReno; NCE has the highest throughput."
    ),
    expected="at 5 % RR-TCP, TCP-PR, DOOR above Veno, CERL, NewReno; NCE highest everywhere",
    assumptions=(
        LENGTHS,
        MULTIHOP,
        "rate, delay and loss are not stated: 12 Mbps and 50 ms as in Figure 17a, 1 % loss",
    ),
)
