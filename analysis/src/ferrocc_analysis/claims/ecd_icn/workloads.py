"""E6 to E9: NDCs of a catalogue through caching routers (Figures 12 to 15)."""

from __future__ import annotations

from typing import Final

from ... import figures
from ...runs import Run
from ...stats import ratio
from .. import rules
from ..clauses import judgement, measured_or_not, row, runs_of
from ..model import Claim, Drawn, Judgement, Measured, Need, Results, Scale
from .clauses import ordered, similar
from .common import (
    AQM,
    ASSUMPTIONS,
    BESIDE,
    COUNT,
    EARLY,
    FOUR,
    JITTER,
    NAMES,
    PAPER,
    RIVALS,
    Table,
    grouped,
    listed,
    measured,
    name_of,
    numbers,
    place,
    points,
    with_literal,
)

FEW: Final = "ecd-icn/fig12"
MANY: Final = "ecd-icn/fig12-many"
ALPHAS: Final = "ecd-icn/fig13"
_ALPHA: Final = "workload.alpha"
_CLIENTS: Final = "{:g} clients"
_SKEW: Final = "alpha {:g}"
#: Numbers of clients at which Drop Tail is comparable.
_COMPARABLE: Final = (1.0, 3.0)
#: Content is real, and checked.
_VERIFY: Final = "--verify"

#: NDCs that each client is measured over; at the full scale those of the scenario.
_MEASURED: Final = {
    FEW: {Scale.QUICK: 6, Scale.DEFAULT: 20},
    MANY: {Scale.QUICK: 2, Scale.DEFAULT: 4},
    ALPHAS: {Scale.QUICK: 6, Scale.DEFAULT: 20},
}


def _options(scenario: str, scale: Scale) -> tuple[str, ...]:
    count = _MEASURED[scenario].get(scale)
    if count is None:
        return ()
    given = (f"--set=workload.measured={count}", "--set=workload.warmup_mode=replay")
    verified = scale is Scale.QUICK and scenario in (FEW, MANY)
    return (*given, _VERIFY) if verified else given


def _numbers(scale: Scale) -> tuple[int, ...]:
    """Ten runs as the paper, but for quick ones."""
    return numbers(scale if scale is Scale.QUICK else Scale.FULL)


def needs_by_count(scale: Scale) -> tuple[Need, ...]:
    """Few clients and many."""
    few = {Scale.QUICK: ("1", "3"), Scale.DEFAULT: ("1", "3", "9")}.get(scale)
    many = {Scale.QUICK: ("20",), Scale.DEFAULT: ("20", "50")}.get(scale)
    found: tuple[Need, ...] = ()
    for scenario, counts in ((FEW, few), (MANY, many)):
        axes = {AQM: FOUR} | ({COUNT: counts} if counts else {})
        found += with_literal(scenario, _options(scenario, scale), _numbers(scale), axes)
    return found


def needs_by_alpha(scale: Scale) -> tuple[Need, ...]:
    """Three clients with even and uneven requests."""
    alphas = {Scale.QUICK: ("0.6", "1.3"), Scale.DEFAULT: ("0.6", "0.8", "1.0", "1.3")}.get(scale)
    axes = {AQM: FOUR} | ({_ALPHA: alphas} if alphas else {})
    return with_literal(ALPHAS, _options(ALPHAS, scale), _numbers(scale), axes)


def _by_count(results: Results, metric: str, factor: float = 1.0) -> Table:
    runs = [*runs_of(results, FEW), *runs_of(results, MANY)]
    return measured(grouped(runs, COUNT), metric, factor)


def _by_alpha(results: Results, metric: str, factor: float = 1.0) -> Table:
    return measured(grouped(runs_of(results, ALPHAS), _ALPHA), metric, factor)


def _failed(runs: list[Run]) -> list[Measured]:
    """The row that says that everything arrived, and where content was real that it was right."""
    failed = sum(float(r.summary["workload"]["failed"]) for r in runs)
    wrong = sum(f.summary["verified"] is False for r in runs for f in r.flows)
    checked = sum(f.summary["verified"] is True for r in runs for f in r.flows)
    note = f"content was checked for {checked} clients" if checked else "content was not real"
    return [
        row(
            "NDCs that did not arrive, and clients with wrong content",
            failed + wrong,
            "1",
            note=note,
            n=len(runs),
        )
    ]


def _paired(table: Table, what: str, where: str) -> list[Measured]:
    """Rows with ECD's number in units of each rival's, run by run: equal runs have equal
    requests.
    """
    return [
        row(
            f"{what}, ECD / {name_of(rival)}, {place(where, x)}",
            ratio(table["ecd"][x], table[rival][x]),
            "1",
        )
        for rival in RIVALS
        for x in table["ecd"]
    ]


