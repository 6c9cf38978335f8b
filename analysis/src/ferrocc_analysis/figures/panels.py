"""One quantity of one cell, drawn into one pair of axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from .. import palette, stats
from ..runs import Flow, Run
from . import style

#: Markers on each line: enough to tell it, few enough to see it.
_MARKERS_PER_LINE = 8
#: Above this number of flows lines are thin and without markers.
_MANY_FLOWS = 6

Window = tuple[float, float]


@dataclass(frozen=True)
class Kind:
    """A quantity that can be drawn over time: its name on the command line and its axis label."""

    name: str
    label: str
    per_flow: bool
    least_bin_s: float
    series: Callable[[Sequence[Run], int, float], stats.Series]


def _in_flight(runs: Sequence[Run], flow: int, width_s: float) -> stats.Series:
    return stats.flow_series(
        runs,
        flow,
        "in_flight_bytes",
        low="in_flight_min_bytes",
        high="in_flight_max_bytes",
        width_s=width_s,
        scale=1e-3,
    )


def _goodput(runs: Sequence[Run], flow: int, width_s: float) -> stats.Series:
    return stats.goodput_series(runs, flow, width_s=width_s)


def _srtt(runs: Sequence[Run], flow: int, width_s: float) -> stats.Series:
    return stats.flow_series(runs, flow, "srtt_plot_ms", width_s=width_s)


def _queue(runs: Sequence[Run], flow: int, width_s: float) -> stats.Series:
    del flow
    return stats.queue_series(runs, width_s=width_s)


#: All kinds, in the order in which figures show them.
KINDS: Final[dict[str, Kind]] = {
    k.name: k
    for k in (
        Kind("in-flight", "In-flight (kB)", True, 0.0, _in_flight),
        Kind("goodput", "Goodput (Mbps)", True, stats.GOODPUT_BIN_S, _goodput),
        Kind("srtt", "SRTT (ms)", True, 0.0, _srtt),
        Kind("queue", "Queue (packets)", False, 0.0, _queue),
    )
}


def flow_name(flow: Flow, run: Run) -> str:
    """What a legend calls `flow`: its name, and its controller where `run` has several."""
    if len(run.controllers) == 1:
        return flow.name
    return f"{flow.name} ({palette.controller(flow.controller).name})"


def draw_panel(
    ax: Axes,
    cell: Sequence[Run],
    kind: Kind,
    window: Window | None = None,
    *,
    label: str = "",
    variant: int = 0,
    look: palette.Style | None = None,
) -> list[Line2D]:
    """Draws `kind` for the runs of one cell into `ax` and returns the lines, one per flow.

    With several runs a line is their mean and the band its 95 % confidence interval (of two their
    smallest and largest value); with one the
    band shows the extremes within each bin, where the trace records them. Lines have the label
    `label`, followed by the flow's name if there are several. `variant` tells runs of the same
    controllers in the same axes apart (see `palette.variant`); `look` is the colour and marker of
    all lines, by default their controllers'. The x axis is in seconds.
    """
    first = cell[0]
    span = window or (0.0, max(r.duration_s for r in cell))
    width = stats.bin_width(first.interval_s, span[1] - span[0], kind.least_bin_s)
    count = max(len(r.flows) for r in cell) if kind.per_flow else 1
    widest = max(cell, key=lambda r: len(r.flows))
    lines = []
    for i in range(count):
        flow = widest.flows[i]
        drawn = look or palette.controller(flow.controller)
        if look is None and not kind.per_flow and len(first.controllers) > 1:
            # What flows of several controllers share has nobody's colour.
            drawn = palette.Style(style.INK, "", first.label)
        drawn = palette.variant(drawn, variant)
        series = stats.cut(kind.series(cell, i, width), span)
        names = [label] if label else []
        if kind.per_flow and count > 1:
            names.append(flow_name(flow, first))
        many = count > _MANY_FLOWS
        shown = max(1, len(series.time_s) // _MARKERS_PER_LINE)
        # Markers stand at different places, so that equal lines do not hide each other.
        offset = (i * shown // max(count, 1) + variant * shown // 3) % shown
        (line,) = ax.plot(
            series.time_s,
            series.value,
            color=drawn.color,
            linestyle=palette.line_style(i),
            marker=None if many else drawn.marker or None,
            markevery=(offset, shown),
            markerfacecolor=drawn.color if i % 2 == 0 else "white",
            markeredgewidth=0.7,
            linewidth=0.6 if many else None,
            label=" ".join(names) or "_",
            zorder=3 + 0.01 * i,
        )
        lines.append(line)
        if not np.all(np.isnan(series.high)):
            ax.fill_between(
                series.time_s,
                series.low,
                series.high,
                color=drawn.color,
                alpha=style.BAND_ALPHA,
                linewidth=0,
                zorder=2,
            )
    return lines
