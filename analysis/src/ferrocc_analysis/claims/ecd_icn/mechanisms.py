"""E10 to E12: what marks, windows and IDs do, packet by packet."""

from __future__ import annotations

from typing import Final

import numpy as np

from ... import figures, palette, quantities
from ...metrics import NotApplicable, ecd_marks
from ...runs import Run
from ...stats import Estimate, difference, estimate
from .. import rules
from ..clauses import (
    applicable,
    by_number,
    judgement,
    mean,
    measured_or_not,
    row,
    runs_of,
    samples,
)
from ..model import Claim, Drawn, Judgement, Measured, Need, Results, Scale
from .basic import goodput_panel
from .common import (
    AQM,
    ASSUMPTIONS,
    COUNT,
    FOUR,
    JITTER,
    PAPER,
    aqm_of,
    by_label,
    grouped,
    listed,
    look_of,
    measured,
    name_of,
    numbers,
)

# E10.

_MARKING: Final = "ecd-icn/marking"
_IP: Final = "ecd-icn/ip-routers"
_OTHER: Final = "ecd-icn/other-traffic"
#: Largest mean distance of the share of marks from the straight line.
_LINE: Final = 0.05
#: Share of marks beyond C target: all, but for packets that leave no more than an MTU behind.
_ALL: Final = 0.99


def _needs_e10(scale: Scale) -> tuple[Need, ...]:
    options = ("--duration=10s",) if scale is Scale.QUICK else ()
    return (
        Need(_MARKING, options, numbers(scale)),
        Need(_IP, options, numbers(scale)),
        Need(_OTHER, options, numbers(scale)),
    )


def _pairs(runs: list[Run]) -> list[tuple[Run, Run]]:
    """Runs of the improved CoDel with those of CoDel of equal number."""
    of = by_label(runs)
    return list(zip(of["ecd"], of["codel"], strict=True))


def _as_codel(runs: list[Run], what: str) -> list[Measured]:
    pairs = _pairs(runs)
    same = [ecd_marks.dropped(a).equals(ecd_marks.dropped(b)) for a, b in pairs]
    drops = sum(ecd_marks.dropped(a).height for a, _ in pairs)
    marks = sum(ecd_marks.marked(a) for a, _ in pairs)
    return [
        row(
            f"runs whose drops are those of CoDel, {what}",
            100.0 * sum(same) / len(same),
            "%",
            "100 %",
            rules.holds(all(same) and drops > 0),
            note=f"{drops} packets dropped",
            n=len(same),
        ),
        row(
            f"packets marked, {what}",
            marks,
            "packets",
            "0",
            rules.holds(marks == 0),
            n=len(same),
        ),
    ]


@measured_or_not
def _judge_e10(results: Results, scale: Scale) -> Judgement:
    del scale
    runs = by_number(runs_of(results, _MARKING))
    entered = applicable(runs, "shortest_before_dropping")
    interval = ecd_marks.parameters(runs[0])["interval_ms"]
    below = mean(runs, "marks_below_target")
    line = mean(applicable(runs, "mark_share_error"), "mark_share_error")
    above = mean(runs, "mark_share_above")
    shortest = min(samples(entered, "shortest_before_dropping"))
    went_on = mean(runs, "dropping_below_target")
    rows = [
        row("marks below the target", below, "packets", "0", rules.holds(below.high == 0)),
        row(
            "mean distance of the share of marks from Equation (1), target to C target",
            line,
            "1",
            f"<= {_LINE:g}",
            rules.at_most(line, _LINE),
        ),
        row(
            "share of marks above C target, outside the dropping state",
            above,
            "1",
            f">= {_ALL:g}",
            rules.at_least(above, _ALL),
        ),
        row(
            "shortest time above target with which the dropping state was entered",
            shortest,
            "ms",
            f">= {interval:g} ms",
            # Times in the trace are cut to nanoseconds.
            rules.holds(shortest >= interval - 1e-3),
            n=len(entered),
        ),
        row(
            "packets below target that did not end the dropping state",
            went_on,
            "packets",
            "0",
            rules.holds(went_on.high == 0),
        ),
        *_as_codel(runs_of(results, _IP), "on IP routers"),
        *_as_codel(runs_of(results, _OTHER), "TCP traffic"),
    ]
    marks = estimate(ecd_marks.marked(r) for r in runs)
    seen = estimate(sum(float(f.summary["marks"]) for f in r.flows) for r in runs)
    rows += [
        row("packets marked on ICN routers", marks, "packets"),
        row("marked units that receivers saw", seen, "packets"),
    ]
    return judgement(rows)


