"""Figures of numbers that were measured of runs: curves over a parameter, and bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, NullLocator

from .. import palette, stats
from ..runs import Run, group_cells
from ..stats import Estimate
from . import grid, style
from .panels import KINDS, Window

#: Panels beside each other at most.
_MOST_COLUMNS = 3
_PANEL_IN = 1.9
#: Bands may stretch the y axis by this share of what the means take.
_ROOM = 0.5
#: A line with more points than this has so many markers.
_MANY = 30
_MARKERS_PER_LINE = 8
#: Share of a group's width that its bars take together.
_BARS_SHARE = 0.8
#: Fill of bars of one colour, so that colour is not all that tells them.
_HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\")


@dataclass(frozen=True)
class Points:
    """One line of a curve or one colour of bars: values with their intervals."""

    label: str
    look: palette.Style
    values: Sequence[Estimate]
    #: Where they stand on the x axis; bars stand in their groups' order.
    x: Sequence[float] = ()
    #: Dots without a line (measured at random places) instead of a line with a band.
    scattered: bool = False
    #: Number of its line style or hatch, for points of one colour.
    variant: int = 0


@dataclass(frozen=True)
class Mark:
    """A line that data are read against: level, or through `y` at `x`."""

    label: str
    y: float | Sequence[float]
    x: Sequence[float] = ()


@dataclass(frozen=True)
class Panel:
    """One pair of axes. `groups` name bars' groups along the x axis."""

    title: str
    points: Sequence[Points]
    marks: Sequence[Mark] = ()
    groups: Sequence[str] = ()
    ylabel: str = ""


def curves(
    panels: Sequence[Panel],
    xlabel: str,
    ylabel: str,
    runs: Sequence[Run],
    *,
    log_x: bool = False,
    from_zero: bool = True,
    ticks: Sequence[float] = (),
    share_x: bool = False,
) -> Figure:
    """Lines with bands over a parameter, a panel each; `runs` are named in the footer.

    Bands show `Estimate.shown`. They do not stretch the y axis to where the lines are hard to read.

    With `log_x` the x axis is logarithmic, with `ticks` at these places. The y axes are shared
    unless panels have labels of their own.
    """
    with mpl.rc_context(style.RC):
        figure, axes = _panels(panels, share_x=share_x)
        for ax, panel in zip(axes, panels, strict=True):
            for i, points in enumerate(panel.points):
                _curve(ax, points, i)
            _marks(ax, panel.marks)
            if log_x:
                ax.set_xscale("log")
            if len(ticks):
                ax.xaxis.set_major_locator(FixedLocator(list(ticks)))
                ax.xaxis.set_minor_locator(NullLocator())
                ax.set_xticklabels([f"{t:g}" for t in ticks])
            ax.set_xlabel(xlabel)
        _finish(figure, axes, panels, ylabel, from_zero)
        _legend(figure, panels, as_bars=False)
        grid.footer(figure, group_cells(runs))
    return figure


def bars(panels: Sequence[Panel], ylabel: str, runs: Sequence[Run]) -> Figure:
    """Bars in groups with whiskers, a panel each; see `curves`."""
    with mpl.rc_context(style.RC):
        figure, axes = _panels(panels)
        for ax, panel in zip(axes, panels, strict=True):
            count = len(panel.points)
            width = _BARS_SHARE / count
            for i, points in enumerate(panel.points):
                at = [g + (i - (count - 1) / 2) * width for g in range(len(points.values))]
                ax.bar(
                    at,
                    [v.mean for v in points.values],
                    width * 0.92,
                    color=points.look.color,
                    hatch=_HATCHES[points.variant % len(_HATCHES)],
                    edgecolor="white",
                    zorder=2,
                )
                for x, v in zip(at, points.values, strict=True):
                    if v.known:
                        ax.plot([x, x], v.shown, color=style.INK, linewidth=0.8, zorder=3)
            _marks(ax, panel.marks)
            if any(panel.groups):
                ax.set_xticks(range(len(panel.groups)), list(panel.groups))
            else:
                ax.set_xticks([])
            ax.grid(visible=False, axis="x")
            ax.margins(x=0.03)
        _finish(figure, axes, panels, ylabel, True)
        _legend(figure, panels, as_bars=True)
        grid.footer(figure, group_cells(runs), spread="whiskers")
    return figure


