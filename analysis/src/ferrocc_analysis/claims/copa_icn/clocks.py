"""C13: clocks that differ, and delay on the way of the requests (section 4.2.2)."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from ... import figures, palette, quantities, schema
from ...runs import Run
from ...stats import estimate
from .. import rules
from ..clauses import by_number, judgement, measured_or_not, row, runs_of, samples
from ..model import Claim, Drawn, Judgement, Need, Results, Scale
from .common import ASSUMPTIONS, PAPER, TWO, name_of, numbers

OFFSET: Final = "copa-icn/offset"
REVERSE: Final = "copa-icn/reverse-delay"
_ADDED: Final = "topology.bottleneck.extra_delay_reverse"


def _needs(scale: Scale) -> tuple[Need, ...]:
    ends = ("0 ms", "40 ms")
    axes = {_ADDED: ends} if scale is Scale.QUICK else {}
    return (Need(OFFSET, (), numbers(scale)), Need(REVERSE, (), (1,), axes))


def offset_s(run: Run) -> float:
    """How far the receivers' clocks are ahead of the replica's, in seconds."""
    text = str(run.setting("clock.offset")).strip()
    value = quantities.seconds(text.lstrip("+-"))
    return (value or 0.0) * (-1 if text.startswith("-") else 1)


def trajectory(run: Run) -> str:
    """A digest of everything that a run wrote but its configuration, the traces byte for byte."""
    digest = hashlib.sha256()
    summary: dict[str, Any] = {k: v for k, v in run.summary.items() if k != "config"}
    digest.update(json.dumps(summary, sort_keys=True).encode())
    for table in (schema.FLOWS, schema.QUEUE, schema.EVENTS):
        digest.update((run.folder / table.file).read_bytes())
    return digest.hexdigest()


@measured_or_not
def _judge(results: Results, scale: Scale) -> Judgement:
    del scale
    rows = []
    runs: dict[int, list[Run]] = {}
    for run in by_number(runs_of(results, OFFSET)):
        runs.setdefault(run.run, []).append(run)
    equal = total = 0
    verified = True
    for group in runs.values():
        base = next(r for r in group if offset_s(r) == 0)
        for run in group:
            verified = verified and all(f.summary["verified"] is True for f in run.flows)
            if run is base:
                continue
            total += 1
            equal += trajectory(run) == trajectory(base)
    offsets = sorted({offset_s(r) for group in runs.values() for r in group} - {0.0})
    shown = ", ".join(f"{o:g} s" for o in offsets)
    rows.append(
        row(
            f"runs with an offset ({shown}) that equal the run without, byte for byte",
            100 * equal / total,
            "%",
            "100 %",
            rules.holds(equal == total),
            n=total,
        )
    )
    rows.append(
        row(
            "these runs' transfers whose content was verified",
            100.0 if verified else 0.0,
            "%",
            "100 %",
            rules.holds(verified),
            n=total + len(runs),
        )
    )
    by_delay = {
        c: {
            1e3 * (quantities.seconds(r.setting(_ADDED)) or 0.0): r
            for r in sorted(runs_of(results, REVERSE), key=lambda r: str(r.setting(_ADDED)))
            if r.flows[0].controller == c
        }
        for c in TWO
    }
    of = {d: by_delay["copa-icn"][d] for d in sorted(by_delay["copa-icn"])}
    none, most = of[0.0], of[max(of)]
    (base_rate,), (base_window,) = samples([none], "target_rate"), samples([none], "mean_window")
    rates = {d: samples([r], "target_rate")[0] / base_rate for d, r in of.items() if d}
    far = max(rates, key=lambda d: abs(rates[d] - 1))
    rows.append(
        row(
            f"target rate with {far:g} ms added to the requests' way / without (the farthest)",
            rates[far],
            "1",
            f"about 1 ({1 - rules.ABOUT:g} to {1 + rules.ABOUT:g})",
            rules.about(rates[far], 1.0),
        )
    )
    (window,) = samples([most], "mean_window")
    (wanted,) = samples([most], "window_of_added_delay")
    rows.append(
        row(
            f"growth of the window with {max(of):g} ms added / rate x delay",
            (window - base_window) / wanted,
            "1",
            f"about 1 ({1 - rules.ABOUT:g} to {1 + rules.ABOUT:g})",
            rules.about((window - base_window) / wanted, 1.0),
        )
    )
    for d, run in of.items():
        rows.append(row(f"window, {d:g} ms added", samples([run], "mean_window")[0], "packets"))
        rows.append(row(f"T_q, {d:g} ms added", samples([run], "queueing_delay")[0], "ms"))
        rows.append(row(f"target rate, {d:g} ms added", samples([run], "target_rate")[0], "Mbps"))
    return judgement(rows)


def _draw(results: Results) -> Drawn:
    runs = runs_of(results, REVERSE)
    panels = []
    for metric, title, ylabel in (
        ("mean_window", "Window", "Window (packets)"),
        ("queueing_delay", "Queueing delay", "T_q, Copa: d_q (ms)"),
        ("target_rate", "Target rate", "Target rate (Mbps)"),
    ):
        points = []
        for c in TWO:
            found = {
                1e3 * (quantities.seconds(r.setting(_ADDED)) or 0.0): samples([r], metric)[0]
                for r in runs
                if r.flows[0].controller == c
            }
            values = [estimate([found[d]]) for d in sorted(found)]
            points.append(figures.Points(name_of(c), palette.controller(c), values, sorted(found)))
        panels.append(figures.Panel(title, points, ylabel=ylabel))
    figure = figures.curves(panels, "Delay added to REQs (ms)", "", runs)
    return [("What delay on the way of the requests alone changes.", figure)]


C13: Final = Claim(
    id="C13-eq6",
    paper=PAPER,
    figure="Equation (6)",
    title="Clock offsets, and delay of requests",
    statement=(
        "However far the receiver's clock is from the replica's, the measured queueing delay, and "
        "with it everything that the transfer does, is the same. Where only requests take longer, "
        "the target rate stays and the window grows."
    ),
    expected="equal trajectories for any offset; target rate unchanged, window + rate x delay",
    assumptions=(
        *ASSUMPTIONS,
        "offsets of 250 ms, -3 s and 1000 s on the runs of Figure 6 (a), with real content that is "
        "verified; all output but the configuration is compared, byte for byte",
        "'stays' means within 25 %, as for every number that the paper names",
        "the delay of requests is propagation that is there from the start; these runs have one "
        "flow and no chance in them, so that each is made once",
    ),
    needs=_needs,
    judge=_judge,
    draw=_draw,
)
