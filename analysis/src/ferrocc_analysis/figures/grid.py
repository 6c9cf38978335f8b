"""Panels put together: kinds as rows, cells as columns, or cells laid over each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from .. import palette
from ..errors import InputError, one_of
from ..runs import Run, group_cells
from ..schema import RANDOM_FIELDS
from . import references, style
from .panels import KINDS, Kind, Window, draw_panel

_RANDOM_PART = re.compile(rf"(^|,)({'|'.join(RANDOM_FIELDS)})=\d+")
#: Columns of a figure with one kind at most; more panels go into further rows.
_MOST_COLUMNS = 3
#: Entries of a legend at most; more flows than that are not told apart by it.
_MOST_ENTRIES = 8
#: Distances between ticks that read easily, times powers of ten.
_STEPS = [1, 2, 5, 10]
#: Free share of the time axis behind the longest run.
_MARGIN = 0.02
_ROW_IN = 1.25
_WIDE_ROW_IN = 1.55
#: Columns of an overview that fit a page without growing it.
_PAGE_COLUMNS = 4
_COLUMN_IN = 1.85


def overview(runs: Sequence[Run], window: Window | None = None) -> Figure:
    """A grid with a row for each quantity (in-flight, goodput, SRTT, queue) and a column for each
    cell of `runs` (those that differ in seed and run number only are one cell).

    Rows share their y axis, so that columns can be compared. The axes are `figure.axes`, row by
    row. Raises `InputError` if there are no runs or a trace cannot be read.
    """
    cells = _cells(runs, window)
    kinds = list(KINDS.values())
    width = style.PAGE_IN if len(cells) <= _PAGE_COLUMNS else 0.75 + _COLUMN_IN * len(cells)
    if len(cells) == 1:
        width = style.COLUMN_IN
    with mpl.rc_context(style.RC):
        figure, axes = _axes(len(kinds), len(cells), (width, 0.95 + _ROW_IN * len(kinds)), "row")
        for row, kind in zip(axes, kinds, strict=True):
            for ax, cell in zip(row, cells, strict=True):
                draw_panel(ax, cell, kind, window)
            _finish(list(row), kind, cells, window)
            row[0].set_ylabel(kind.label)
            row[0].set_ylim(bottom=0)
        for ax, title in zip(axes[0], _titles(cells), strict=True):
            ax.set_title(title)
        for ax in axes.flat[: -len(cells)]:
            ax.set_xlabel("")
        figure.align_ylabels(list(axes[:, 0]))
        _flow_legend(figure, cells)
        _footer(figure, cells)
    return figure


def time_figure(
    runs: Sequence[Run], kind: str, window: Window | None = None, *, overlay: bool = False
) -> Figure:
    """`kind` (a key of `KINDS`) over time: a panel for each cell of `runs`, or with `overlay` all
    of them in one panel.

    Raises `InputError` if `kind` is unknown, there are no runs, or a trace cannot be read.
    """
    if kind not in KINDS:
        raise one_of("kind", kind, KINDS)
    chosen, cells = KINDS[kind], _cells(runs, window)
    titles = _titles(cells)
    with mpl.rc_context(style.RC):
        if overlay:
            figure, axes = _axes(1, 1, (style.PAGE_IN * 0.75, 3.0), "row")
            ax = axes[0, 0]
            for cell, title in zip(cells, titles, strict=True):
                draw_panel(ax, cell, chosen, window, label=title)
            _finish([ax] * len(cells), chosen, cells, window)
            ax.set_ylabel(chosen.label)
            ax.set_ylim(bottom=0)
            lines = [line for line in ax.get_lines() if line.get_gid() != references.GID]
            _legend(figure, lines + references.handles(figure))
        else:
            columns = min(len(cells), _MOST_COLUMNS)
            rows = -(-len(cells) // columns)
            width = style.COLUMN_IN if columns == 1 else style.PAGE_IN
            figure, axes = _axes(rows, columns, (width, 0.85 + _WIDE_ROW_IN * rows), "all")
            flat = list(axes.flat)
            for ax, cell, title in zip(flat, cells, titles, strict=False):
                draw_panel(ax, cell, chosen, window)
                ax.set_title(title)
            _finish(flat[: len(cells)], chosen, cells, window)
            for ax in flat[len(cells) :]:
                ax.remove()
            for i, ax in enumerate(flat[: len(cells)]):
                if i % columns == 0:
                    ax.set_ylabel(chosen.label)
                ax.tick_params(labelbottom=True)
            flat[0].set_ylim(bottom=0)
            _flow_legend(figure, cells)
        _footer(figure, cells)
    return figure


def _cells(runs: Sequence[Run], window: Window | None) -> list[list[Run]]:
    if not runs:
        raise InputError("there are no runs to draw")
    end = max(r.duration_s for r in runs)
    if window is not None and not 0 <= window[0] < window[1]:
        raise InputError(f"the time window {window[0]:g} s to {window[1]:g} s is empty")
    if window is not None and window[0] >= end:
        raise InputError(f"the time window starts at {window[0]:g} s, the runs end at {end:g} s")
    return group_cells(runs)


def _axes(
    rows: int, columns: int, size_in: tuple[float, float], sharey: Literal["row", "all"]
) -> tuple[Figure, Any]:
    # Made without pyplot: no global state, no display, nothing to close.
    layout = ConstrainedLayoutEngine(w_pad=0.03, h_pad=0.03, wspace=0.02, hspace=0.02)
    figure = Figure(figsize=size_in, layout=layout)
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False, sharex="all", sharey=sharey)
    return figure, axes


def _finish(
    panels: Sequence[Axes], kind: Kind, cells: Sequence[Sequence[Run]], window: Window | None
) -> None:
    """Reference lines, ticks and limits of the panels of `cells`, which share their axes."""
    longest = max(r.duration_s for cell in cells for r in cell)
    since, until = window or (0.0, longest)
    if until == longest:
        until += _MARGIN * (until - since)
    top = max(float(ax.dataLim.y1) for ax in panels)
    for ax, cell in zip(panels, cells, strict=True):
        ax.set_xlim(since, until)
        references.add_references(ax, kind.name, cell, top)
        ax.set_xlabel("Time (s)")
        ax.xaxis.set_major_locator(MaxNLocator(5, steps=_STEPS))
        ax.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))


def _titles(cells: Sequence[Sequence[Run]]) -> list[str]:
    """What to call each cell: its controllers, and its name where that is not enough.

    A sweep names its cells `path=value,path=value`; what tells the runs of one cell apart goes.
    """
    labels = [palette.display_name(cell[0].label) for cell in cells]
    return [
        label if labels.count(label) == 1 else f"{label}\n{_RANDOM_PART.sub('', cell[0].name)}"
        for label, cell in zip(labels, cells, strict=True)
    ]


def _flow_legend(figure: Figure, cells: Sequence[Sequence[Run]]) -> None:
    """A legend of line styles, for columns whose colour says the controller already."""
    widest = max((cell[0] for cell in cells), key=lambda run: len(run.flows))
    handles: list[Line2D] = []
    if 1 < len(widest.flows) <= _MOST_ENTRIES:
        handles += [
            Line2D([], [], color=style.INK, linestyle=palette.line_style(i), label=flow.name)
            for i, flow in enumerate(widest.flows)
        ]
    _legend(figure, handles + references.handles(figure))


def _legend(figure: Figure, handles: Sequence[Line2D]) -> None:
    if not handles:
        return
    shown = list(handles)[: 2 * _MOST_ENTRIES]
    columns = max(1, min(len(shown), int(figure.get_figwidth() / 1.4)))
    figure.legend(handles=shown, loc="outside upper center", ncols=columns)


def _footer(figure: Figure, cells: Sequence[Sequence[Run]]) -> None:
    """Where the data comes from: versions, scenario, number of runs."""
    runs = [run for cell in cells for run in cell]

    def each(values: Sequence[str]) -> str:
        return ", ".join(dict.fromkeys(values))

    counts = sorted({len(cell) for cell in cells})
    if counts == [1]:
        seeds = each([f"seed {r.seed} run {r.run}" for r in runs])
        what = seeds if len(set(seeds.split(", "))) <= 2 else "1 run each"
    else:
        spread = str(counts[0]) if len(counts) == 1 else f"{counts[0]}-{counts[-1]}"
        what = f"mean of {spread} runs, bands: 95 % confidence"
    scenarios = list(dict.fromkeys(r.scenario for r in runs))
    shown = ", ".join(scenarios) if len(scenarios) <= 3 else f"{len(scenarios)} scenarios"
    parts = [
        f"scenario {shown}",
        what,
        f"ns-3 {each([str(r.summary['ns3_version']) for r in runs])}",
        f"ferrocc {each([str(r.summary['ferrocc_version']) for r in runs])}",
    ]
    lines = [" · ".join(parts)]
    if figure.get_figwidth() < style.PAGE_IN * 0.7:
        lines = [" · ".join(parts[:2]), " · ".join(parts[2:])]
    text = "\n".join(lines)
    # `supxlabel` takes part in the layout, so nothing is drawn over it.
    figure.supxlabel(text, fontsize=6.5, color=style.FAINT)
