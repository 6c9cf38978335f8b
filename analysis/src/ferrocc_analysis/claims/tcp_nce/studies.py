"""Studies beside the NCE paper's claims, A17 to A20."""

from __future__ import annotations

from typing import Final

from ... import palette
from ...runs import Run
from ..comparison import Comparison, Quantity, Variant, as_study
from ..model import Scale, Study
from .common import ASSUMPTIONS, PAPER, SEVEN, options_of, panel_of, recovery_of


def _five(scale: Scale) -> tuple[int, ...]:
    del scale
    return tuple(range(1, 6))


_THROUGHPUT: Final = Quantity("acked_throughput", "throughput of a connection", "Mbps")
_CUTS: Final = Quantity("unnecessary_cuts", "unnecessary cuts", "1/min")
_NEEDLESS: Final = Quantity(
    "unnecessary_retransmission_rate", "unnecessary retransmissions / packets sent", "%"
)
_TIMEOUTS: Final = Quantity("timeout_rate", "timeouts", "1/min")
_APART: Final = Quantity("accuracy_non_congestion", "accuracy of non-congestion events", "%")
_PANELS: Final = ("32 packets", "no cap")


def _options(field: str, labels: tuple[tuple[object, str], ...]) -> tuple[Variant, ...]:
    """A variant of NCE for each (value, label) of one of its parameters."""

    def of(number: int, value: object, label: str) -> Variant:
        def chosen(run: Run) -> bool:
            return recovery_of(run) == "nce" and options_of(run).get(field) == value

        return Variant(label, palette.variant(palette.recovery("nce"), number), chosen, number)

    return tuple(of(i, value, label) for i, (value, label) in enumerate(labels))


def _recoveries(names: tuple[str, ...]) -> tuple[Variant, ...]:
    def of(name: str) -> Variant:
        look = palette.recovery(name)
        return Variant(look.name, look, lambda run: recovery_of(run) == name)

    return tuple(of(name) for name in names)


A17: Final = as_study(
    Comparison(
        "tcp-nce/exit",
        _options("exit", (("keep", "keep"), ("capped", "capped"), ("deflate", "deflate"))),
        (_THROUGHPUT, _TIMEOUTS, _CUTS, _NEEDLESS),
        _five,
        "NCE by the window after an event that was no congestion.",
        group=panel_of,
        groups=_PANELS,
    ),
    id="A17-exit",
    paper=PAPER,
    title="NCE's window after an event that was no congestion",
    statement=(
        "The paper's text leaves the window grown by a packet for each duplicate ACK (keep). It is "
        "compared with a growth up to the threshold only (capped) and with none (deflate)."
    ),
    expected="keep is fastest where nothing congests, and causes drops where something does",
    assumptions=(*ASSUMPTIONS[:2], "five connections on the dumbbell, 12 Mbps, 50 ms, 3 % and 1 %"),
)

A18: Final = as_study(
    Comparison(
        "tcp-nce/threshold",
        _options("threshold", (("oracle", "oracle"), ("estimated", "estimated"))),
        (_THROUGHPUT, _APART, _CUTS),
        _five,
        "NCE by how it knows the queue's limit.",
        group=panel_of,
        groups=_PANELS,
    ),
    id="A18-threshold",
    paper=PAPER,
    title="NCE told the queue's limit, or estimating it",
    statement=(
        "The paper does not say how a sender knows the bottleneck's rate and buffer. Told both, "
        "NCE is compared with NCE that takes the longest queueing delay so far for the full queue."
    ),
    expected="estimated, more random losses are taken for congestion",
    assumptions=(*ASSUMPTIONS[:2], "five connections on the dumbbell, 12 Mbps, 50 ms, 3 % and 1 %"),
)

A19: Final = as_study(
    Comparison(
        "tcp-nce/hop-delay",
        _recoveries((*SEVEN, "no-cut")),
        (_THROUGHPUT, _TIMEOUTS),
        _five,
        "Throughput over six hops whose delays make up the one printed.",
        group=panel_of,
        groups=_PANELS,
    ),
    id="A19-readings",
    paper=PAPER,
    title="Other readings of the six hops",
    statement=(
        "Figure 17a's delay of 50 ms is taken for that of the whole path, a sixth for each hop, "
        "where the claims take it for that of each hop."
    ),
    expected="the same order of the TCPs, at higher throughputs",
    assumptions=(*ASSUMPTIONS[:2], "12 Mbps, 3 % loss, 1 % reordering end to end"),
)

A20: Final = as_study(
    Comparison(
        "tcp-nce/newjersey",
        _recoveries(("newreno", "newjersey", "nce", "no-cut")),
        (_THROUGHPUT, _TIMEOUTS, _CUTS),
        _five,
        "New Jersey beside NewReno, NCE and the control.",
        group=panel_of,
        groups=_PANELS,
    ),
    id="A20-newjersey",
    paper=PAPER,
    title="TCP New Jersey",
    statement=(
        "The paper describes TCP New Jersey and has no figure with it; here it runs beside, with "
        "routers that warn of congestion."
    ),
    expected="it keeps its window at random losses, as NCE does",
    assumptions=(*ASSUMPTIONS[:2], "five connections on the dumbbell, 12 Mbps, 50 ms, 3 % and 1 %"),
)

STUDIES: Final[tuple[Study, ...]] = (A17, A18, A19, A20)