def flow_figure(
    panels: Sequence[tuple[str, Sequence[tuple[str, Sequence[Run]]]]],
    kind: str,
    index: int,
    window: Window | None = None,
    *,
    least_bin_s: float = 0.0,
) -> Figure:
    """`kind` (a key of `KINDS`) over time for flow number `index` of several cells laid over each
    other: each panel is a title with (label, the cell's runs). Line styles tell the cells. Points
    are means over `least_bin_s` or more.
    """
    drawn: list[Panel] = []
    everything: list[Run] = []
    for title, cells in panels:
        points = []
        for i, (label, runs) in enumerate(cells):
            everything += runs
            span = window or (0.0, max(r.duration_s for r in runs))
            least = max(KINDS[kind].least_bin_s, least_bin_s)
            width = stats.bin_width(runs[0].interval_s, span[1] - span[0], least)
            series = stats.cut(KINDS[kind].series(runs, index, width), span)
            columns = (series.value, series.low, series.high)
            values = [
                Estimate(float(m), float(a), float(b), len(runs))
                for m, a, b in zip(*columns, strict=True)
            ]
            look = palette.controller(runs[0].flows[index].controller)
            points.append(Points(label, look, values, [float(t) for t in series.time_s], variant=i))
        drawn.append(Panel(title, points))
    return curves(drawn, "Time (s)", KINDS[kind].label, everything, share_x=True)


