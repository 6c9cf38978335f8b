"""Runs as tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from . import palette, schema
from .runs import Run

_NOTHING = "-"
_NOT_ENDED = "not ended"


def flow_table(runs: Sequence[Run], title: str | None = None) -> Table:
    """A row for each flow of each run, with what its bottleneck and its fairness were.

    Columns that belong to a run, not to a flow, are filled in its first row only. A transfer that
    did not end says so in place of its completion time, and one that failed says why. Where flows
    go in both directions, a column says in which, and lines below what each such run's
    bottleneck was in both.
    """
    two_way = [run for run in runs if run.two_way]
    table = Table(
        title=title,
        title_justify="left",
        caption=Text("\n".join(_both_directions(run) for run in two_way)) if two_way else None,
        caption_justify="left",
        header_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    several = len({r.scenario for r in runs}) > 1
    repeated = len({(r.seed, r.run) for r in runs}) > 1
    if several:
        table.add_column("Scenario", no_wrap=True)
    table.add_column("Cell", no_wrap=True)
    if repeated:
        table.add_column("Seed/run", no_wrap=True)
    table.add_column("Controller", no_wrap=True)
    table.add_column("Flow", no_wrap=True)
    if two_way:
        table.add_column("Direction", no_wrap=True)
    for heading in (
        "Goodput\nMbps",
        "FCT\ns",
        "SRTT\nms",
        "RTT p95\nms",
        "Losses",
        "Retrans-\nmissions",
        "Queue\npackets",
        "Utili-\nsation",
        "Jain",
        "Conver-\ngence s",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for run in runs:
        for flow in run.flows:
            s, first = flow.summary, flow.index == 0
            look = palette.controller(flow.controller)
            row: list[str | Text] = []
            if several:
                row.append(run.scenario if first else "")
            row.append(run.name if first else "")
            if repeated:
                row.append(f"{run.seed}/{run.run}" if first else "")
            row += [
                Text(look.name, style=look.color if look.color != "#000000" else "default"),
                flow.name,
                *([run.directions[flow.index]] if two_way else []),
                _number(s["goodput_mbps"], 2),
                _number(s["fct_s"], 3) if s["completed"] else s.get("failure") or _NOT_ENDED,
                _number(s["srtt_ms_mean"], 1),
                _number(_get(s, "rtt_ms", "p95"), 1),
                _number(s["losses"], 0),
                _number(s["retransmissions"], 0),
            ]
            row += _of_run(run) if first else [""] * 4
            table.add_row(*row, end_section=flow.index == len(run.flows) - 1)
    return table


def _both_directions(run: Run) -> str:
    """What the bottleneck was in each direction, a line each."""
    links = [(schema.FORWARD, run.bottleneck), (schema.OPPOSITE, run.opposite_bottleneck)]
    return "\n".join(
        f"{run.name}: bottleneck {direction} ({link['from']} to {link['to']}), utilisation "
        f"{_number(link['utilisation'], 3)}, queue "
        f"{_number(_get(link, 'queue_pkts', 'mean'), 1)} packets"
        for direction, link in links
        if link is not None
    )


def _of_run(run: Run) -> list[str]:
    fairness = run.summary["fairness"]
    # Nobody is told "never" by a run that ended: the time that was there stands behind ">".
    end = min((f.summary["end_s"] or run.summary["duration_s"] for f in run.flows), default=0.0)
    times = [
        f">{max(end - j['t_s'], 0):.1f}"
        if j["converged_s"] is None
        else f"{j['converged_s'] - j['t_s']:.1f}"
        for j in fairness["joins"]
    ]
    return [
        _number(_get(run.bottleneck, "queue_pkts", "mean"), 1),
        _number(run.bottleneck["utilisation"], 3),
        _number(fairness["jain"], 3),
        " ".join(times) or _NOTHING,
    ]


def _get(row: dict[str, Any], outer: str, inner: str) -> Any:
    value = row.get(outer)
    return value.get(inner) if isinstance(value, dict) else None


def _number(value: Any, digits: int) -> str:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return _NOTHING
    return f"{value:,.{digits}f}"