_REDUCED: Final = (
    "at the default scale each client is measured over 20 NDCs (4 with 20 clients and more), at "
    "the quick one over 6 (2); only the full scale has the paper's 100 and 20; ten runs but for "
    "the quick scale",
    "the 400 NDCs of the warm-up are replayed against the caches without packets, but for the full "
    "scale; study A16 compares both",
)
_COMMON: Final = (
    *ASSUMPTIONS,
    JITTER,
    BESIDE,
    *_REDUCED,
    "caches evict what was used longest ago; a client asks R1, which resolves the NDC and sends "
    "the request to the nearest copy",
    "runs with the same number have the same requests under every queue management",
)


# E6 and E7.


@measured_or_not
def _judge_e6(results: Results, scale: Scale) -> Judgement:
    del scale
    times = _by_count(results, "workload_fct")
    rows = [
        ordered("mean FCT", times, "ecd", EARLY, _CLIENTS),
        *(
            similar(
                f"mean FCT, {place(_CLIENTS, x)}",
                times["drop-tail"][x],
                times["ecd"][x],
                ("drop-tail", "ecd"),
            )
            for x in times["ecd"]
            if x in _COMPARABLE
        ),
        *listed(times, "mean FCT", "s", _CLIENTS),
        *_paired(times, "mean FCT", _CLIENTS),
        *_failed([*runs_of(results, FEW), *runs_of(results, MANY)]),
    ]
    return judgement(rows)


def _split(table: Table, bound: float = 10.0) -> list[figures.Panel]:
    """Few clients and many in a panel each, as they differ much."""
    panels = []
    for title, keep in (("(a) few clients", False), ("(b) many clients", True)):
        chosen = {
            label: {x: v for x, v in of.items() if (x > bound) is keep}
            for label, of in table.items()
        }
        if all(chosen.values()):
            panels.append(figures.Panel(title, points(chosen), ylabel=" "))
    return panels


def _drawn_by_count(results: Results, metric: str, ylabel: str) -> figures.Figure:
    table = _by_count(results, metric)
    panels = [figures.Panel(p.title, p.points, ylabel=ylabel) for p in _split(table)]
    runs = [*runs_of(results, FEW), *runs_of(results, MANY)]
    return figures.curves(panels, "Clients", "", runs, ticks=list(table["ecd"]))


def _drawn_by_alpha(results: Results, metric: str, ylabel: str) -> figures.Figure:
    table = _by_alpha(results, metric)
    return figures.curves(
        [figures.Panel("", points(table))],
        "Zipf alpha",
        ylabel,
        runs_of(results, ALPHAS),
        ticks=list(table["ecd"]),
    )


def _draw_e6(results: Results) -> Drawn:
    figure = _drawn_by_count(results, "workload_fct", "Mean FCT (s)")
    return [("Mean completion time of an NDC by the number of clients.", figure)]


E6: Final = Claim(
    id="E6-fig12",
    paper=PAPER,
    figure="Figure 12",
    title="Completion times by the number of clients",
    statement=(
        "With caches on all routers, NDCs complete sooner on average with the improved CoDel than "
        "with CoDel and RED, with few clients and with many. With few, Drop Tail is comparable."
    ),
    expected="ECD below CoDel and RED everywhere; Drop Tail about as ECD at 1 and 3 clients",
    assumptions=_COMMON,
    needs=needs_by_count,
    judge=_judge_e6,
    draw=_draw_e6,
)


@measured_or_not
def _judge_e7(results: Results, scale: Scale) -> Judgement:
    del scale
    times = _by_alpha(results, "workload_fct")
    rows = [
        ordered("mean FCT", times, "ecd", EARLY, _SKEW, at="at every alpha"),
        *listed(times, "mean FCT", "s", _SKEW),
        *_paired(times, "mean FCT", _SKEW),
        *_failed(runs_of(results, ALPHAS)),
    ]
    return judgement(rows)


def _draw_e7(results: Results) -> Drawn:
    figure = _drawn_by_alpha(results, "workload_fct", "Mean FCT (s)")
    return [("Mean completion time of an NDC by how uneven the requests are.", figure)]


E7: Final = Claim(
    id="E7-fig13",
    paper=PAPER,
    figure="Figure 13",
    title="Completion times by how uneven the requests are",
    statement=(
        "With three clients NDCs complete sooner on average with the improved CoDel than with "
        "CoDel and RED for every alpha of the requests' Zipf distribution from 0.6 to 1.3."
    ),
    expected="ECD below CoDel and RED at every alpha",
    assumptions=_COMMON,
    needs=needs_by_alpha,
    judge=_judge_e7,
    draw=_draw_e7,
)