def _panels(panels: Sequence[Panel], *, share_x: bool = False) -> tuple[Figure, list[Axes]]:
    columns = 2 if len(panels) == 4 else min(len(panels), _MOST_COLUMNS)
    rows = -(-len(panels) // columns)
    width = style.COLUMN_IN * 1.3 if columns == 1 else style.PAGE_IN
    own = any(p.ylabel for p in panels)
    size = (width, 1.0 + (_PANEL_IN if columns > 1 else 2.1) * rows)
    sharex: Literal["none", "all"] = "all" if share_x else "none"
    sharey: Literal["none", "all"] = "none" if own else "all"
    figure, axes = grid.new_figure(rows, columns, size, sharex=sharex, sharey=sharey)
    flat = list(axes.flat)
    for ax in flat[len(panels) :]:
        ax.remove()
    return figure, flat[: len(panels)]


def _curve(ax: Axes, points: Points, index: int) -> None:
    look = points.look
    if points.scattered:
        ax.plot(
            points.x,
            [v.mean for v in points.values],
            linestyle="none",
            marker=look.marker or "o",
            markersize=2.2,
            color=look.color,
            alpha=0.6,
            zorder=2 + 0.01 * index,
        )
        return
    every = max(1, len(points.values) // _MARKERS_PER_LINE) if len(points.values) > _MANY else 1
    ax.plot(
        points.x,
        [v.mean for v in points.values],
        color=look.color,
        linestyle=palette.line_style(points.variant),
        marker=look.marker or None,
        markerfacecolor=look.color if points.variant % 2 == 0 else "white",
        markeredgewidth=0.7,
        markevery=(index * every // 3 % every, every),
        zorder=3 + 0.01 * index,
    )
    if any(v.known for v in points.values):
        ax.fill_between(
            points.x,
            [v.shown[0] for v in points.values],
            [v.shown[1] for v in points.values],
            color=look.color,
            alpha=style.BAND_ALPHA,
            linewidth=0,
            zorder=2,
        )


def _marks(ax: Axes, marks: Sequence[Mark]) -> None:
    labels = list(dict.fromkeys(mark.label for mark in marks))
    for mark in marks:
        i = labels.index(mark.label)
        look: dict[str, Any] = {
            "color": style.INK,
            "linewidth": 0.9,
            "linestyle": _mark_style(i),
            "zorder": 4,
        }
        if isinstance(mark.y, (int, float)):
            ax.axhline(mark.y, **look)
        else:
            ax.plot(mark.x, list(mark.y), **look)


def _mark_style(index: int) -> Any:
    return ((0, (4, 2)), (0, (1, 1.5)), (0, (1, 4)))[index % 3]


def _finish(
    figure: Figure, axes: Sequence[Axes], panels: Sequence[Panel], ylabel: str, from_zero: bool
) -> None:
    first_column = {ax.get_subplotspec().colspan.start for ax in axes}  # type: ignore[union-attr]
    for ax, panel in zip(axes, panels, strict=True):
        if panel.title:
            ax.set_title(panel.title)
        start = ax.get_subplotspec().colspan.start  # type: ignore[union-attr]
        if panel.ylabel or start == min(first_column):
            ax.set_ylabel(panel.ylabel or ylabel)
        positive = all(v.mean >= 0 for points in panel.points for v in points.values)
        if from_zero and positive:
            ax.set_ylim(bottom=0)
    groups = [[i] for i in range(len(panels))]
    if len(panels) > 1 and not any(p.ylabel for p in panels):
        groups = [list(range(len(panels)))]
    for group in groups:
        _keep_readable(axes[group[0]], [panels[i] for i in group], from_zero)
    figure.align_ylabels(list(axes))


def _keep_readable(ax: Axes, panels: Sequence[Panel], from_zero: bool) -> None:
    """Cuts the y axis that `panels` share where bands go far beyond their means and marks."""
    values = [v for panel in panels for points in panel.points for v in points.values]
    means = [v.mean for v in values if math.isfinite(v.mean)]
    ends = [e for v in values if v.known for e in v.shown if math.isfinite(e)]
    if not means or not ends:
        return
    marks = [m.y for panel in panels for m in panel.marks]
    for y in marks:
        means += [y] if isinstance(y, (int, float)) else [float(v) for v in y]
    if from_zero:
        means.append(0.0)
    room = _ROOM * ((max(means) - min(means)) or abs(max(means)))
    if room and max(ends) > max(means) + room:
        ax.set_ylim(top=max(means) + room)
    if room and min(ends) < min(means) - room and ax.get_ylim()[0] < min(means) - room:
        ax.set_ylim(bottom=min(means) - room)


def _legend(figure: Figure, panels: Sequence[Panel], *, as_bars: bool) -> None:
    handles: dict[str, Line2D | Patch] = {}
    looks: dict[str, set[palette.Style]] = {}
    for panel in panels:
        for points in panel.points:
            looks.setdefault(points.label, set()).add(points.look)
    for panel in panels:
        for points in panel.points:
            look = points.look
            if len(looks[points.label]) > 1:
                # What looks differ in is said by the panels' titles.
                look = palette.Style(style.INK, "", look.name)
            if as_bars:
                handle: Line2D | Patch = Patch(
                    facecolor=look.color,
                    hatch=_HATCHES[points.variant % len(_HATCHES)],
                    edgecolor="white",
                    label=points.label,
                )
            else:
                handle = Line2D(
                    [],
                    [],
                    color=look.color,
                    linestyle="none" if points.scattered else palette.line_style(points.variant),
                    marker=look.marker or None,
                    markerfacecolor=look.color if points.variant % 2 == 0 else "white",
                    markeredgewidth=0.7,
                    label=points.label,
                )
            handles.setdefault(points.label, handle)
        for i, label in enumerate(dict.fromkeys(mark.label for mark in panel.marks)):
            line = Line2D(
                [], [], color=style.INK, linewidth=0.9, linestyle=_mark_style(i), label=label
            )
            handles.setdefault(label, line)
    grid.legend(figure, list(handles.values()))
