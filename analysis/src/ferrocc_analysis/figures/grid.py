"""Panels put together: kinds as rows, cells as columns, or cells laid over each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from .. import palette, stats
from ..errors import InputError, one_of
from ..runs import Run, group_cells
from . import references, style
from .panels import KINDS, Kind, Window, draw_panel
from .titles import by_aqm, cell_titles, set_titles

#: Columns of a figure with one kind at most; more panels go into further rows.
_MOST_COLUMNS = 3
#: Entries of a legend at most; more flows than that are not told apart by it.
_MOST_ENTRIES = 8
#: Distances between ticks that read easily, times powers of ten.
_STEPS = [1, 2, 5, 10]
#: Widths in a legend: a letter, and what an entry takes besides its letters.
_LETTER_IN = 0.057
_ENTRY_IN = 0.62
#: Letters of the footer per inch.
_FOOTER_LETTERS = 19
#: Bands of means may stretch a y axis to so many times the largest mean.
_TALLEST_BAND = 1.5
#: Free share of the time axis behind the longest run.
_MARGIN = 0.02
_ROW_IN = 1.25
_WIDE_ROW_IN = 1.55
#: Columns of an overview at most; further cells go into further blocks of rows.
_PAGE_COLUMNS = 5
#: Widths beside the panels: labels of the first column's axis, and between columns.
_LABELS_IN = 0.55
_BETWEEN_IN = 0.12


def overview(runs: Sequence[Run], window: Window | None = None) -> Figure:
    """A grid with a row for each quantity (in-flight, goodput, SRTT, queue) and a column for each
    cell of `runs` (those that differ in seed and run number only are one cell).

    Rows share their y axis, so that columns can be compared. The axes are `figure.axes`, row by
    row. Raises `InputError` if there are no runs or a trace cannot be read.
    """
    cells = _cells(runs, window)
    kinds = list(KINDS.values())
    blocks = -(-len(cells) // _PAGE_COLUMNS)
    columns = -(-len(cells) // blocks)
    width = style.COLUMN_IN if len(cells) == 1 else style.PAGE_IN
    names = cell_titles(cells)
    with mpl.rc_context(style.RC):
        size = (width, 0.95 + (_ROW_IN * len(kinds) + 0.2) * blocks)
        figure, axes = new_figure(len(kinds) * blocks, columns, size)
        grid = axes.reshape(blocks, len(kinds), columns)
        for row, kind in enumerate(kinds):
            for block in grid[1:, row]:
                block[0].sharey(grid[0, row, 0])
            panels = list(grid[:, row].flat)[: len(cells)]
            for ax, cell in zip(panels, cells, strict=True):
                draw_panel(ax, cell, kind, window, look=_look(cells, cell))
            _finish(panels, kind, cells, window)
            for ax in panels[::columns]:
                ax.set_ylabel(kind.label)
            panels[0].set_ylim(bottom=0)
            last = row == len(kinds) - 1
            for ax in panels:
                ax.tick_params(labelbottom=last)
                if not last:
                    ax.set_xlabel("")
            for ax in list(grid[:, row].flat)[len(cells) :]:
                ax.remove()
        set_titles(list(grid[:, 0].flat), names, _panel_width(width, columns))
        figure.align_ylabels(list(axes[:, 0]))
        _flow_legend(figure, cells)
        footer(figure, cells)
    return figure


def _panel_width(width_in: float, columns: int) -> float:
    """What a panel's title may take of a figure of `width_in` with so many columns, in inches."""
    return (width_in - _LABELS_IN) / columns - _BETWEEN_IN