def _draw_e10(results: Results) -> Drawn:
    runs = by_number(runs_of(results, _MARKING))
    if not runs:
        return ()
    lines = []
    values = ecd_marks.parameters(runs[0])
    for i, (count, of) in enumerate(grouped(runs, COUNT)["ecd"].items()):
        shares = ecd_marks.mark_shares(of[0])
        shares = shares.filter(shares.get_column("packets") >= ecd_marks.LEAST_PER_BIN)
        lines.append(
            figures.Points(
                f"{count:g} client{'s' if count > 1 else ''}",
                palette.variant(look_of("ecd"), i),
                [Estimate(v, v, v, 1) for v in shares.get_column("share")],
                list(shares.get_column("sojourn_ms")),
                variant=i,
            )
        )
    target, c = values["target_ms"], values["c"]
    longest = max([2 * c * target, *(x for line in lines for x in line.x)])
    mark = figures.Mark(
        "Equation (1)",
        [0.0, 0.0, values["p_max"], values["p_max"]],
        [0.0, target, c * target, longest],
    )
    figure = figures.curves(
        [figures.Panel("", lines, [mark])], "Sojourn time (ms)", "Share of DATA marked", runs
    )
    return [("Share of marked DATA by the time in R3's queue, outside the dropping state.", figure)]


E10: Final = Claim(
    id="E10-eq1",
    paper=PAPER,
    figure="Equation (1), Algorithm 1",
    title="What the improved CoDel marks and drops",
    statement=(
        "A packet is marked with a probability that is 0 up to the target, grows in a straight "
        "line to its largest value at C times the target, and stays there. The dropping state "
        "begins once packets have waited longer than the target for an interval, and ends below "
        "the target. Marks stand in the transport header only, so that on plain IP routers and for "
        "other traffic the queue is CoDel's."
    ),
    expected="shares of marks by Equation (1); drops elsewhere equal to CoDel's, without a mark",
    assumptions=(
        *ASSUMPTIONS,
        JITTER,
        "1, 6 and 20 clients; 6 clients on IP routers, six TCP NewReno flows as other traffic",
        f"shares are taken in bins of {ecd_marks.BIN_MS:g} ms with at least "
        f"{ecd_marks.LEAST_PER_BIN} packets",
        "a queue of no more than one packet's bytes is exempt, as in CoDel",
        "the packet right after the drop that begins the dropping state is forwarded, as in CoDel",
    ),
    needs=_needs_e10,
    judge=_judge_e10,
    draw=_draw_e10,
)


# E11.

_WINDOW: Final = "ecd-icn/window"
_RENO: Final = "ecd-icn/like-reno"
#: What counts as nothing in packets, as windows are traced in whole bytes.
_EXACT: Final = 0.01
#: A row of a millisecond may hold so many packets' arrivals beside what is measured.
_PACKETS: Final = 2.0


def _needs_e11(scale: Scale) -> tuple[Need, ...]:
    options = ("--duration=10s",) if scale is Scale.QUICK else ()
    return (
        Need(_WINDOW, options, numbers(scale)),
        Need(_RENO, options, numbers(scale)),
    )


def _reno_rows(results: Results) -> list[Measured]:
    """Whether the ECD controller is NewReno where nothing is marked, by queue management."""
    found: dict[str, list[float]] = {}
    timeouts = 0
    runs = by_number(runs_of(results, _RENO))
    # Runs that differ in the controller only belong together.
    table: dict[tuple[str, int, int], dict[str, Run]] = {}
    for run in runs:
        place = (aqm_of(run), len(run.flows), run.run)
        table.setdefault(place, {})[run.flows[0].controller] = run
    for (aqm, _, _), of in table.items():
        same, first = ecd_marks.same_as_reno(of["ecd"], of["newreno"])
        timeouts += first is not None
        found.setdefault(aqm, []).append(same)
    return [
        row(
            f"rows of the traces that are NewReno's up to the first timeout, {name_of(aqm)}",
            100.0 * min(same),
            "%",
            "100 %",
            rules.holds(min(same) == 1.0),
            note=f"{timeouts} of {len(table)} pairs have a timeout",
            n=len(same),
        )
        for aqm, same in found.items()
    ]


