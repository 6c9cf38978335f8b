"""N11 to N13, N20, N21: throughput and fairness of several connections (Figures 20, 21a, 28)."""

from __future__ import annotations

from typing import Any, Final

from ..model import Measured, Scale
from .claim import claim
from .clauses import Part, gain, highest, trend
from .common import ABOVE, BUFFER, COUNT, LOSS, RATE, RIVALS, SEVEN, Clauses, Sweep

WHAT: Final = "throughput"
ACKED: Final = "acked_throughput"
SECONDS: Final = {Scale.QUICK: 15.0, Scale.DEFAULT: 20.0}
LENGTHS: Final = (
    "runs of 20 s instead of 300 s but for `--full`: 100 round trips and more, and several "
    "connections in each"
)
_COUNT_AT: Final = "{:g} connections"
_RATE_AT: Final = "{:g} Mbps"
_BUFFER_AT: Final = "{:g} kB"
_LOSS_AT: Final = "{:g} % loss"


def _sweep(clauses: Clauses, **fields: Any) -> Sweep:
    given: dict[str, Any] = {
        "seconds": SECONDS,
        "metric": ACKED,
        "what": WHAT,
        "unit": "Mbps",
        "clauses": clauses,
    }
    return Sweep(**(given | fields))


_CONNECTIONS: Final[dict[str, Any]] = {
    "scenario": "tcp-nce/fig20a",
    "axis": COUNT,
    "places": {Scale.QUICK: ("1", "6"), Scale.DEFAULT: ("1", "6", "20")},
    "where": _COUNT_AT,
    "xlabel": "Connections",
}


def _n11(panel: str, part: Part) -> list[Measured]:
    return [
        trend(panel, part, WHAT, SEVEN, _COUNT_AT, up=False),
        *(gain(panel, part, "nce", "cerl", x, 70.0, _COUNT_AT) for x in part["nce"]),
        *(gain(panel, part, "nce", "newreno", x, 100.0, _COUNT_AT) for x in part["nce"]),
    ]


N11: Final = claim(
    _sweep(_n11, **_CONNECTIONS),
    id="N11-fig20a",
    figure="Figure 20a",
    title="Throughput by the number of connections, dumbbell",
    statement=(
        "With 3 % loss and 3 % reordering at 24 Mbps and 50 ms every TCP's throughput falls as "
        "connections grow from 1 to 20; NCE is more than 70 % above CERL and more than 100 % above "
        "NewReno."
    ),
    expected="all fall; NCE > 70 % above CERL, > 100 % above NewReno, at every number",
    assumptions=(ABOVE, LENGTHS),
)


def _n21(panel: str, part: Part) -> list[Measured]:
    rivals = ("newreno", "pr", "rr", "veno", "door")
    return [gain(panel, part, "nce", r, x, 95.0, _COUNT_AT) for r in rivals for x in part["nce"]]


N21: Final = claim(
    _sweep(_n21, **_CONNECTIONS),
    id="N21-abstract",
    figure="Abstract",
    title="What the abstract promises",
    statement=(
        "NCE has more than 95 % more throughput than NewReno, TCP-PR, RR-TCP, Veno and DOOR where "
        "congestion, loss and reordering coexist."
    ),
    expected="> 95 % above each of the five, in the conditions of N11",
    assumptions=(ABOVE, LENGTHS, "the abstract names no conditions: those of Figure 20a"),
)


def _n12(panel: str, part: Part) -> list[Measured]:
    return [highest(panel, part, WHAT, "nce", RIVALS, _BUFFER_AT)]


N12: Final = claim(
    _sweep(
        _n12,
        scenario="tcp-nce/fig20b",
        axis=BUFFER,
        places={Scale.QUICK: ("40 kB", "80 kB"), Scale.DEFAULT: ("40 kB", "60 kB", "80 kB")},
        where=_BUFFER_AT,
        xlabel="Queue of the bottleneck (kB)",
    ),
    id="N12-fig20b",
    figure="Figure 20b",
    title="Throughput by the bottleneck's queue, dumbbell",
    statement="NCE has the highest throughput with every queue from 40 to 80 kB.",
    expected="NCE highest everywhere",
    assumptions=(
        LENGTHS,
        "rate, delay, loss and connections are not stated: 12 Mbps, 50 ms, 3 % and 3 %, 5",
    ),
)


def _n13(panel: str, part: Part) -> list[Measured]:
    return [
        trend(panel, part, WHAT, SEVEN, _RATE_AT, up=True),
        highest(panel, part, WHAT, "nce", RIVALS, _RATE_AT),
    ]


N13: Final = claim(
    _sweep(
        _n13,
        scenario="tcp-nce/fig21a",
        axis=RATE,
        places={
            Scale.QUICK: ("12 Mbps", "36 Mbps"),
            Scale.DEFAULT: ("12 Mbps", "24 Mbps", "36 Mbps"),
        },
        where=_RATE_AT,
        xlabel="Rate of the bottleneck (Mbps)",
    ),
    id="N13-fig21a",
    figure="Figure 21a",
    title="Throughput by bandwidth, dumbbell",
    statement=(
        "Five connections with 2 % loss, 1 % reordering and 80 ms: every TCP's throughput grows "
        "with the bandwidth from 12 to 36 Mbps, and NCE's is somewhat above."
    ),
    expected="all grow; NCE highest",
    assumptions=(LENGTHS,),
)

_JAIN: Final = "Jain's index"


def _n20(panel: str, part: Part) -> list[Measured]:
    return [highest(panel, part, _JAIN, "nce", RIVALS, _LOSS_AT)]


N20: Final = claim(
    _sweep(
        _n20,
        scenario="tcp-nce/fig28",
        axis=LOSS,
        places={Scale.QUICK: ("0.01", "0.05"), Scale.DEFAULT: ("0.01", "0.03", "0.05")},
        seconds={Scale.QUICK: 20.0, Scale.DEFAULT: 40.0},
        metric="jain",
        what=_JAIN,
        unit="1",
        where=_LOSS_AT,
        xlabel="Random loss (%)",
        from_zero=False,
    ),
    id="N20-fig28",
    figure="Figure 28",
    title="Fairness over two bottlenecks",
    statement=(
        "Of ten connections at 9 Mbps and 80 ms, Jain's index is highest with NCE at every loss "
        "from 1 to 5 %."
    ),
    expected="NCE's index highest everywhere",
    assumptions=("runs of 40 s (300 s in --full)", "Jain's index of the goodputs"),
)