def time_figure(
    runs: Sequence[Run],
    kind: str,
    window: Window | None = None,
    *,
    overlay: bool = False,
    titles: Sequence[str] | None = None,
) -> Figure:
    """`kind` (a key of `KINDS`) over time: a panel for each cell of `runs`, or with `overlay` all
    of them in one panel. `titles` name the cells, in the order in which they first appear; else
    their controllers do, and what tells them apart.

    Raises `InputError` if `kind` is unknown, there are no runs, or a trace cannot be read.
    """
    if kind not in KINDS:
        raise one_of("kind", kind, KINDS)
    chosen, cells = KINDS[kind], _cells(runs, window)
    names = cell_titles(cells) if titles is None else titles
    with mpl.rc_context(style.RC):
        if overlay:
            figure, axes = new_figure(1, 1, (style.PAGE_IN * 0.75, 3.0))
            ax = axes[0, 0]
            variants = _variants(cells)
            for cell, title, variant in zip(cells, names, variants, strict=True):
                label = " ".join(title.split("\n"))
                look = _look(cells, cell)
                draw_panel(ax, cell, chosen, window, label=label, variant=variant, look=look)
            _finish([ax] * len(cells), chosen, cells, window)
            ax.set_ylabel(chosen.label)
            ax.set_ylim(bottom=0)
            lines = [line for line in ax.get_lines() if line.get_gid() != references.GID]
            legend(figure, lines)
        else:
            columns = 2 if len(cells) == 4 else min(len(cells), _MOST_COLUMNS)
            rows = -(-len(cells) // columns)
            width = style.COLUMN_IN if columns == 1 else style.PAGE_IN
            size = (width, 0.85 + _WIDE_ROW_IN * rows)
            figure, axes = new_figure(rows, columns, size, sharey="all")
            flat = list(axes.flat)
            for ax, cell in zip(flat, cells, strict=False):
                draw_panel(ax, cell, chosen, window, look=_look(cells, cell))
            set_titles(flat, names, _panel_width(width, columns))
            _finish(flat[: len(cells)], chosen, cells, window)
            for ax in flat[len(cells) :]:
                ax.remove()
            for i, ax in enumerate(flat[: len(cells)]):
                if i % columns == 0:
                    ax.set_ylabel(chosen.label)
                ax.tick_params(labelbottom=True)
            flat[0].set_ylim(bottom=0)
            if chosen.per_flow:
                _flow_legend(figure, cells)
            else:
                legend(figure, [])
        footer(figure, cells)
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


def new_figure(
    rows: int,
    columns: int,
    size_in: tuple[float, float],
    *,
    sharex: Literal["none", "all"] = "all",
    sharey: Literal["row", "all", "none"] = "row",
) -> tuple[Figure, Any]:
    """A figure and the array of its axes, `rows` x `columns`."""
    # Made without pyplot: no global state, no display, nothing to close.
    layout = ConstrainedLayoutEngine(w_pad=0.03, h_pad=0.03, wspace=0.02, hspace=0.02)
    figure = Figure(figsize=size_in, layout=layout)
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False, sharex=sharex, sharey=sharey)
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
    lines = [np.asarray(line.get_ydata(), float) for ax in panels for line in ax.get_lines()]
    mean = max((float(np.nanmax(y)) for y in lines if np.isfinite(y).any()), default=0.0)
    if any(len(cell) > 1 for cell in cells) and top > _TALLEST_BAND * mean > 0:
        # A band of means must not flatten them.
        top = _TALLEST_BAND * mean
        panels[0].set_ylim(top=top)
    for ax, cell in zip(panels, cells, strict=True):
        ax.set_xlim(since, until)
        references.add_references(ax, kind.name, cell, top)
        ax.set_xlabel("Time (s)")
        ax.xaxis.set_major_locator(MaxNLocator(5, steps=_STEPS))
        ax.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))


def _look(cells: Sequence[Sequence[Run]], cell: Sequence[Run]) -> palette.Style | None:
    """What the lines of `cell` look like among `cells`, if not like their controllers."""
    return palette.aqm(cell[0].aqm or "") if by_aqm(cells) else None


def _variants(cells: Sequence[Sequence[Run]]) -> list[int]:
    """The least number for each cell that no earlier one that looks like it (a controller in
    common, or the queue management where these are compared) has.
    """
    compared = by_aqm(cells)
    taken: dict[str, set[int]] = {}
    numbers = []
    for cell in cells:
        looks = [cell[0].aqm or ""] if compared else list(cell[0].controllers)
        if len(looks) > 1:
            looks.append("")  # What its flows share looks alike for all such cells.
        used = set().union(*(taken.setdefault(look, set()) for look in looks))
        numbers.append(next(n for n in range(len(cells)) if n not in used))
        for look in looks:
            taken[look].add(numbers[-1])
    return numbers


