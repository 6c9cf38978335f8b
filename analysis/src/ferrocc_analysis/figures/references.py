"""Lines that data are read against: best goodput, buffer limit, RTprop, joins of flows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ..metrics import eq8_mbps
from ..runs import Run
from . import style

RATE: Final = "bottleneck rate less headers"
BUFFER: Final = "buffer limit"
RTPROP: Final = "RTprop"
JOIN: Final = "a flow joins"

#: Tells these lines from data: the `gid` of all of them.
GID: Final = "reference"
_LOOKS: Final[dict[str, dict[str, Any]]] = {
    RATE: {"color": style.FAINT, "linewidth": 0.8, "linestyle": (0, (4, 2))},
    BUFFER: {"color": style.INK, "linewidth": 0.8, "linestyle": (0, (1, 1.5))},
    RTPROP: {"color": style.INK, "linewidth": 0.8, "linestyle": (0, (1, 4))},
    JOIN: {"color": style.FAINT, "linewidth": 0.8, "linestyle": (0, (1, 2))},
}
#: A buffer so many times the longest queue shown is left out: it would flatten the data.
_TALLEST: Final = 4.0
#: Starts closer than this share of the time shown are one.
_CLOSE: Final = 0.01


def add_references(ax: Axes, kind: str, cell: Sequence[Run], top: float) -> None:
    """Adds to a panel of `kind` the lines of `cell` that it does not have yet.

    `top` is the largest value among the panels that share its y axis.
    """
    run = cell[0]
    if kind == "goodput":
        _across(ax, RATE, eq8_mbps(float(run.bottleneck["rate_mbps"]), run.payload_bytes))
    elif kind == "queue" and (limit := run.queue_limit_packets) and limit <= _TALLEST * top:
        _across(ax, BUFFER, limit)
    elif kind == "srtt" and (rtprop := run.rtprop_s):
        _across(ax, RTPROP, rtprop * 1e3)
    since, until = ax.get_xlim()
    close = _CLOSE * (until - since)
    shown = [float(line.get_xdata()[0]) for line in _of(ax, JOIN)]  # type: ignore[index, arg-type]
    for time in _joins(cell, close):
        if since < time < until and all(abs(time - t) > close for t in shown):
            shown.append(time)
            ax.add_line(_line(JOIN, [time, time], [0, 1], transform=ax.get_xaxis_transform()))


def handles(figure: Figure) -> list[Line2D]:
    """A legend entry for each sort of line that `figure` has."""
    there = {str(line.get_label()) for ax in figure.axes for line in data_free(ax)}
    # A join is a vertical line, and so is its entry.
    upright: dict[str, Any] = {"linestyle": "none", "marker": "|", "markersize": 8}
    return [_line(k, [], [], **(upright if k == JOIN else {})) for k in _LOOKS if k in there]


def data_free(ax: Axes) -> list[Line2D]:
    """The lines of `ax` that are none of data."""
    return [line for line in ax.get_lines() if line.get_gid() == GID]


def _joins(cell: Sequence[Run], close: float) -> Iterable[float]:
    """When flows start that are more than `close` later than the first, in seconds; means over the
    runs of `cell`.
    """
    starts: dict[int, list[float]] = {}
    for run in cell:
        first = min(f.start_s for f in run.flows)
        for f in run.flows:
            if first + close < f.start_s < run.duration_s:
                starts.setdefault(f.index, []).append(f.start_s)
    return sorted(sum(s) / len(s) for s in starts.values())


def _of(ax: Axes, label: str) -> list[Line2D]:
    return [line for line in data_free(ax) if line.get_label() == label]


def _across(ax: Axes, label: str, value: float) -> None:
    if any(line.get_ydata()[0] == value for line in _of(ax, label)):  # type: ignore[index]
        return
    ax.add_line(_line(label, [0, 1], [value, value], transform=ax.get_yaxis_transform()))
    ax.update_datalim([(0, value)], updatex=False)
    ax.autoscale_view(scalex=False)


def _line(label: str, x: Sequence[float], y: Sequence[float], **settings: Any) -> Line2D:
    return Line2D(x, y, **(_LOOKS[label] | settings), label=label, gid=GID, zorder=1.5)
