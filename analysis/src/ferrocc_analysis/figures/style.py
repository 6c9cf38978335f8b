"""The look of all figures: light, small type that stays readable at a column's width."""

from __future__ import annotations

from typing import Any, Final

#: Width of a text column and of a page of a two-column paper, in inches.
COLUMN_IN: Final = 3.5
PAGE_IN: Final = 7.16

#: Grey of everything that is no data.
INK: Final = "#333333"
FAINT: Final = "#8a8a8a"
GRID: Final = "#e4e4e4"

#: Opacity of bands.
BAND_ALPHA: Final = 0.18

#: Settings of matplotlib under which figures are made and saved.
RC: Final[Any] = {
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "axes.facecolor": "white",
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.titlesize": 8.5,
    "axes.titleweight": "bold",
    "axes.labelsize": 8,
    "axes.xmargin": 0.01,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "font.size": 8,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.6,
    "patch.linewidth": 0.0,
    # Text stays text in PDF, so that it can be searched and edited.
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "path.simplify": True,
    "path.simplify_threshold": 0.2,
}