def _flow_legend(figure: Figure, cells: Sequence[Sequence[Run]]) -> None:
    """A legend of flows and reference lines.

    Over one cell its entries look as the lines do. Over several, line styles tell flows, and
    colours the controllers, which the columns' titles say unless a cell has several.
    """
    widest = max((cell[0] for cell in cells), key=lambda run: len(run.flows))
    few = len(widest.flows) <= _MOST_ENTRIES
    mixed = any(len(cell[0].controllers) > 1 for cell in cells)
    handles: list[Line2D] = []
    if len(cells) == 1 and few:
        for i, flow in enumerate(widest.flows):
            name = f"{flow.name} ({palette.controller(flow.controller).name})"
            handles.append(_entry(flow.controller, name, i))
    else:
        if mixed or len(cells) == 1:
            controllers = dict.fromkeys(c for cell in cells for c in cell[0].controllers)
            handles += [_entry(c, palette.controller(c).name) for c in controllers]
        if len(widest.flows) > 1 and few:
            handles += [
                Line2D([], [], color=style.INK, linestyle=palette.line_style(i), label=flow.name)
                for i, flow in enumerate(widest.flows)
            ]
    legend(figure, handles)


def _entry(controller: str, label: str, index: int = 0) -> Line2D:
    look = palette.controller(controller)
    return Line2D(
        [],
        [],
        color=look.color,
        marker=look.marker,
        markerfacecolor=look.color if index % 2 == 0 else "white",
        markeredgewidth=0.7,
        linestyle=palette.line_style(index),
        label=label,
    )


def legend(figure: Figure, handles: Sequence[Line2D | Patch]) -> None:
    """A legend of `handles` and of the reference lines that `figure` has."""
    shown = list(handles)[: 2 * _MOST_ENTRIES] + references.handles(figure)
    if not shown:
        return
    columns = _legend_columns([str(h.get_label()) for h in shown], figure.get_figwidth())
    figure.legend(handles=shown, loc="outside upper center", ncols=columns)


def _legend_columns(labels: Sequence[str], width_in: float) -> int:
    """The most columns of a legend with these entries that fit `width_in`."""
    for columns in range(len(labels), 1, -1):
        # As matplotlib does: the first columns hold one more where they cannot be equal.
        parts = np.array_split([_ENTRY_IN + _LETTER_IN * len(label) for label in labels], columns)
        if sum(float(part.max()) for part in parts) <= width_in:
            return columns
    return 1


def footer(figure: Figure, cells: Sequence[Sequence[Run]], *, spread: str = "bands") -> None:
    """Where the data comes from: versions, scenario, number of runs. `spread` is what shows the
    confidence of means.
    """
    runs = [run for cell in cells for run in cell]

    def each(values: Sequence[str]) -> str:
        return ", ".join(dict.fromkeys(values))

    counts = sorted({len(cell) for cell in cells})
    if counts == [1]:
        seeds = each([f"seed {r.seed} run {r.run}" for r in runs])
        what = seeds if len(set(seeds.split(", "))) <= 2 else "1 run each"
    else:
        number = str(counts[0]) if len(counts) == 1 else f"{counts[0]}-{counts[-1]}"
        what = f"mean of {number} runs, {spread}: 95 % confidence"
        if counts[-1] < stats.LEAST_RUNS:
            what = f"means, {spread}: smallest to largest of {number} runs"
        elif counts[0] < stats.LEAST_RUNS:
            what += f" (smallest to largest of fewer than {stats.LEAST_RUNS})"
    scenarios = list(dict.fromkeys(r.scenario for r in runs))
    if len(scenarios) > 3:
        shown = f"{len(scenarios)} scenarios"
    else:
        shown = f"scenario{'s' if len(scenarios) > 1 else ''} {', '.join(scenarios)}"
    parts = [
        shown,
        what,
        f"ns-3 {each([str(r.summary['ns3_version']) for r in runs])}",
        f"ferrocc {each([str(r.summary['ferrocc_version']) for r in runs])}",
    ]
    if counts == [1] and any(ax.collections for ax in figure.axes):
        parts.append("band: smallest and largest value in each interval")
    lines = parts[:1]
    for part in parts[1:]:
        longer = f"{lines[-1]} · {part}"
        if len(longer) <= _FOOTER_LETTERS * figure.get_figwidth():
            lines[-1] = longer
        else:
            lines.append(part)
    text = "\n".join(lines)
    # `supxlabel` takes part in the layout, so nothing is drawn over it.
    figure.supxlabel(text, fontsize=6.5, color=style.FAINT)