@measured_or_not
def _judge_e11(results: Results, scale: Scale) -> Judgement:
    del scale
    runs = by_number(runs_of(results, _WINDOW))
    first, slow = mean(runs, "first_window"), mean(runs, "slow_start_error")
    cuts, steps = mean(runs, "mark_cut_error"), mean(runs, "alpha_step_error")
    often = mean(runs, "updates_per_window")
    rows = [
        row("first window", first, "packets", "2", rules.holds(first.low == first.high == 2.0)),
        row(
            "window in slow start - first window - packets received, the farthest",
            slow,
            "packets",
            "0 (+1 per packet)",
            rules.at_most(slow, _EXACT),
        ),
        row(
            "window after a cut for marks - (1 - alpha/2) window before, median",
            cuts,
            "packets",
            f"<= {_PACKETS:g} (Equation (5))",
            rules.at_most(cuts, _PACKETS),
        ),
        row(
            "change of alpha beyond what Equation (6) allows, the largest",
            steps,
            "1",
            "0",
            rules.at_most(steps, 1e-4),
        ),
        row(
            "changes of alpha per round trip",
            often,
            "1",
            f"about 1 ({1 - rules.ABOUT:g} to {1 + rules.ABOUT:g})",
            rules.about(often.mean, 1.0),
        ),
        *_reno_rows(results),
    ]
    rows.append(
        row(
            "cuts for marks",
            estimate(float(ecd_marks.mark_cuts(r).height) for r in runs),
            "cuts",
        )
    )
    return judgement(rows)