# E8 and E9.

_DELAYS: Final = (
    "the download delay, which the paper does not define, is read as the time from the request, "
    "name resolution included, to the NDC's delivery; the mean delay from a REQ to its DATA, the "
    "other reading, is shown beside"
)


@measured_or_not
def _judge_e8(results: Results, scale: Scale) -> Judgement:
    del scale
    delays = _by_count(results, "download_delay")
    packets = _by_count(results, "packet_delay")
    rows = [
        ordered("mean download delay", delays, "ecd", RIVALS, _CLIENTS),
        *listed(delays, "mean download delay", "s", _CLIENTS),
        *_paired(delays, "mean download delay", _CLIENTS),
        *listed(packets, "mean delay from REQ to DATA", "ms", _CLIENTS),
    ]
    return judgement(rows, _other_reading(packets))


def _other_reading(packets: Table) -> str:
    verdict = ordered("delay", packets, "ecd", RIVALS, "").verdict
    return f"'ECD lowest' by the delay from REQ to DATA: {verdict}"


def _draw_e8(results: Results) -> Drawn:
    return [
        (
            "Mean download delay by the number of clients.",
            _drawn_by_count(results, "download_delay", "Mean download delay (s)"),
        ),
        (
            "Mean delay from a REQ to its DATA by the number of clients.",
            _drawn_by_count(results, "packet_delay", "Mean packet delay (ms)"),
        ),
    ]


E8: Final = Claim(
    id="E8-fig14",
    paper=PAPER,
    figure="Figure 14",
    title="Download delay by the number of clients",
    statement=(
        "The improved CoDel has the lowest mean content download delay of all, also with many "
        "clients."
    ),
    expected="ECD below Drop Tail, RED and CoDel everywhere",
    assumptions=(*_COMMON, _DELAYS),
    needs=needs_by_count,
    judge=_judge_e8,
    draw=_draw_e8,
)


@measured_or_not
def _judge_e9(results: Results, scale: Scale) -> Judgement:
    del scale
    delays = _by_alpha(results, "download_delay")
    packets = _by_alpha(results, "packet_delay")
    rows = []
    for label in NAMES:
        of = list(delays[label].values())
        rows.append(
            row(
                f"mean download delay, {name_of(label)}, largest alpha / smallest",
                ratio(of[-1], of[0]),
                "1",
                "< 1, falling from alpha to alpha",
                rules.decreasing(of),
            )
        )
    hits = _by_alpha(results, "workload_hit_ratio", 100.0)
    of_ecd = list(hits["ecd"].values())
    rows += [
        row(
            "hit ratio with ECD, largest alpha / smallest",
            ratio(of_ecd[-1], of_ecd[0]),
            "1",
            "> 1, growing from alpha to alpha",
            rules.increasing(of_ecd),
        ),
        ordered("mean download delay", delays, "ecd", RIVALS, _SKEW, at="at every alpha"),
        *listed(delays, "mean download delay", "s", _SKEW),
        *_paired(delays, "mean download delay", _SKEW),
        *listed(packets, "mean delay from REQ to DATA", "ms", _SKEW),
        *listed(hits, "hit ratio", "%", _SKEW),
    ]
    return judgement(rows, _other_reading(packets))


def _draw_e9(results: Results) -> Drawn:
    panels, runs = [], runs_of(results, ALPHAS)
    for metric, ylabel in (
        ("download_delay", "Mean download delay (s)"),
        ("packet_delay", "Mean packet delay (ms)"),
        ("workload_hit_ratio", "Hit ratio"),
    ):
        table = _by_alpha(results, metric)
        panels.append(figures.Panel("", points(table), ylabel=ylabel))
    figure = figures.curves(panels, "Zipf alpha", "", runs, ticks=list(table["ecd"]))
    return [("Delays and the caches' hit ratio by how uneven the requests are.", figure)]


E9: Final = Claim(
    id="E9-fig15",
    paper=PAPER,
    figure="Figure 15",
    title="Download delay by how uneven the requests are",
    statement=(
        "With three clients the mean download delay falls as alpha grows, since caches serve more "
        "of the requests; the improved CoDel has the lowest throughout."
    ),
    expected="falls with alpha, hit ratio grows; ECD below Drop Tail, RED and CoDel at every alpha",
    assumptions=(*_COMMON, _DELAYS),
    needs=needs_by_alpha,
    judge=_judge_e9,
    draw=_draw_e9,
)
