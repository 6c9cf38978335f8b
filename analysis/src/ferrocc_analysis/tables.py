"""Runs as tables for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

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
    did not end says so in place of its completion time, and one that failed says why; where clients
    fetch NDCs of a catalogue, times are means of their measured NDCs. Queue management, drops,
    marks, NDCs, download delays and hit ratios have columns where they tell something. Where flows
    go in both directions, a column says in which, and lines below what each such run's
    bottleneck was in both.
    """
    managed = any(run.aqm not in _PLAIN_AQMS for run in runs)
    clients = any(flow.summary.get("workload") for run in runs for flow in run.flows)
    of_flow = _CLIENT if clients else ()
    of_run = [*_RUN, *(_MANAGED if managed else ()), *(_CACHED if _cached(runs) else ())]
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
    if managed:
        table.add_column("AQM", no_wrap=True)
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
        *(heading for heading, _ in of_flow),
        *(heading for heading, _ in of_run),
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
            if managed:
                row.append(palette.aqm(run.aqm or _NOTHING).name if first else "")
            row += [
                Text(look.name, style=look.color if look.color != "#000000" else "default"),
                flow.name,
                *([run.directions[flow.index]] if two_way else []),
                _number(s["goodput_mbps"], 2),
                _completion(s),
                _number(s["srtt_ms_mean"], 1),
                _number(_get(s, "rtt_ms", "p95"), 1),
                _number(s["losses"], 0),
                _number(s["retransmissions"], 0),
            ]
            row += [value(s) for _, value in of_flow]
            row += [value(run) if first else "" for _, value in of_run]
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


def _completion(flow: dict[str, Any]) -> str:
    """The completion time of a transfer, or the mean of a client's NDCs, in seconds."""
    if flow.get("workload"):
        return _seconds(_get(flow, "workload", "fct_ms_mean"))
    return _number(flow["fct_s"], 3) if flow["completed"] else flow.get("failure") or _NOT_ENDED


def _joins(run: Run) -> str:
    """How long each join took to be fair, in seconds. Nobody is told "never" by a run that ended:
    the time that was there stands behind ">".
    """
    end = min((f.summary["end_s"] or run.summary["duration_s"] for f in run.flows), default=0.0)
    times = [
        f">{max(end - j['t_s'], 0):.1f}"
        if j["converged_s"] is None
        else f"{j['converged_s'] - j['t_s']:.1f}"
        for j in run.summary["fairness"]["joins"]
    ]
    return " ".join(times) or _NOTHING


def _hit_ratio(run: Run) -> str:
    """The share of measured requests that caches answered; without a workload each cache's own."""
    if run.summary.get("workload"):
        return _number(run.summary["workload"]["hit_ratio"], 3)
    return " ".join(_number(cache["hit_ratio"], 3) for cache in run.summary["caches"]) or _NOTHING


def _cached(runs: Sequence[Run]) -> bool:
    return any(run.summary["caches"] for run in runs)


def _seconds(milliseconds: Any) -> str:
    return _NOTHING if milliseconds is None else _number(milliseconds / 1e3, 3)


def _get(row: dict[str, Any], outer: str, inner: str) -> Any:
    value = row.get(outer)
    return value.get(inner) if isinstance(value, dict) else None


def _number(value: Any, digits: int) -> str:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return _NOTHING
    return f"{value:,.{digits}f}"


#: Queue managements without decisions of their own.
_PLAIN_AQMS: Final = (None, "drop-tail")
_Column = tuple[str, Callable[[Any], str]]
#: Columns of a client's flow.
_CLIENT: Final[tuple[_Column, ...]] = (
    ("NDCs", lambda s: _number(_get(s, "workload", "requests"), 0)),
    ("Delay\ns", lambda s: _seconds(_get(s, "workload", "download_delay_ms_mean"))),
)
#: Columns of a run.
_RUN: Final[tuple[_Column, ...]] = (
    ("Queue\npackets", lambda r: _number(_get(r.bottleneck, "queue_pkts", "mean"), 1)),
    ("Utili-\nsation", lambda r: _number(r.bottleneck["utilisation"], 3)),
    ("Jain", lambda r: _number(r.summary["fairness"]["jain"], 3)),
    ("Conver-\ngence s", _joins),
)
_MANAGED: Final[tuple[_Column, ...]] = (
    ("Dropped", lambda r: _number(r.bottleneck["dropped"], 0)),
    ("Marked", lambda r: _number(r.bottleneck["marked"], 0)),
)
_CACHED: Final[tuple[_Column, ...]] = (("Hit\nratio", _hit_ratio),)