def _draw_e11(results: Results) -> Drawn:
    runs = by_number(runs_of(results, _WINDOW))[:1]
    if not runs:
        return ()
    run = runs[0]
    rows = run.flow(run.flows[0]).select("time_s", "window_bytes", "alpha").collect()
    rows = rows.gather_every(max(1, rows.height // 800))
    panels = []
    for column, factor, ylabel in (
        ("window_bytes", 1 / run.payload_bytes, "Window (packets)"),
        ("alpha", 1.0, "alpha"),
    ):
        numbers_of = np.asarray(rows.get_column(column).fill_null(np.nan), dtype=float) * factor
        values = [Estimate(float(v), float(v), float(v), 1) for v in numbers_of]
        line = figures.Points(
            name_of("ecd"), look_of("ecd"), values, list(rows.get_column("time_s"))
        )
        panels.append(figures.Panel("", [line], ylabel=ylabel))
    figure = figures.curves(panels, "Time (s)", "", runs, share_x=True)
    return [("Window and alpha of one client under the improved CoDel.", figure)]


E11: Final = Claim(
    id="E11-eq56",
    paper=PAPER,
    figure="Equations (2) to (6)",
    title="What the receiver's window does",
    statement=(
        "The window starts with two packets and grows by one per packet in slow start, then by "
        "one per window. Losses and timeouts halve it. Marks cut it once per window of data to "
        "(1 - alpha/2) of itself, and alpha is a moving average of the windows' shares of marks "
        "with the weight 1/16. Where queues do not mark, it works as Reno's."
    ),
    expected="Equations (2), (5) and (6) in the traces; NewReno's traces under the other queues",
    assumptions=(
        *ASSUMPTIONS,
        JITTER,
        "the trace has a row per millisecond, in which up to two packets arrive: a window after a "
        "cut may be off by these",
        "slow start is looked at until the queue may mark, since marked packets do not count",
        "growth beyond slow start and halving on loss are those of NewReno where the traces are "
        "equal; NewReno starts with two packets there",
        "after a timeout NewReno's window is one packet, ECD's half, so that traces are compared "
        "up to the first timeout",
    ),
    needs=_needs_e11,
    judge=_judge_e11,
    draw=_draw_e11,
)


# E12.

_MOVES: Final = "ecd-icn/moves"
_ASSEMBLY: Final = "ecd-icn/assembly"
_CLIENTS: Final = "{:g} clients"


def _needs_e12(scale: Scale) -> tuple[Need, ...]:
    quick = scale is Scale.QUICK
    counts = {COUNT: ("6",)} if quick else {}
    options = {Scale.QUICK: ("--duration=20s",), Scale.DEFAULT: ("--duration=30s",)}.get(scale, ())
    return (
        Need(_MOVES, (), numbers(scale), {AQM: FOUR}),
        Need(_ASSEMBLY, options, numbers(scale), {AQM: FOUR, **counts}),
    )


def _whole(run: Run) -> bool:
    """Whether every byte of every NDC arrived, and is what the NDC's name says."""
    return all(f.summary["completed"] and f.summary["verified"] is True for f in run.flows)


@measured_or_not
def _judge_e12(results: Results, scale: Scale) -> Judgement:
    del scale
    moves = by_number(runs_of(results, _MOVES))
    if any(not ecd_marks.moved_at(r) for r in moves):
        raise NotApplicable("nobody moved")
    whole = [_whole(r) for r in moves]
    late = [r for r in moves if all(f.end_s > max(ecd_marks.moved_at(r)) for f in r.flows)]
    rows = [
        row(
            "NDCs complete and verified although client and server moved in the middle",
            100.0 * sum(whole) / len(whole),
            "%",
            "100 %",
            rules.holds(all(whole)),
            n=len(whole),
        ),
        row(
            "transfers that were under way at both moves",
            100.0 * len(late) / len(moves),
            "%",
            "100 %",
            rules.holds(len(late) == len(moves)),
            n=len(moves),
        ),
    ]
    tables = {
        patience: measured(grouped(of, COUNT), "assembly_success", 100.0)
        for patience, of in _by_patience(results).items()
    }
    for patience, success in tables.items():
        pairs = zip(success["ecd"].items(), success["codel"].values(), strict=True)
        for (count, ecd), codel in pairs:
            rows.append(
                row(
                    f"NDCs that caches put together / began, ECD, {count:g} clients, given up "
                    f"after {patience}",
                    ecd,
                    "%",
                    f">= CoDel's {codel.mean:.4g} %",
                    rules.at_least(difference(ecd, codel), 0.0),
                    note="the difference run by run decides",
                )
            )
    for patience, success in tables.items():
        where = f"{_CLIENTS}, given up after {patience}"
        rows += listed(success, "NDCs that caches put together / began", "%", where)
    return judgement(rows)


def _moves(run: Run) -> list[figures.Mark]:
    top = float(run.bottleneck["rate_mbps"])
    return [figures.Mark("a host moves", [0.0, top], [t, t]) for t in ecd_marks.moved_at(run)]


def _by_patience(results: Results) -> dict[str, list[Run]]:
    """Runs by the time after which routers give an incomplete NDC up, the longest first."""
    found: dict[str, list[Run]] = {}
    for run in runs_of(results, _ASSEMBLY):
        found.setdefault(str(run.setting("caches.timeout")), []).append(run)
    return dict(sorted(found.items(), key=lambda f: -(quantities.seconds(f[0]) or 0.0)))


def _draw_e12(results: Results) -> Drawn:
    panels = []
    for patience, of_patience in _by_patience(results).items():
        groups = grouped(of_patience, COUNT)
        counts = list(groups["ecd"])
        bars = [
            figures.Points(
                name_of(label),
                look_of(label),
                [mean(of[c], "assembly_success").scaled(100.0) for c in counts],
            )
            for label, of in groups.items()
        ]
        panels.append(
            figures.Panel(
                f"Given up after {patience}", bars, groups=[f"{c:g} clients" for c in counts]
            )
        )
    if not panels:
        return ()
    drawn = [
        (
            "NDCs that caches put together, of those that they began.",
            figures.bars(panels, "Assembled (%)", runs_of(results, _ASSEMBLY)),
        )
    ]
    moves = by_label(runs_of(results, _MOVES))
    if moves:
        shown = [of[0] for of in moves.values()]
        panels = [
            goodput_panel(run, name_of(label), 0.2, _moves(run))
            for label, run in zip(moves, shown, strict=True)
        ]
        figure = figures.curves(panels, "Time (s)", "Goodput (Mbps)", shown, share_x=True)
        drawn.append(("Goodput of a client that moves, from a server that does, one run.", figure))
    return drawn


E12: Final = Claim(
    id="E12-ids",
    paper=PAPER,
    figure="sections 3.1, 3.2.1 and 4.1",
    title="Transfers between IDs, and NDCs that caches put together",
    statement=(
        "A transfer belongs to a pair of IDs, which stays when the network address of either end "
        "changes. An NDC that lost packets on the way cannot be cached before it is whole, so that "
        "caches put together at least as many NDCs with the improved CoDel as with CoDel."
    ),
    expected="transfers go on through moves with every byte right; assembly ECD >= CoDel",
    assumptions=(
        *ASSUMPTIONS,
        JITTER,
        "the client moves to R2 in the middle of an NDC of 10 MB, then the server to R1",
        "assembly: clients fetch NDCs of 2 MB one after the other, none twice; routers give an NDC "
        "up that has had nothing new for 10 s, the default, or for 100 ms: the paper speaks of "
        "memory that is released early, and 100 ms are less than the smallest retransmission "
        "timeout, so that an NDC is lost whose loss only the timer finds",
    ),
    needs=_needs_e12,
    judge=_judge_e12,
    draw=_draw_e12,
)
